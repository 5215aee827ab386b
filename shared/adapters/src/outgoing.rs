//! Requests to hosts that callers or the operator name: pictures and webhooks, over connections to checked addresses.

mod addresses;
pub mod pictures;
mod pinned_client;
pub mod webhook;
