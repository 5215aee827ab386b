//! Cutting text: words, stems, sentences, clauses, lines, parts, and long texts along their structure.

pub(crate) mod clauses;
pub(crate) mod lines;
pub(crate) mod parts;
pub(crate) mod prose;
pub(crate) mod sentences;
pub(crate) mod stems;
pub(crate) mod text_splitter;
pub(crate) mod words;
