//! Data that all requests share: the settings, the state of the process, the identity, rights and time limit of a
//! request, and the sealed values that callers return to the gateway.

pub(crate) mod auth;
pub(crate) mod config;
pub(crate) mod cursor;
pub(crate) mod hex;
pub(crate) mod idempotency;
pub(crate) mod keys;
pub(crate) mod opened_spaces;
pub(crate) mod request_time_limit;
pub(crate) mod seal;
pub(crate) mod state;
pub(crate) mod watermark;
