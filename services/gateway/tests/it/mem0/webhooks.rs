//! Webhooks that clients of mem0 create, list, change and delete.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::keys::{KEYS, send_as};
use super::{ENABLED, call, error};
use crate::harness::Gateway;

/// These tests are built without TLS.
const ALLOW_HTTP: &str = "[gateway.mem0.webhooks]\nallow_http = true\n";
const ALL: &str = "/mem0/api/v1/webhooks/projects/mnemic/";

fn new(name: &str) -> Value {
    json!({"name": name, "url": format!("http://example.com/{name}"), "event_types": ["memory_add"]})
}

#[tokio::test]
async fn webhooks_are_created_listed_changed_and_deleted() {
    let settings = format!("{ENABLED}{ALLOW_HTTP}");
    let gateway = Gateway::with(&settings).await;
    assert_eq!(call(&gateway, &format!("GET {ALL}"), Value::Null).await, json!([]));
    let made = call(&gateway, &format!("POST {ALL}"), new("one")).await;
    assert!(made["secret"].as_str().unwrap().starts_with("whsec_"), "{made}");
    // The same event covers new records and new versions.
    assert_eq!(made["event_types"], json!(["memory_add", "memory_update"]));
    let id = made["webhook_id"].as_str().unwrap();
    call(&gateway, &format!("POST {ALL}"), new("two")).await;

    let path = format!("/mem0/api/v1/webhooks/{id}/");
    let change = json!({"name": "first", "event_types": ["memory_delete", "memory_delete"]});
    let changed = call(&gateway, &format!("PUT {path}"), change).await;
    assert_eq!(changed["event_types"], json!(["memory_delete"]));
    assert_eq!(changed["message"], "Webhook updated successfully");

    let another = gateway.another(&settings);
    let all = call(&another, &format!("GET {ALL}"), Value::Null).await;
    let mut shown: Vec<String> = all
        .as_array()
        .unwrap()
        .iter()
        .map(|it| format!("{} {} {}", it["name"], it["url"], it["project"]))
        .collect();
    shown.sort();
    let expected = [
        r#""first" "http://example.com/one" "mnemic""#,
        r#""two" "http://example.com/two" "mnemic""#,
    ];
    assert_eq!(shown, expected);
    let first = all.as_array().unwrap().iter().find(|it| it["webhook_id"] == id);
    assert_eq!(first.unwrap()["created_at"], made["created_at"]);
    assert!(!all.to_string().contains("whsec_"), "{all}");

    call(&gateway, &format!("DELETE {path}"), Value::Null).await;
    for gone in [format!("DELETE {path}"), format!("PUT {path}")] {
        let gone = error(&gateway.send(&gone, "{}").await);
        assert!(gone.starts_with("404 there is no webhook"), "{gone}");
    }
    assert_eq!(
        call(&gateway, &format!("GET {ALL}"), Value::Null).await[0]["name"],
        "two"
    );
}

#[tokio::test]
async fn invalid_webhooks_are_refused() {
    let gateway = Gateway::with(&format!("{ENABLED}{ALLOW_HTTP}")).await;
    let refused = async |body: Value| error(&gateway.send(&format!("POST {ALL}"), &body.to_string()).await);
    let with = |field: &str, value: Value| {
        let mut body = new("one");
        body[field] = value;
        body
    };
    for (body, expected) in [
        (with("name", Value::Null), "400 name: is missing"),
        (with("name", json!(" ")), "400 name: is empty"),
        (with("name", json!(7)), "400 name: is not a text"),
        (with("url", Value::Null), "400 url: is missing"),
        (with("url", json!("somewhere")), "400 url: `url` is not an address"),
        (
            with("url", json!("ftp://example.com/")),
            "400 url: `url` must start with https",
        ),
        (
            with("url", json!("http://127.0.0.1/")),
            "400 url: `url` leads to an internal address",
        ),
        (
            with("url", json!("http://localhost/")),
            "400 url: `url` leads to an internal address",
        ),
        (
            with("url", json!("http://u:p@example.com/")),
            "400 url: `url` must not contain credentials",
        ),
        (
            with("url", json!(format!("http://example.com/{}", "a".repeat(2_048)))),
            "400 url: has 2067 bytes",
        ),
        (with("event_types", Value::Null), "400 event_types: is missing"),
        (with("event_types", json!([])), "400 event_types: is not a list"),
        (
            with("event_types", json!("memory_add")),
            "400 event_types: is not a list",
        ),
        (
            with("event_types", json!(vec!["memory_add"; 17])),
            "400 event_types: is not a list",
        ),
        (
            with("event_types", json!(["memory_categorize"])),
            "400 event_types: memories have no categories; use",
        ),
        (
            with("event_types", json!(["memory_add", 7])),
            "400 event_types: 7 is not a type of event; use",
        ),
    ] {
        let refused = refused(body.clone()).await;
        assert!(refused.starts_with(expected), "{body}: {refused}");
    }
}

#[tokio::test]
async fn webhooks_need_public_targets_and_unique_names_and_are_limited_in_number() {
    let gateway = Gateway::with(&format!("{ENABLED}{ALLOW_HTTP}")).await;
    let refused = async |body: Value| error(&gateway.send(&format!("POST {ALL}"), &body.to_string()).await);
    let strict = gateway.another(ENABLED);
    let open = error(&strict.send(&format!("POST {ALL}"), &new("one").to_string()).await);
    assert!(
        open.contains("`allow_http = true`") && open.contains("[gateway.mem0.webhooks]"),
        "{open}"
    );
    let inside = refused(json!({"name": "x", "url": "http://10.0.0.1/", "event_types": ["memory_add"]})).await;
    assert!(
        inside.contains("`allow_private = true`") && inside.contains("[gateway.mem0.webhooks]"),
        "{inside}"
    );
    let id = call(&gateway, &format!("POST {ALL}"), new("one")).await["webhook_id"].clone();
    let twice = refused(new("one")).await;
    assert!(twice.starts_with("409 name: another webhook has this name"), "{twice}");
    let change = format!("PUT /mem0/api/v1/webhooks/{}/", id.as_str().unwrap());
    let inside = error(&gateway.send(&change, r#"{"url": "http://[::1]/"}"#).await);
    assert!(
        inside.starts_with("400 url: `url` leads to an internal address"),
        "{inside}"
    );
    for number in 1..32 {
        call(&gateway, &format!("POST {ALL}"), new(&number.to_string())).await;
    }
    let over = refused(new("over")).await;
    assert!(over.starts_with("409 there are 32 webhooks"), "{over}");
}

#[tokio::test]
async fn webhooks_need_the_right_admin_over_all_users() {
    let admin = "\n[[gateway.keys]]\nname = \"users\"\n\
        sha256 = \"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\"\nspaces = [\"mem0-*\"]\n\
        rights = [\"admin\"]\n";
    let gateway = Gateway::with(&format!("{KEYS}{admin}{ALLOW_HTTP}")).await;
    let made = send_as(&gateway, "owner", &format!("POST {ALL}"), new("one")).await;
    assert_eq!(made.status, StatusCode::OK, "{made:?}");
    assert_eq!(made.json()["owner"], "owner");
    let id = made.json()["webhook_id"].as_str().unwrap().to_owned();
    let one = format!("/mem0/api/v1/webhooks/{id}/");
    // The first key is admin of one user, the second may read and write everything.
    for key in ["reader", "writer"] {
        for (call, body) in [
            (format!("GET {ALL}"), Value::Null),
            (format!("POST {ALL}"), new("two")),
            (format!("PUT {one}"), json!({"url": "http://mallory.example/"})),
            (format!("DELETE {one}"), Value::Null),
        ] {
            let refused = error(&send_as(&gateway, key, &call, body).await);
            assert!(
                refused.starts_with("403 webhooks receive the events of all users"),
                "{key} {call}: {refused}"
            );
        }
    }
    let listed = send_as(&gateway, "test", &format!("GET {ALL}"), Value::Null)
        .await
        .json();
    assert_eq!(
        (&listed[0]["webhook_id"], &listed[0]["url"]),
        (&json!(id), &json!("http://example.com/one"))
    );
    let deleted = send_as(&gateway, "test", &format!("DELETE {one}"), Value::Null).await;
    assert_eq!(deleted.status, StatusCode::OK, "{deleted:?}");
}
