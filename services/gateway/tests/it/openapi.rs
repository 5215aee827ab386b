use std::collections::BTreeSet;

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::harness::Gateway;

#[test]
fn the_api_is_as_agreed() {
    insta::assert_snapshot!(gateway::openapi_document().to_pretty_json().unwrap());
}

/// Generated clients make a function of every operation; of two operations with the same name one is lost.
#[test]
fn every_operation_has_a_unique_name() {
    let api = serde_json::to_value(gateway::openapi_document()).unwrap();
    let mut names = BTreeSet::new();
    for (path, methods) in api["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let name = operation["operationId"].as_str().unwrap().to_owned();
            assert!(names.insert(name.clone()), "{name} again, of {method} {path}");
        }
    }
}

/// The problem response is described once; every operation may return it.
#[test]
fn every_operation_may_have_a_problem() {
    let api = serde_json::to_value(gateway::openapi_document()).unwrap();
    let one = &api["components"]["responses"]["Problem"]["content"]["application/problem+json"];
    assert_eq!(one["schema"]["$ref"], "#/components/schemas/Problem");
    for (path, methods) in api["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let problem = &operation["responses"]["default"];
            let shared = problem["$ref"] == "#/components/responses/Problem";
            let own = problem["content"]["application/problem+json"].is_object();
            assert!(shared || own, "{method} {path}: {problem}");
        }
    }
}

/// Arguments and results of a tool are text most of the time; with a schema that says `object`, clients refuse text.
#[test]
fn arguments_and_results_of_a_tool_may_be_any_json() {
    let api = serde_json::to_value(gateway::openapi_document()).unwrap();
    let tool = &api["components"]["schemas"]["NewTool"]["properties"];
    for field in ["arguments", "result"] {
        assert!(tool[field].is_object(), "{tool}");
        assert_eq!(tool[field]["type"], Value::Null, "{field}");
    }
}

/// Validators and generators of clients refuse a document whose default violates its own limits.
#[test]
fn every_default_matches_its_schema() {
    fn look(at: &str, schema: &Value, seen: &mut usize) {
        if let Some(default) = schema["default"].as_str() {
            *seen += 1;
            let least = schema["minLength"].as_u64().unwrap_or(0);
            assert!(default.chars().count() as u64 >= least, "{at}: {schema}");
        }
        if let (Some(default), Some(least)) = (schema["default"].as_f64(), schema["minimum"].as_f64()) {
            assert!(default >= least, "{at}: {schema}");
        }
        let inner: Vec<(String, &Value)> = match schema {
            Value::Object(map) => map.iter().map(|(name, it)| (name.clone(), it)).collect(),
            Value::Array(list) => list.iter().enumerate().map(|(at, it)| (at.to_string(), it)).collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
        };
        for (name, it) in inner {
            look(&format!("{at}/{name}"), it, seen);
        }
    }
    let mut seen = 0;
    let api = serde_json::to_value(gateway::openapi_document()).unwrap();
    look("", &api, &mut seen);
    assert!(seen > 0, "no default was looked at");
    assert_eq!(
        api["components"]["schemas"]["NewTool"]["required"],
        serde_json::json!(["name"])
    );
}

/// Types that refuse unknown fields say so in the document, acts too.
#[test]
fn types_that_refuse_unknown_fields_say_so_in_the_document() {
    let api = serde_json::to_value(gateway::openapi_document()).unwrap();
    let schemas = &api["components"]["schemas"];
    let acts = schemas["NewAct"]["discriminator"]["mapping"].as_object().unwrap();
    assert_eq!(acts.len(), 9);
    let names = acts.values().map(|it| it.as_str().unwrap().rsplit('/').next().unwrap());
    for name in names.chain(["QueryRequest", "NewRecord"]) {
        assert_eq!(schemas[name]["additionalProperties"], false, "{name}");
    }
}

/// Generated clients name a variant after its schema; without a schema the name is `NewAct2`.
#[test]
fn every_variant_of_an_act_has_a_name_and_a_kind() {
    let api = serde_json::to_value(gateway::openapi_document()).unwrap();
    let schemas = &api["components"]["schemas"];
    for parent in ["Act", "NewAct"] {
        let variants = schemas[parent]["oneOf"].as_array().unwrap();
        let mapping = schemas[parent]["discriminator"]["mapping"].as_object().unwrap();
        assert_eq!((variants.len(), mapping.len()), (9, 9), "{parent}");
        for (kind, place) in mapping {
            assert!(variants.iter().any(|it| it["$ref"] == *place), "{parent}: {kind}");
            let name = place.as_str().unwrap().rsplit('/').next().unwrap();
            assert_eq!(schemas[name]["properties"]["kind"]["enum"], json!([kind]), "{name}");
        }
    }
    assert!(schemas["NewActRetireFact"].is_object());
}

/// Without an example, a reader of the document has to guess the body.
#[test]
fn every_json_request_body_has_an_example() {
    let api = serde_json::to_value(gateway::openapi_document()).unwrap();
    let mut seen = 0;
    for (path, methods) in api["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let body = &operation["requestBody"]["content"]["application/json"];
            if body.is_object() {
                seen += 1;
                let shown = body["example"].is_object() || body["examples"].is_object();
                assert!(shown, "{method} {path}");
            }
        }
    }
    assert!(seen > 8, "only {seen} bodies");
    let answer = &api["paths"]["/v1/spaces/{space}/query"]["post"]["responses"]["200"]["content"]["application/json"];
    assert_eq!(answer["example"]["answer"]["text"], "Oslo");
}

#[test]
fn a_portable_reading_without_a_kind_is_a_reading_of_a_passage() {
    let api = serde_json::to_value(gateway::openapi_document()).unwrap();
    let kind = &api["components"]["schemas"]["PortableReading"]["properties"]["kind"];
    assert_eq!((&kind["type"], &kind["default"]), (&json!("string"), &json!("passage")));
    assert!(kind["enum"].as_array().unwrap().contains(&json!("passage")));
}

/// Every operation in the document has a route, and every reference has a target.
#[tokio::test]
async fn every_described_operation_has_a_route() {
    let gateway = Gateway::new().await;
    let api = gateway.send("GET /openapi.json", "").await.json();
    for (path, methods) in api["paths"].as_object().unwrap() {
        // A stream of events has no end; it has its own tests.
        if path.ends_with("/events") {
            continue;
        }
        for method in methods.as_object().unwrap().keys() {
            let path = path
                .replace("{space}", "nobody")
                .replace("{id}", "1")
                .replace("{name}", "x");
            let reply = gateway.send(&format!("{} {path}", method.to_uppercase()), "").await;
            assert_ne!(reply.status, StatusCode::METHOD_NOT_ALLOWED, "{method} {path}");
            assert!(!reply.text.contains("no-route"), "{method} {path}");
        }
    }
    let text = api.to_string();
    for kind in ["schemas", "responses"] {
        for reference in text.split(&format!("#/components/{kind}/")).skip(1) {
            let name = reference.split('"').next().unwrap();
            assert_ne!(api["components"][kind][name], Value::Null, "{name}");
        }
    }
    let page = gateway.send("GET /docs", "").await;
    assert!(page.text.contains("/openapi.json") && !page.text.contains("http://") && !page.text.contains("https://"));
}

/// The root needs no key, and reveals no key and no settings.
#[tokio::test]
async fn the_root_links_to_the_documentation() {
    let gateway = Gateway::with(crate::access::KEYS).await;
    let reply = gateway.send("GET /", "").await;
    assert_eq!(reply.status, StatusCode::OK, "{reply:?}");
    let index = reply.json();
    assert_eq!(
        (&index["name"], &index["version"]),
        (&json!("mnemic"), &json!(env!("CARGO_PKG_VERSION")))
    );
    let fields: Vec<&String> = index.as_object().unwrap().keys().collect();
    assert_eq!(fields, ["docs", "health", "name", "openapi", "version"]);
    for field in ["docs", "openapi"] {
        let there = gateway
            .send(&format!("GET {}", index[field].as_str().unwrap()), "")
            .await;
        assert_eq!(there.status, StatusCode::OK, "{field}");
    }
    assert_eq!(
        gateway.send("GET /v1/spaces", "").await.status,
        StatusCode::UNAUTHORIZED
    );
    assert_eq!(gateway.send("GET /nothing", "").await.status, StatusCode::NOT_FOUND);
}

/// A server without keys requires none; if the document says otherwise, clients ask for one.
#[tokio::test]
async fn the_document_describes_this_server() {
    let key = format!(
        "[[gateway.keys]]\nname = \"a\"\nsha256 = \"{}\"\nspaces = [\"*\"]\nrights = [\"read\"]",
        "0".repeat(64)
    );
    for (settings, asks) in [("", false), (key.as_str(), true)] {
        let gateway = Gateway::with(&format!(
            "[gateway]\nbatch_max = 7\nrequest_ms_max = 9000\nmodel_request_ms_max = 50000\n{settings}"
        ))
        .await;
        let api = gateway.send("GET /openapi.json", "").await.json();
        assert_eq!(api["security"] != json!([]), asks);
        assert_eq!(!api["components"]["securitySchemes"].is_null(), asks);
        assert_eq!(api["servers"][0]["url"], "/");
        let schemas = &api["components"]["schemas"];
        assert_eq!(schemas["NewRecords"]["properties"]["records"]["maxItems"], 7);
        assert_eq!(schemas["Budget"]["properties"]["ms"]["maximum"], 50000);
        let progress = &api["paths"]["/v1/spaces/{space}/progress"]["get"]["parameters"];
        let wait = progress
            .as_array()
            .unwrap()
            .iter()
            .find(|it| it["name"] == "wait_ms")
            .unwrap();
        assert_eq!(wait["schema"]["maximum"], 9000);
    }
}

#[tokio::test]
async fn health_paths_name_the_admin_port() {
    let gateway = Gateway::new().await;
    for path in ["/health", "/livez", "/readyz"] {
        let reply = gateway.send(&format!("GET {path}"), "").await;
        assert_eq!(reply.status, StatusCode::NOT_FOUND);
        assert!(reply.text.contains("admin port"), "{}", reply.text);
    }
    let reply = gateway.send("GET /nowhere", "").await;
    assert!(!reply.text.contains("admin port"), "{}", reply.text);
}
