//! What requests and responses have in common.

pub(super) mod errors;
pub(super) mod request;
pub(super) mod scope;
