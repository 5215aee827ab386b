//! Cutting text: words, stems, sentences, clauses, lines, parts, and long texts along their structure. Words that spell
//! one number are read together.

pub(crate) mod clauses;
pub(crate) mod lines;
pub(crate) mod parts;
pub(crate) mod prose;
pub(crate) mod sentences;
pub(crate) mod spelled_numbers;
pub(crate) mod stems;
pub(crate) mod text_splitter;
pub(crate) mod words;
