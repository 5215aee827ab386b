//! Stores the data that belongs to the installation instead of one space, as nodes.

pub(super) mod api_keys;
pub(super) mod idempotency;
pub(super) mod receipts;
pub(super) mod secrets;
pub(super) mod webhooks;
