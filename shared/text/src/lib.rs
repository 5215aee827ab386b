//! Knowledge about text that the services share: tokens, words, stems, sentences, parts, word pieces, patterns, names,
//! times, everyday topics, and whom a sentence is about. All functions are pure: no clock, no files, no network.
//!
//! Words follow Unicode, so text of any language can be stored and found. Stop words, patterns, topics and the built-in
//! table are English; the stemmer depends on the script. `gloss` lets the English rules read seven other languages, and
//! `question` reads a question.

pub mod facts;
pub mod gloss;
pub mod lexicon;
pub mod meaning;
pub mod model_text;
pub mod people;
pub mod question;
pub mod time;
mod time_words;
mod tokens;

pub use lexicon::is_auxiliary;
pub use lexicon::verbs::is_past;
pub use meaning::caption::shorten_caption;
pub use meaning::embedding_table::{Compared, EmbeddingTable};
pub use meaning::nouns::{Kind, Nouns};
pub use meaning::vectors::dot_product;
pub use people::names::find_names;
pub use people::speaker::{is_hidden, quoted_speaker, shown_name};
pub use people::vocatives::find_vocatives;
pub use time_words::lexicon::{implied_number, number_word};
pub use tokens::clauses::ends_clause;
pub use tokens::lines::{is_line_break, one_line};
pub use tokens::parts::{count_tokens, split_into_parts};
pub use tokens::prose::mask_non_prose;
pub use tokens::sentences::{asked_last, ends_asking, is_question, split_sentences};
pub use tokens::spelled_numbers::{SpelledNumber, find_spelled_numbers, possible_spelled_values};
pub use tokens::stems::{is_stop, stem_word, stem_words};
pub use tokens::text_splitter::split_text;
pub use tokens::words::split_words;
