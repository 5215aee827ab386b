//! Sessions are read by a language model: which passages are due, the calls, and the storage of what follows from a
//! reading.

pub(crate) mod passages;
pub(crate) mod picture_call;
pub(crate) mod picture_reader;
pub(crate) mod picture_worker;
pub(crate) mod reading_call;
pub(crate) mod reading_config;
pub(crate) mod reading_model;
pub(crate) mod reading_store;
pub(crate) mod reading_worker;
