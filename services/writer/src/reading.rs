//! Reads a passage of a session with a language model: which records form a passage, what the model is shown, and what is
//! derived from its reply.
//!
//! Start at [`passage::passages`] (where a session is cut), [`prompt::prompt`] (what the model is asked) and
//! [`derive::derive`] (what of its reply holds, as units and relations). All of it is pure: the same records and the same reply
//! give the same units. A model may invent, so everything it says is checked against the lines that it names, and what fails is
//! left out with the reason.

pub(crate) mod again;
pub(crate) mod derive;
pub(crate) mod output;
pub(crate) mod passage;
pub(crate) mod prompt;

mod changes;
#[cfg(test)]
pub(crate) mod example;
mod facts;
mod gists;
mod ground;
mod lines;
mod numbers;
mod relations;
pub(crate) mod reply;
mod salvage;
mod times;
