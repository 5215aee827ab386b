//! Chat messages as records, and spaces that a write creates.

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::harness::Gateway;
use crate::records::{RECORDS, outcomes};

async fn stored(gateway: &Gateway, space: &str) -> Vec<Value> {
    let list = gateway
        .send(&format!("GET /v1/spaces/{space}/records"), "")
        .await
        .json();
    let shown = |it: &Value| {
        json!([
            it["session"],
            it["actor"],
            it["text"],
            it["image_uri"],
            it["tool"]["name"],
            it["tool"]["result"]
        ])
    };
    list["items"].as_array().unwrap().iter().map(shown).collect()
}

#[tokio::test]
async fn chat_messages_are_stored_as_records() {
    let gateway = Gateway::new().await;
    gateway.start_writer();
    let body = json!({"session": "monday", "messages": [
        {"role": "system", "content": "You are a helpful assistant."},
        {"role": "user", "name": "Ann", "content": [{"type": "text", "text": "What is the weather in Oslo?"},
            {"type": "image_url", "image_url": {"url": "https://a.example/sky.png"}}]},
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "weather", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c", "content": "rain"},
        {"role": "assistant", "content": "It rains."},
    ]});
    let reply = gateway.send(RECORDS, &body.to_string()).await;
    assert_eq!(reply.status, StatusCode::ACCEPTED, "{reply:?}");
    assert_eq!(outcomes(&reply), "0 accepted -\n1 accepted -\n2 accepted -");
    assert_eq!(reply.json()["left_out"], 1);
    gateway.written(reply.json()["watermark"].as_str().unwrap()).await;
    assert_eq!(
        stored(&gateway, "s").await,
        [
            json!([
                "monday",
                "Ann",
                "What is the weather in Oslo?",
                "https://a.example/sky.png",
                null,
                null
            ]),
            json!(["monday", "assistant", "", null, "weather", "rain"]),
            json!(["monday", "assistant", "It rains.", null, null, null]),
        ]
    );
}

#[tokio::test]
async fn records_may_contain_chat_messages() {
    let gateway = Gateway::new().await;
    let body = json!({"records": [{"text": "I moved.", "actor": "Ann"}, {"role": "user", "content": "Where to?"},
        {"role": "system", "content": "Be kind."}]});
    let reply = gateway.send(RECORDS, &body.to_string()).await;
    assert_eq!(outcomes(&reply), "0 accepted -\n1 accepted -");
    assert_eq!(reply.json()["left_out"], 1);
}

/// A result of a tool is stored with its call in both forms of a batch.
#[tokio::test]
async fn a_result_of_a_tool_among_records_is_stored_with_its_call() {
    let gateway = Gateway::new().await;
    gateway.start_writer();
    let body = json!({"records": [
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "weather", "arguments": "{}"}}]},
        {"text": "I moved.", "actor": "Ann"},
        {"role": "tool", "tool_call_id": "c", "content": "rain"},
        {"text": "To Oslo.", "actor": "Ann"},
    ]});
    let reply = gateway.send(RECORDS, &body.to_string()).await;
    assert_eq!(outcomes(&reply), "0 accepted -\n1 accepted -\n3 accepted -");
    gateway.written(reply.json()["watermark"].as_str().unwrap()).await;
    assert_eq!(
        stored(&gateway, "s").await,
        [
            json!(["default", "assistant", "", null, "weather", "rain"]),
            json!(["default", "Ann", "I moved.", null, null, null]),
            json!(["default", "Ann", "To Oslo.", null, null, null]),
        ]
    );
}

/// A log that grows is imported again: each message with an id is stored once, whichever request has the others.
#[tokio::test]
async fn a_result_of_a_tool_with_an_id_is_a_record_of_its_own() {
    let gateway = Gateway::new().await;
    gateway.start_writer();
    let call = json!({"id": "m", "role": "assistant", "content": null, "observed_at": "2026-05-07T12:00:00Z",
        "tool_calls": [{"id": "c", "type": "function", "function": {"name": "weather", "arguments": "{}"}}]});
    let result = json!({"id": "r", "role": "tool", "tool_call_id": "c", "content": "rain",
        "observed_at": "2026-05-07T12:00:01Z"});
    let first = gateway.send(RECORDS, &json!({"records": [call]}).to_string()).await;
    assert_eq!(outcomes(&first), "0 accepted -");
    let grown = json!({"records": [call, result]}).to_string();
    let second = gateway.send(RECORDS, &grown).await;
    assert_eq!(outcomes(&second), "0 duplicate -\n1 accepted -");
    gateway.written(second.json()["watermark"].as_str().unwrap()).await;
    assert_eq!(
        stored(&gateway, "s").await,
        [
            json!(["default", "assistant", "", null, "weather", ""]),
            json!(["default", "tool", "", null, "tool", "rain"]),
        ]
    );
}

#[tokio::test]
async fn a_result_names_its_element_of_the_records() {
    let gateway = Gateway::new().await;
    let system = json!({"role": "system", "content": "Be kind."});
    let call = json!({"role": "assistant", "content": "A moment.", "tool_calls": [{"function": {"name": "look"}}]});
    let body = json!({"records": [system, call, {"text": 7}, {"text": "I moved."}]}).to_string();
    let expected = "1 accepted -\n1 accepted -\n2 rejected text: invalid type: integer `7`, expecte\n3 accepted -";
    for _ in 0..2 {
        let reply = gateway.send_with(RECORDS, &body, &[("idempotency-key", "k")]).await;
        assert_eq!(outcomes(&reply), expected, "{reply:?}");
    }
    let body = json!({"records": [system, {"text": 7}]}).to_string();
    let refused = gateway.send(RECORDS, &body).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{refused:?}");
    assert_eq!(refused.json()["items"][0]["index"], 1, "{refused:?}");
}

#[tokio::test]
async fn a_message_whose_session_is_null_is_in_the_session_of_the_batch() {
    let gateway = Gateway::new().await;
    gateway.start_writer();
    let body = json!({"session": "monday", "messages": [
        {"role": "user", "content": "I moved.", "session": null, "name": null},
        {"role": "user", "content": "To Oslo.", "session": "tuesday"},
    ]});
    let reply = gateway.send(RECORDS, &body.to_string()).await;
    assert_eq!(outcomes(&reply), "0 accepted -\n1 accepted -");
    gateway.written(reply.json()["watermark"].as_str().unwrap()).await;
    assert_eq!(
        stored(&gateway, "s").await,
        [
            json!(["monday", "user", "I moved.", null, null, null]),
            json!(["tuesday", "user", "To Oslo.", null, null, null]),
        ]
    );
}

#[tokio::test]
async fn a_batch_without_records_and_messages_is_refused_with_the_reason() {
    let gateway = Gateway::new().await;
    for (body, expected) in [
        (json!({}), "records: is missing; a batch has either"),
        (json!({"records": [], "messages": []}), "messages: a batch has either"),
        (
            json!({"records": [{"text": "a"}], "session": "s"}),
            "session: set it in each record",
        ),
        (json!({"messages": [{"content": "a"}]}), "messages[0].role: is missing"),
        (
            json!({"records": [{"text": "a"}, {"content": "a"}]}),
            "records[1].role: is missing",
        ),
        // The clients recognise a message that is left out by this detail.
        (
            json!({"records": [{"role": "system", "content": "a"}]}),
            "records: must be 1 to 1000, this request has 0",
        ),
        (
            json!({"messages": [{"role": "system", "content": "a"}]}),
            "records: must be 1 to",
        ),
    ] {
        let reply = gateway.send(RECORDS, &body.to_string()).await;
        assert_eq!(reply.status, StatusCode::UNPROCESSABLE_ENTITY, "{body}");
        let detail = reply.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.starts_with(expected), "{detail}");
    }
}

#[tokio::test]
async fn a_write_creates_its_space() {
    let gateway = Gateway::new().await;
    gateway.start_writer();
    let text = json!({"messages": "I moved to Oslo."}).to_string();
    let reply = gateway.send("POST /v1/spaces/new/records", &text).await;
    assert_eq!(reply.status, StatusCode::ACCEPTED, "{reply:?}");
    let after = format!(
        "GET /v1/spaces/new/progress?watermark={}&wait_ms=20000",
        reply.json()["watermark"].as_str().unwrap()
    );
    assert_eq!(gateway.send(&after, "").await.status, StatusCode::OK);
    assert_eq!(stored(&gateway, "new").await[0][2], "I moved to Oslo.");
    let reply = gateway.send("POST /v1/spaces/..new/records", &text).await;
    assert_eq!(reply.status, StatusCode::UNPROCESSABLE_ENTITY, "{reply:?}");
}

#[tokio::test]
async fn a_batch_without_a_valid_record_creates_no_space() {
    let gateway = Gateway::new().await;
    let (invalid, valid) = (json!({"text": " "}), json!({"text": "I moved to Oslo."}));
    for (records, written, read) in [
        (
            json!([invalid]),
            StatusCode::UNPROCESSABLE_ENTITY,
            StatusCode::NOT_FOUND,
        ),
        (json!([invalid, valid]), StatusCode::ACCEPTED, StatusCode::OK),
    ] {
        let body = json!({ "records": records }).to_string();
        let reply = gateway.send("POST /v1/spaces/new/records", &body).await;
        assert_eq!(reply.status, written, "{reply:?}");
        assert_eq!(gateway.send("GET /v1/spaces/new", "").await.status, read);
    }
}

#[tokio::test]
async fn a_write_creates_no_space_if_the_settings_forbid_it() {
    let gateway = Gateway::with("[gateway]\ncreate_spaces = false").await;
    let text = json!({"messages": "I moved to Oslo."}).to_string();
    let reply = gateway.send("POST /v1/spaces/new/records", &text).await;
    assert!(reply.problem().starts_with("404 "), "{reply:?}");
    let reply = gateway
        .send("PUT /v1/spaces/new/records/a", r#"{"text": "I moved to Oslo."}"#)
        .await;
    assert!(reply.problem().starts_with("404 "), "{reply:?}");
}
