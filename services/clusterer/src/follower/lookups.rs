//! Lookups of stored readings.

pub(crate) mod coreference_readings;
pub(crate) mod label_readings;
pub(crate) mod stored_readings;
