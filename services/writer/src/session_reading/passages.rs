//! Passages of sessions: which are due, and what the model is shown with them.

pub(super) mod earlier_gists;
pub(crate) mod open_passage;
pub(super) mod passage_words;
pub(crate) mod second_look;
pub(super) mod session_briefs;
pub(super) mod session_look;
