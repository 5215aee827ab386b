//! Ingestion, from accepted records to stored units: batches, long texts, and the organisation of sessions.

pub(crate) mod batch_intake;
pub(crate) mod long_texts;
pub(crate) mod organise;
