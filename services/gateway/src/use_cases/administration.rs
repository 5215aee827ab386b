//! Administration of keys and spaces: keys in the store, dead letters, erasures of spaces, and rebuilds.

pub(crate) mod dead_letters;
pub(crate) mod erasures;
pub(crate) mod keys;
pub(crate) mod rebuild;
