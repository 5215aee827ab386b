//! Names that belong to one person, and people that share a name.

pub(super) mod candidates;
pub(super) mod merge_rules;
pub(super) mod namesakes;
pub(super) mod synonyms;
pub(super) mod undecided_names;
