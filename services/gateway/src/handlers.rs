//! The handlers, one file for each resource. A handler parses the request, makes one call, and returns its result.

pub(crate) mod access;
pub(crate) mod admin;
pub(crate) mod curations;
pub(crate) mod docs;
pub(crate) mod erasures;
pub(crate) mod events;
#[cfg(feature = "explorer")]
pub(crate) mod explorer;
pub(crate) mod keys;
pub(crate) mod mcp;
pub(crate) mod memory;
pub(crate) mod pages;
pub(crate) mod progress;
pub(crate) mod proxy;
pub(crate) mod query;
pub(crate) mod readings;
pub(crate) mod rebuild;
pub(crate) mod recall;
pub(crate) mod records;
pub(crate) mod sessions;
pub(crate) mod spaces;
pub(crate) mod tools;
