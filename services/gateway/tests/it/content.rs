//! The content under an id never changes.

use axum::http::StatusCode;

use crate::harness::Gateway;
use crate::records::{RECORDS, outcomes};

#[tokio::test]
async fn content_is_never_overwritten() {
    let gateway = Gateway::new().await;
    gateway.start_writer();
    let first = gateway.send(RECORDS, r#"{"records":[{"id":"a","text":"one"}]}"#).await;
    let mark = first.json()["watermark"].as_str().unwrap().to_owned();
    gateway.written(&mark).await;
    let again = gateway.send(RECORDS, r#"{"records":[{"id":"a","text":"one"}]}"#).await;
    assert_eq!(
        (again.status, outcomes(&again).as_str()),
        (StatusCode::ACCEPTED, "0 duplicate -")
    );
    gateway.written(again.json()["watermark"].as_str().unwrap()).await;
    let other = gateway.send(RECORDS, r#"{"records":[{"id":"a","text":"two"}]}"#).await;
    assert!(other.problem().starts_with("409 the id `a` belongs"), "{other:?}");
    let mixed = gateway
        .send(
            RECORDS,
            r#"{"records":[{"id":"a","text":"two"},{"id":"b","text":"two"}]}"#,
        )
        .await;
    assert_eq!(mixed.status, StatusCode::ACCEPTED);
    assert_eq!(mixed.json()["items"][0]["problem"]["status"], 409);
    assert_eq!(
        gateway.send("GET /v1/spaces/s/records/a", "").await.json()["text"],
        "one"
    );
}

/// An export contains derived values explicitly, and can be imported into the same space again.
#[tokio::test]
async fn an_exported_record_is_recognised_as_a_duplicate() {
    let gateway = Gateway::new().await;
    gateway.start_writer();
    let at = r#""observed_at":"2026-03-02T18:00:00+01:00""#;
    let sent =
        format!(r#"{{"records":[{{"id":"a","text":"one",{at}}},{{"id":"b","actor":"Ann","text":"two",{at}}}]}}"#);
    let first = gateway.send(RECORDS, &sent).await;
    gateway.written(first.json()["watermark"].as_str().unwrap()).await;
    let listed = gateway.send("GET /v1/spaces/s/records", "").await.json();
    let mut listed: Vec<serde_json::Value> = listed["items"].as_array().unwrap().clone();
    for record in &mut listed {
        record.as_object_mut().unwrap().remove("record");
    }
    let again = gateway
        .send(RECORDS, &serde_json::json!({ "records": listed }).to_string())
        .await;
    assert_eq!(outcomes(&again), "0 duplicate -\n1 duplicate -", "{again:?}");
    let named = sent.replace(r#""id":"a","#, r#""id":"a","session":"default","#);
    let named = gateway.send(RECORDS, &named).await;
    assert_eq!(outcomes(&named), "0 duplicate -\n1 duplicate -", "{named:?}");
    for (from, to) in [("one", "One"), ("18:00", "18:01"), (r#""Ann""#, r#""Ben""#)] {
        let other = gateway.send(RECORDS, &sent.replace(from, to)).await;
        assert!(outcomes(&other).contains("rejected the id"), "{from}: {other:?}");
    }
    let before = serde_json::json!({ "records": [{ "id": "a", "text": "one", "ordinal": 7,
        "observed_at": "2026-03-02T18:00:00+01:00" }] });
    let before = gateway.send(RECORDS, &before.to_string()).await;
    assert!(before.problem().starts_with("409"), "another place: {before:?}");
}

#[tokio::test]
async fn a_body_may_begin_with_a_byte_order_mark() {
    let gateway = Gateway::new().await;
    let body = "\u{feff}{\"records\":[{\"text\":\"x\"}]}";
    assert_eq!(gateway.send(RECORDS, body).await.status, 202);
    let message = "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"prompts/list\"}";
    let headers = [
        ("accept", "application/json, text/event-stream"),
        ("host", "localhost"),
        ("mcp-protocol-version", "2025-11-25"),
    ];
    let listed = gateway.send_with("POST /v1/spaces/s/mcp", message, &headers).await;
    assert_eq!(listed.status, 200, "{listed:?}");
    let twice = gateway
        .send("POST /v1/spaces/s/records", &format!("\u{feff}{body}"))
        .await;
    assert_eq!(twice.status, 400);
}

#[tokio::test]
async fn a_body_with_a_repeated_field_is_refused() {
    let gateway = Gateway::new().await;
    for (call, body) in [
        (RECORDS, r#"{"records":[{"text":"x","metadata":{"a":"1","a":"2"}}]}"#),
        (RECORDS, r#"{"records":[{"a":"x","a":"y"},{"text":"valid"}]}"#),
        (
            "PUT /v1/spaces/s/records/r",
            r#"{"text":"x","metadata":{"a":"1","b":"1","a":"2"}}"#,
        ),
        (
            "POST /v1/spaces/s/tools/lexical_retrieve",
            r#"{"query":"x","a":1,"a":2}"#,
        ),
    ] {
        let problem = gateway.send(call, body).await.problem();
        assert!(
            problem.starts_with("422 duplicate field `a` at line 1 column "),
            "{body}: {problem}"
        );
    }
    let body = r#"{"records":[{"text":"x","metadata":{"a":"1"}},{"text":"y","metadata":{"a":"1"}}]}"#;
    assert_eq!(gateway.send(RECORDS, body).await.status, StatusCode::ACCEPTED);
}
