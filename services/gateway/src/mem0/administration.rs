//! The project, its webhooks, and the state of the service.

pub(super) mod project;
pub(super) mod service;
pub(super) mod webhooks;
