//! Commands that ask a server over HTTP.

pub(crate) mod ask;
pub(crate) mod dead_letters;
pub(crate) mod derived_objects;
pub(crate) mod erasures;
pub(crate) mod export;
pub(crate) mod facts_and_hints;
pub(crate) mod keys;
pub(crate) mod readings;
pub(crate) mod rebuild;
pub(crate) mod records;
pub(crate) mod spaces;
pub(crate) mod units;
