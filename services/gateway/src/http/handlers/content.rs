//! Routes for what a memory holds and how callers change it.

pub(crate) mod curations;
pub(crate) mod erasures;
pub(crate) mod readings;
pub(crate) mod records;
pub(crate) mod sessions;
pub(crate) mod spaces;
