//! Words for times and numbers, in all languages.

pub(super) mod foreign_words;
pub(super) mod holidays;
pub(super) mod lexicon;
pub(super) mod vague_times;
pub(super) mod word_table;
