//! Lookups in the stores.

pub(crate) mod coreference_readings;
pub(crate) mod label_readings;
pub(crate) mod stored_decisions;
pub(crate) mod stored_readings;
