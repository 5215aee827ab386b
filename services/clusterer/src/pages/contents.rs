//! Writes pages: their lines, sections, links and summaries.

pub(super) mod build;
pub(super) mod digest;
pub(super) mod links;
pub(super) mod model_summaries;
pub(super) mod sections;
pub(super) mod summary;
pub(super) mod topic_sections;
