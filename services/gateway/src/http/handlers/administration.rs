//! Routes for keys and for the state of the server and its spaces.

pub(crate) mod access;
pub(crate) mod dead_letters;
pub(crate) mod events;
pub(crate) mod keys;
pub(crate) mod progress;
pub(crate) mod rebuild;
