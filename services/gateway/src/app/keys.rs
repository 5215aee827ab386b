//! API keys: the caller that a key identifies, its rights, and the spaces that it opens.

pub(crate) mod access;
pub(crate) mod keyring;
pub(crate) mod stored_tokens;
