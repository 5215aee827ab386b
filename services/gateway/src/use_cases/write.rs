//! Writes: records, their checks and versions, and acts of curation. All are published in batches for the writer.

pub(crate) mod accept;
pub(crate) mod curate;
pub(crate) mod session_erasure;
pub(crate) mod versions;
