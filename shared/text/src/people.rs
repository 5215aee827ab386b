//! Names in a text, whom it addresses, whose it is, and the roles of its speakers.

pub(crate) mod names;
pub mod ownership;
pub mod role;
pub(crate) mod speaker;
pub(crate) mod vocatives;
