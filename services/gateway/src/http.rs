//! The HTTP side: connections, layers around each request, the table of routes with its handlers, extractors, and the
//! OpenAPI document.

pub(crate) mod connections;
pub(crate) mod docs;
pub(crate) mod edge;
pub(crate) mod error_catalogue;
#[cfg(feature = "explorer")]
pub(crate) mod explorer;
pub(crate) mod extract;
pub(crate) mod handlers;
pub(crate) mod openapi;
pub(crate) mod repeated_fields;
mod repeated_parameters;
pub(crate) mod routes;
