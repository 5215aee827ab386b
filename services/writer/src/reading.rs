//! Reads a passage of a session with a language model: which records form a passage, what the model is shown, and
//! what is derived from its reply.
//!
//! Start at [`passage::divide_session`] (where a session is divided), [`prompt::build_prompt`] (what the model is asked) and
//! [`derive::derive_from_reading`] (which units and relations follow from its reply). Everything here is pure: the same records
//! and the same reply give the same units. A model may invent things, so each statement is checked against the lines
//! that it cites. Rejected statements are reported with the reason.

pub(crate) mod derive;
pub(crate) mod passage;

mod checks;
#[cfg(test)]
pub(crate) mod example;
pub(super) mod lines;
pub(crate) mod prompts;
pub(crate) mod replies;
pub(crate) mod session_marks;
