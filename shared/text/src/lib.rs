//! Knowledge about text that the services share: tokens, words, stems, sentences, parts, word pieces, patterns, names,
//! times, everyday topics, and whom a sentence is about. All functions are pure: no clock, no files, no network.
//!
//! Words follow Unicode, so text of any language can be stored and found. Stop words, patterns, topics and the built-in
//! table are English; the stemmer depends on the script. `gloss` lets the English rules read seven other languages, and
//! `question` reads a question.

pub mod facts;
pub mod fence;
pub mod frames;
pub mod gloss;
pub mod kin;
pub mod lexicon;
pub mod lists;
pub mod model_reply;
pub mod ownership;
pub mod patterns;
pub mod question;
pub mod role;
pub mod sparse;
pub mod time;
pub mod wishes;

mod caption;
mod clauses;
mod data;
mod lines;
mod names;
mod nouns;
mod parts;
mod prose;
mod sentences;
mod speaker;
mod split;
mod stems;
mod table;
mod vectors;
mod verbs;
mod vocatives;
mod words;

pub use caption::caption;
pub use clauses::ends_clause;
pub use lexicon::is_auxiliary;
pub use lines::{is_line_break, one_line};
pub use names::names;
pub use nouns::{Kind, Nouns};
pub use parts::{parts, tokens};
pub use prose::prose;
pub use sentences::{asked_last, ends_asking, is_question, sentences};
pub use speaker::{is_hidden, quoted_speaker, shown_name};
pub use split::split;
pub use stems::{is_stop, stem, stems};
pub use table::{Compared, Table};
pub use time::number_word;
pub use vectors::dot;
pub use verbs::is_past;
pub use vocatives::vocatives;
pub use words::words;
