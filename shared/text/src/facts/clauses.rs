//! A clause and its parts: subject, verb and the words of both.

pub(super) mod clause;
mod contractions;
pub(super) mod subject;
pub(super) mod token;
pub(super) mod verb;
pub(super) mod verb_group;
