//! Evidence for a question: the lines of the turns, their order, and the measures of how well they cover the question.

pub(crate) mod amendments;
pub(crate) mod amount;
pub(crate) mod evidence_lines;
mod implied_meanings;
pub(crate) mod line;
pub(crate) mod question;
pub(crate) mod rank;
pub(crate) mod text_readings;
pub(crate) mod verb_context;
pub(crate) mod word_classes;
pub(crate) mod word_similarity;
