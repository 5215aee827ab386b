//! The OpenAPI document of the API, generated from the code.

mod modifiers;

use serde_json::{Value, json};
use utoipa::OpenApi;

use crate::app::config::Config;
use crate::http::handlers::administration::{access, dead_letters, events, keys, progress, rebuild};
use crate::http::handlers::content::{curations, erasures, readings, records, sessions, spaces};
use crate::http::handlers::lists::{memory, pages};
use crate::http::handlers::questions::{mcp, proxy, query, recall, tools};
use crate::use_cases::validate::FIELD_BYTES_MAX;
use modifiers::{Alternatives, Defaults, Examples, Keys, Names, Problems, Variants};

#[derive(OpenApi)]
#[openapi(
    info(title = "Mnemic", description = "Long-term memory for agents: send what happened, get the smallest sufficient evidence."),
    paths(
        spaces::list, spaces::put, spaces::get, spaces::delete,
        records::post, records::list, records::get, records::put, records::versions, records::delete, sessions::delete, progress::get,
        query::post, recall::post, recall::dismiss,
        rebuild::post, rebuild::get,
        memory::units, memory::unit, memory::facts, memory::fact, memory::entities, memory::entity,
        memory::merges, memory::merge, pages::topics, pages::topic, pages::pages, pages::page,
        curations::post, curations::list, curations::get,
        erasures::list, erasures::get, erasures::check,
        events::get,
        readings::list, readings::get, readings::post, readings::put,
        tools::all, tools::list, tools::call, mcp::post,
        proxy::chat_completions, proxy::models,
        access::get,
        keys::create, keys::list, keys::rotate, keys::revoke,
        dead_letters::list, dead_letters::get, dead_letters::replay, dead_letters::discard,
    ),
    modifiers(&Keys, &Names, &Variants, &Alternatives, &Defaults, &Problems, &Examples),
    servers((url = "/", description = "The server that this document comes from.")),
    security(("key" = [])),
)]
struct Api;

/// Returns the OpenAPI document.
pub fn openapi_document() -> utoipa::openapi::OpenApi {
    Api::openapi()
}

/// Returns the OpenAPI document for a server with these settings: with its limits, and without keys if it requires
/// none.
pub(crate) fn document_for_server(config: &Config) -> Value {
    let mut document = serde_json::to_value(openapi_document()).unwrap_or_default();
    let bounds = [
        ("NewRecords/properties/records/maxItems", json!(config.batch_max)),
        ("NewMessages/properties/messages/maxItems", json!(config.batch_max)),
        ("NewRecord/properties/text/maxLength", json!(config.text_bytes_max)),
        (
            "NewRecord/properties/image_caption/maxLength",
            json!(config.text_bytes_max.min(FIELD_BYTES_MAX)),
        ),
        (
            "QueryRequest/properties/question/maxLength",
            json!(config.question_bytes_max),
        ),
        (
            "RecallRequest/properties/message/maxLength",
            json!(config.question_bytes_max),
        ),
        ("Budget/properties/tokens/maximum", json!(config.pack_tokens_max)),
        ("Budget/properties/ms/maximum", json!(config.model_request_ms_max)),
        ("RecallBudget/properties/ms/maximum", json!(config.model_request_ms_max)),
    ];
    for (place, bound) in bounds {
        let Some((field, name)) = place.rsplit_once('/') else {
            continue;
        };
        let field = document.pointer_mut(&format!("/components/schemas/{field}"));
        if let Some(Value::Object(field)) = field {
            field.insert(name.to_owned(), bound);
        }
    }
    let wait = "/paths/~1v1~1spaces~1{space}~1progress/get/parameters";
    let parameters = document.pointer_mut(wait).and_then(Value::as_array_mut);
    for parameter in parameters.into_iter().flatten() {
        if parameter["name"] == "wait_ms" {
            parameter["schema"]["maximum"] = json!(config.request_ms_max);
        }
    }
    if config.keys.is_empty() {
        document["security"] = json!([]);
        if let Some(components) = document["components"].as_object_mut() {
            components.remove("securitySchemes");
        }
    }
    document
}
