//! Reads a passage of a session with a language model: which records form a passage, what the model is shown, and
//! what is derived from its reply.
//!
//! Start at [`passage::passages`] (where a session is divided), [`prompt::prompt`] (what the model is asked) and
//! [`derive::derive`] (which units and relations follow from its reply). Everything here is pure: the same records
//! and the same reply give the same units. A model may invent things, so each statement is checked against the lines
//! that it cites. Rejected statements are reported with the reason.

pub(crate) mod again;
pub(crate) mod derive;
pub(crate) mod output;
pub(crate) mod passage;
pub(crate) mod prompt;

mod changes;
#[cfg(test)]
pub(crate) mod example;
mod facts;
mod gist_times;
mod gists;
mod ground;
mod lines;
mod numbers;
mod relations;
pub(crate) mod reply;
mod salvage;
mod times;
