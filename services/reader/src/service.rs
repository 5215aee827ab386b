//! Requests to the reader: from evidence to verdict and answer by rule, and then by a language model if one is
//! configured.

pub(crate) mod evidence_reader;
pub(crate) mod request_handler;
