//! The API as OpenAPI, from the code.

use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::{Modify, OpenApi};

use crate::handlers::{admin, memory, progress, query, records, spaces, tools};

#[derive(OpenApi)]
#[openapi(
    info(title = "Mnemic", description = "Long-term memory for agents: send what happened, get the smallest sufficient evidence."),
    paths(
        spaces::list, spaces::put, spaces::get, spaces::delete,
        records::post, records::list, records::get, progress::get,
        query::post,
        memory::units, memory::unit, memory::facts, memory::fact, memory::entities, memory::entity,
        tools::list, tools::call,
        admin::list, admin::get, admin::replay, admin::discard,
    ),
    modifiers(&Keys),
    security(("key" = [])),
)]
struct Api;

struct Keys;

impl Modify for Keys {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        let scheme = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        openapi
            .components
            .get_or_insert_default()
            .add_security_scheme("key", scheme);
    }
}

/// Returns the description of the API.
pub fn document() -> utoipa::openapi::OpenApi {
    Api::openapi()
}
