//! `mnemic-eval` measures Mnemic from outside: it sends the conversations of a data set over HTTP, asks the questions,
//! and scores what comes back.
//!
//! Reading order: [`data`] and [`run_file`] are the two forms on disk, [`drive`] turns the first into the second by
//! asking a server, [`score`] compares them, [`report`] prints. The gold answers stay in [`score`], [`check`]
//! and [`judge`]: [`drive`] sees conversations and the wording of questions only. [`recall`] measures what messages wake.
//! [`convert`] makes data sets of public files, [`judge`] lets a language model judge answers, and [`ablate`] measures what
//! parts of the memory are worth.

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
