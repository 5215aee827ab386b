//! Checks of what a language model read: only statements that the records support are kept.

pub(super) mod changes;
pub(super) mod fact_ends;
pub(super) mod facts;
pub(super) mod gist_times;
pub(super) mod gists;
pub(super) mod numbers;
pub(super) mod passage_content;
pub(super) mod relations;
pub(super) mod times;
