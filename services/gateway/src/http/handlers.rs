//! The handlers, one file for each resource. A handler parses the request, makes one call, and returns its result.

pub(crate) mod administration;
pub(crate) mod content;
pub(crate) mod lists;
pub(crate) mod questions;
