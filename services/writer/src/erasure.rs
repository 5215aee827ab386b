//! Cascading erasure of records with everything that derives from them, and its receipts. There is no retention period:
//! a record is kept until it is erased.

pub(crate) mod dead_letters;
pub(crate) mod erase;
pub(crate) mod erasing_acts;
pub(crate) mod orphaned_curations;
pub(crate) mod receipt;
pub(crate) mod redact;
