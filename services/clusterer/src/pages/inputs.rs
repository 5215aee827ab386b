//! What pages are built from.

pub(super) mod buckets;
pub(super) mod facts;
pub(super) mod gist_index;
pub(super) mod gists;
pub(super) mod hidden_units;
pub(super) mod lines;
pub(super) mod names;
pub(super) mod page_inputs;
pub(super) mod topic_facts;
pub(super) mod unit_contents;
pub(super) mod unit_index;
pub(super) mod unit_table;
