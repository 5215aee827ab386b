//! What the gateway does for a caller, apart from HTTP: it accepts records and curations, answers questions, recalls,
//! lists, sends events and administers a space.

pub(crate) mod administration;
pub(crate) mod events;
pub(crate) mod lists;
pub(crate) mod query;
pub(crate) mod readings;
pub(crate) mod recall;
pub(crate) mod tools;
pub(crate) mod validate;
pub(crate) mod write;
