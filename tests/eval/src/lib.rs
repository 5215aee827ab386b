//! `mnemic-eval` measures Mnemic from outside: it sends the conversations of a data set over HTTP, asks the questions,
//! and scores the responses.
//!
//! Read the modules in this order:
//!
//! - [`data`] and [`run_file`] are the two file formats.
//! - [`drive`] makes a run file from a data set by asking a server.
//! - [`score`] compares the two, and [`report`] prints the result.
//! - [`recall`] measures the hints for messages.
//! - [`check`] checks the format of a data set, and [`convert`] makes data sets from public files.
//! - [`judge`] lets a language model judge answers.
//! - [`ablate`] measures the contribution of parts of the memory.
//!
//! Gold answers are used only in [`score`], [`check`] and [`judge`]. [`drive`] sees only the conversations and the
//! wording of the questions.

pub mod ablate;
pub mod check;
pub mod cli;
pub mod convert;
pub mod data;
pub mod drive;
pub mod judge;
pub mod recall;
pub mod report;
pub mod run_file;
pub mod score;
