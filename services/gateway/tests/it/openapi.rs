use axum::http::StatusCode;
use serde_json::Value;

use crate::harness::Gateway;

#[test]
fn the_api_is_as_agreed() {
    insta::assert_snapshot!(gateway::document().to_pretty_json().unwrap());
}

/// Every operation described is routed, and every reference leads somewhere.
#[tokio::test]
async fn what_is_described_exists() {
    let gateway = Gateway::new().await;
    let api = gateway.send("GET /openapi.json", "").await.json();
    for (path, methods) in api["paths"].as_object().unwrap() {
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
    for reference in text.split("#/components/schemas/").skip(1) {
        let name = reference.split('"').next().unwrap();
        assert_ne!(api["components"]["schemas"][name], Value::Null, "{name}");
    }
    let page = gateway.send("GET /docs", "").await;
    assert!(page.text.contains("/openapi.json") && !page.text.contains("http://") && !page.text.contains("https://"));
}
