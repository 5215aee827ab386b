//! Names in texts, and how often each occurs.

pub(super) mod common_words;
pub(super) mod forms;
pub(super) mod mentioned_names;
pub(super) mod name_spelling;
pub(super) mod nickname_counts;
