//! The content of a space as nodes and relationships.

pub(super) mod curations;
pub(super) mod derived_objects;
pub(super) mod graph;
pub(super) mod listing;
pub(super) mod notes;
pub(super) mod readings;
pub(super) mod records;
pub(super) mod relations;
