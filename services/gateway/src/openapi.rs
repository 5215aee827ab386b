//! The API as OpenAPI, from the code.

use serde_json::{Value, json};
use utoipa::openapi::path::{Operation, Paths};
use utoipa::openapi::schema::{AdditionalProperties, Schema};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{ContentBuilder, Ref, RefOr, ResponseBuilder};
use utoipa::{Modify, OpenApi};

use crate::config::Config;
use crate::handlers::{
    access, admin, curations, erasures, events, keys, mcp, memory, pages, progress, proxy, query, readings, rebuild,
    recall, records, sessions, spaces, tools,
};
use crate::validate::FIELD_BYTES_MAX;

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
        admin::list, admin::get, admin::replay, admin::discard,
    ),
    modifiers(&Keys, &Names, &Acts, &Problems),
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

struct Names;

/// What stands under the tag of another resource, and has operations of the same names.
const GUESTS: [&str; 2] = ["progress", "rebuild"];

/// Generated clients need names that are unique: `spaces_get`, `records_get`, `progress_get`.
impl Modify for Names {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        for (route, operation) in operations(&mut openapi.paths) {
            let guest = GUESTS.iter().find(|it| route.rsplit('/').next() == Some(**it));
            let tag = operation.tags.iter().flatten().next().cloned().unwrap_or_default();
            let resource = guest.copied().unwrap_or(&tag);
            operation.operation_id = operation.operation_id.take().map(|it| format!("{resource}_{it}"));
        }
    }
}

struct Acts;

/// Acts refuse unknown fields as everything does; of variants of an enum the derived schema does not say so.
impl Modify for Acts {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        let schemas = &mut openapi.components.get_or_insert_default().schemas;
        let Some(RefOr::T(Schema::OneOf(acts))) = schemas.get_mut("NewAct") else {
            return;
        };
        for act in &mut acts.items {
            if let RefOr::T(Schema::Object(act)) = act {
                act.additional_properties = Some(Box::new(AdditionalProperties::FreeForm(false)));
            }
        }
    }
}

struct Problems;

/// Every operation may answer with a problem, which is described once.
impl Modify for Problems {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        const NAME: &str = "Problem";
        for (_, operation) in operations(&mut openapi.paths) {
            let responses = &mut operation.responses.responses;
            responses
                .entry("default".to_owned())
                .or_insert_with(|| RefOr::Ref(Ref::from_response_name(NAME)));
        }
        let body = ContentBuilder::new().schema(Some(Ref::from_schema_name(NAME))).build();
        let response = ResponseBuilder::new()
            .description("A problem")
            .content("application/problem+json", body)
            .build();
        let responses = &mut openapi.components.get_or_insert_default().responses;
        responses.insert(NAME.to_owned(), RefOr::T(response));
    }
}

/// Returns all operations with their routes.
fn operations(paths: &mut Paths) -> impl Iterator<Item = (&str, &mut Operation)> {
    paths.paths.iter_mut().flat_map(|(route, path)| {
        let all = [&mut path.get, &mut path.put, &mut path.post, &mut path.delete];
        all.into_iter().flatten().map(move |it| (route.as_str(), it))
    })
}

/// Returns the description of the API.
pub fn document() -> utoipa::openapi::OpenApi {
    Api::openapi()
}

/// Returns the description of the API as a server with these settings offers it: with its bounds, and without keys if it
/// asks for none.
pub(crate) fn served(config: &Config) -> Value {
    let mut document = serde_json::to_value(document()).unwrap_or_default();
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
    if config.keys.is_empty()
        && let Some(document) = document.as_object_mut()
    {
        document.remove("security");
    }
    document
}
