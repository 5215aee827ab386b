//! Additions to the OpenAPI document that the derived schemas lack.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use utoipa::Modify;
use utoipa::openapi::path::{Operation, Paths};
use utoipa::openapi::schema::{AdditionalProperties, AnyOfBuilder, Discriminator, Schema};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{Components, Content, ContentBuilder, OpenApi, Ref, RefOr, ResponseBuilder};

use crate::api::problem::ProblemCode;

/// Adds the description of API keys.
pub(super) struct Keys;

impl Modify for Keys {
    fn modify(&self, openapi: &mut OpenApi) {
        let scheme = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        openapi
            .components
            .get_or_insert_default()
            .add_security_scheme("key", scheme);
    }
}

/// Gives operations unique names for generated clients: `spaces_get`, `records_get`, `progress_get`.
pub(super) struct Names;

/// Resources that have the tag of another resource, and operations with the same names.
const GUESTS: [&str; 2] = ["progress", "rebuild"];

impl Modify for Names {
    fn modify(&self, openapi: &mut OpenApi) {
        for (route, operation) in operations_mut(&mut openapi.paths) {
            let guest = GUESTS.iter().find(|it| route.rsplit('/').next() == Some(**it));
            let tag = operation.tags.iter().flatten().next().cloned().unwrap_or_default();
            let resource = guest.copied().unwrap_or(&tag);
            operation.operation_id = operation.operation_id.take().map(|it| format!("{resource}_{it}"));
        }
    }
}

/// Makes every variant of an act a separate schema, so that generated clients call it `NewActRetireFact` instead of
/// `NewAct2`, and declares the field that distinguishes the variants.
pub(super) struct Variants;

/// The enums whose variants are distinguished by [`KIND`].
const ACTS: [&str; 2] = ["Act", "NewAct"];
const KIND: &str = "kind";

impl Modify for Variants {
    fn modify(&self, openapi: &mut OpenApi) {
        let components = openapi.components.get_or_insert_default();
        for parent in ACTS {
            name_variants(components, parent);
        }
    }
}

fn name_variants(components: &mut Components, parent: &str) {
    let Some(RefOr::T(Schema::OneOf(acts))) = components.schemas.get_mut(parent) else {
        return;
    };
    let mut mapping = BTreeMap::new();
    let mut variants = Vec::new();
    for act in &mut acts.items {
        let Some(kind) = kind_of(act) else { continue };
        let name = format!("{parent}{}", pascal_case(&kind));
        let reference = Ref::from_schema_name(&name);
        mapping.insert(kind, reference.ref_location.clone());
        let mut variant = std::mem::replace(act, RefOr::Ref(reference));
        // New acts refuse unknown fields like other requests; the derived schema does not say so for variants of an
        // enum.
        if let (RefOr::T(Schema::Object(object)), true) = (&mut variant, parent.starts_with("New")) {
            object.additional_properties = Some(Box::new(AdditionalProperties::FreeForm(false)));
        }
        variants.push((name, variant));
    }
    acts.discriminator = Some(Discriminator::with_mapping(KIND, mapping));
    components.schemas.extend(variants);
}

/// Returns the single value of the field that distinguishes variants.
fn kind_of(variant: &RefOr<Schema>) -> Option<String> {
    let RefOr::T(Schema::Object(variant)) = variant else {
        return None;
    };
    let RefOr::T(Schema::Object(kind)) = variant.properties.get(KIND)? else {
        return None;
    };
    let kind = kind.enum_values.as_ref()?.first()?.as_str()?;
    Some(kind.to_owned())
}

/// Returns `RetireFact` for `retire_fact`.
fn pascal_case(snake: &str) -> String {
    let capitalised = |word: &str| {
        let (first, rest) = word.split_at_checked(1).unwrap_or_default();
        format!("{}{rest}", first.to_uppercase())
    };
    snake.split('_').map(capitalised).collect()
}

/// Describes the two forms of a page of readings as `anyOf`: an empty page with a summary matches both, which `oneOf`
/// would forbid.
pub(super) struct Alternatives;

impl Modify for Alternatives {
    fn modify(&self, openapi: &mut OpenApi) {
        let schemas = &mut openapi.components.get_or_insert_default().schemas;
        if let Some(RefOr::T(list)) = schemas.get_mut("ReadingList")
            && let Schema::OneOf(forms) = list
        {
            let any = AnyOfBuilder::new().description(forms.description.take());
            let any = std::mem::take(&mut forms.items)
                .into_iter()
                .fold(any, AnyOfBuilder::item);
            *list = Schema::AnyOf(any.build());
        }
    }
}

/// Adds the default of a field whose schema is a separate enum, which the derived schema lacks.
pub(super) struct Defaults;

impl Modify for Defaults {
    fn modify(&self, openapi: &mut OpenApi) {
        let schemas = &mut openapi.components.get_or_insert_default().schemas;
        let Some(RefOr::T(Schema::Object(mut kind))) = schemas.get("ReadingKind").cloned() else {
            return;
        };
        kind.default = Some(Value::from("passage"));
        if let Some(RefOr::T(Schema::Object(reading))) = schemas.get_mut("PortableReading") {
            reading
                .properties
                .insert("kind".to_owned(), RefOr::T(Schema::Object(kind)));
        }
    }
}

/// Adds the problem response, described once, to every operation.
pub(super) struct Problems;

impl Modify for Problems {
    fn modify(&self, openapi: &mut OpenApi) {
        const NAME: &str = "Problem";
        for (route, operation) in operations_mut(&mut openapi.paths) {
            let mut statuses = vec!["401", "403", "429", "default"];
            if route.contains('{') {
                statuses.push("404");
            }
            if operation.request_body.is_some() {
                statuses.push("422");
            }
            let responses = &mut operation.responses.responses;
            for status in statuses {
                responses
                    .entry(status.to_owned())
                    .or_insert_with(|| RefOr::Ref(Ref::from_response_name(NAME)));
            }
        }
        let example = serde_json::json!({
            "type": ProblemCode::UnknownSpace.to_urn(),
            "title": ProblemCode::UnknownSpace.title(),
            "status": ProblemCode::UnknownSpace.http_status().as_u16(),
            "detail": "there is no space `ann`; PUT /v1/spaces/ann creates it",
            "help": ProblemCode::UnknownSpace.help_url(),
        });
        let body = ContentBuilder::new()
            .schema(Some(Ref::from_schema_name(NAME)))
            .example(Some(example))
            .build();
        let response = ResponseBuilder::new()
            .description("A problem")
            .content("application/problem+json", body)
            .build();
        let responses = &mut openapi.components.get_or_insert_default().responses;
        responses.insert(NAME.to_owned(), RefOr::T(response));
    }
}

/// Adds example bodies from `examples.json`.
pub(super) struct Examples;

/// Example bodies by operation.
static EXAMPLES: &str = include_str!("examples.json");
const JSON: &str = "application/json";

/// Example bodies of one operation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Bodies {
    /// The request body.
    pub(super) request: Option<Value>,
    /// The response bodies, by status.
    #[serde(default)]
    pub(super) responses: BTreeMap<String, Value>,
}

/// Returns the example bodies by the name of the operation.
///
/// # Errors
/// `examples.json` does not have this structure.
pub(super) fn read_examples() -> serde_json::Result<BTreeMap<String, Bodies>> {
    serde_json::from_str(EXAMPLES)
}

impl Modify for Examples {
    fn modify(&self, openapi: &mut OpenApi) {
        // A test reads the file; a document without examples is better than a server that does not start.
        let examples = read_examples().unwrap_or_default();
        for (_, operation) in operations_mut(&mut openapi.paths) {
            let Some(bodies) = operation.operation_id.as_ref().and_then(|it| examples.get(it)) else {
                continue;
            };
            if let Some(RefOr::T(body)) = &mut operation.request_body {
                add_example(body.content.get_mut(JSON), bodies.request.as_ref());
            }
            for (status, example) in &bodies.responses {
                if let Some(RefOr::T(response)) = operation.responses.responses.get_mut(status) {
                    add_example(response.content.get_mut(JSON), Some(example));
                }
            }
        }
    }
}

/// Adds an example to a body that has none.
fn add_example(content: Option<&mut RefOr<Content>>, example: Option<&Value>) {
    if let (Some(RefOr::T(content)), Some(example)) = (content, example)
        && content.example.is_none()
        && content.examples.is_empty()
    {
        content.example = Some(example.clone());
    }
}

/// Returns all operations with their routes.
fn operations_mut(paths: &mut Paths) -> impl Iterator<Item = (&str, &mut Operation)> {
    paths.paths.iter_mut().flat_map(|(route, path)| {
        let all = [&mut path.get, &mut path.put, &mut path.post, &mut path.delete];
        all.into_iter().flatten().map(move |it| (route.as_str(), it))
    })
}

#[cfg(test)]
mod tests {
    use super::{pascal_case, read_examples};

    #[test]
    fn examples_are_valid_and_name_existing_operations() {
        let api = serde_json::to_value(crate::http::openapi::openapi_document()).unwrap();
        let paths = api["paths"].as_object().unwrap();
        let operations: Vec<_> = paths.values().flat_map(|it| it.as_object().unwrap().values()).collect();
        for (name, bodies) in read_examples().unwrap() {
            let operation = operations.iter().find(|it| it["operationId"] == name.as_str()).unwrap();
            let request = &operation["requestBody"]["content"]["application/json"];
            assert!(bodies.request.is_none_or(|it| request["example"] == it), "{name}");
            for (status, body) in bodies.responses {
                let response = &operation["responses"][&status]["content"]["application/json"];
                assert_eq!(response["example"], body, "{name} {status}");
            }
        }
    }

    #[test]
    fn variants_are_named_in_pascal_case() {
        assert_eq!(pascal_case("retire_fact"), "RetireFact");
        assert_eq!(pascal_case("undo"), "Undo");
        assert_eq!(pascal_case(""), "");
    }
}
