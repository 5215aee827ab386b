//! The replies of a language model, before they are checked.

pub(crate) mod left_out;
pub(crate) mod output;
pub(crate) mod reply;
pub(super) mod salvage;
