//! The quotas of a key for a minute and a day.

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::access::KEYS;
use crate::harness::{Gateway, Reply};

/// Returns `KEYS` with quotas for `writer`.
fn with_quotas(quotas: &str) -> String {
    KEYS.replacen(
        "name = \"writer\"",
        &format!("name = \"writer\"\nquotas = {{ {quotas} }}"),
        1,
    )
}

async fn post(gateway: &Gateway, key: &str, ids: &[&str]) -> Reply {
    let records: Vec<Value> = ids
        .iter()
        .map(|it| json!({"id": it, "text": format!("said {it}")}))
        .collect();
    let body = json!({ "records": records }).to_string();
    gateway.send_as(key, "POST /v1/spaces/s/records", &body).await
}

/// Returns the first refusal, and checks that at least `most` requests are accepted before it. Up to `2 * most` may be,
/// because a new minute may begin meanwhile.
async fn first_refusal(gateway: &Gateway, key: &str, most: usize) -> Reply {
    for sent in 0..=2 * most {
        let reply = gateway.send_as(key, "GET /v1/spaces/s", "").await;
        if reply.status != StatusCode::OK {
            assert!(sent >= most, "refused after {sent}: {reply:?}");
            return reply;
        }
    }
    panic!("nothing was refused");
}

#[tokio::test]
async fn requests_beyond_the_quota_of_a_key_are_refused() {
    let gateway = Gateway::with(&with_quotas("requests_per_minute = 3")).await;
    let new = json!({"name": "assistant", "spaces": ["s"], "rights": ["read"], "quotas": {"requests_per_minute": 4}});
    let made = gateway.send_as("owner", "POST /v1/keys", &new.to_string()).await.json();
    for (key, most) in [("writer", 3), (made["token"].as_str().unwrap(), 4)] {
        let refused = first_refusal(&gateway, key, most).await;
        assert_eq!(
            refused.json()["type"],
            "urn:mnemic:problem:quota-exhausted",
            "{refused:?}"
        );
        assert!(
            refused
                .problem()
                .starts_with(&format!("429 this key may send {most} requests a minute"))
        );
        let seconds: u32 = refused.headers["retry-after"].to_str().unwrap().parse().unwrap();
        assert!((1..=60).contains(&seconds), "{seconds}");
    }
    for _ in 0..10 {
        let other = gateway.send_as("reader", "GET /v1/spaces/s", "").await;
        assert_eq!(other.status, StatusCode::OK, "a key without a quota");
    }
}

#[tokio::test]
async fn new_records_beyond_the_quota_of_a_key_are_refused() {
    let gateway = Gateway::with(&with_quotas("records_per_day = 3")).await;
    gateway.start_writer();
    assert_eq!(post(&gateway, "writer", &["1", "2"]).await.status, StatusCode::ACCEPTED);
    let repeated = post(&gateway, "writer", &["1", "2"]).await;
    assert_eq!(
        repeated.status,
        StatusCode::ACCEPTED,
        "what is known counts once: {repeated:?}"
    );
    let refused = post(&gateway, "writer", &["2", "3", "4"]).await;
    assert_eq!(
        refused.json()["type"],
        "urn:mnemic:problem:quota-exhausted",
        "{refused:?}"
    );
    let detail = refused.problem();
    assert!(detail.contains("of which 1 are left; this request has 2"), "{detail}");
    let seconds: u32 = refused.headers["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((1..=86_400).contains(&seconds), "{seconds}");

    let wrong = gateway
        .send_as(
            "writer",
            "POST /v1/spaces/s/records",
            r#"{"records":[{"id":"9","text":""}]}"#,
        )
        .await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY, "{wrong:?}");
    let last = post(&gateway, "writer", &["3"]).await;
    assert_eq!(
        last.status,
        StatusCode::ACCEPTED,
        "what was refused does not count: {last:?}"
    );
    assert_eq!(
        post(&gateway, "writer", &["4"]).await.status,
        StatusCode::TOO_MANY_REQUESTS
    );
    let other = post(&gateway, "owner", &["4", "5", "6", "7"]).await;
    assert_eq!(other.status, StatusCode::ACCEPTED, "a key without a quota: {other:?}");
    gateway
        .send_as(
            "owner",
            &format!(
                "GET /v1/spaces/s/progress?wait_ms=20000&watermark={}",
                other.json()["watermark"].as_str().unwrap()
            ),
            "",
        )
        .await;
    let stored = gateway.send_as("owner", "GET /v1/spaces/s/records", "").await.json();
    assert_eq!(stored["items"].as_array().unwrap().len(), 7, "{stored}");
}

#[tokio::test]
async fn a_batch_beyond_the_quota_creates_no_space() {
    let gateway = Gateway::with(KEYS).await;
    let new = json!({"name": "assistant", "spaces": ["new"], "rights": ["write"], "quotas": {"records_per_day": 2}});
    let made = gateway.send_as("owner", "POST /v1/keys", &new.to_string()).await.json();
    let key = made["token"].as_str().unwrap();
    let (refused, accepted) = (StatusCode::TOO_MANY_REQUESTS, StatusCode::ACCEPTED);
    for (texts, written, read) in [
        (&["a", "b", "c"][..], refused, StatusCode::NOT_FOUND),
        (&["a", "b"][..], accepted, StatusCode::OK),
        (&["d"][..], refused, StatusCode::OK),
    ] {
        let records: Vec<Value> = texts.iter().map(|it| json!({"id": it, "text": it})).collect();
        let body = json!({ "records": records }).to_string();
        let reply = gateway.send_as(key, "POST /v1/spaces/new/records", &body).await;
        assert_eq!(reply.status, written, "{texts:?}: {reply:?}");
        let space = gateway.send_as("owner", "GET /v1/spaces/new", "").await;
        assert_eq!(space.status, read, "{texts:?}: {space:?}");
    }
}

#[tokio::test]
async fn a_request_beyond_the_quota_leaves_its_key_for_a_smaller_request() {
    let gateway = Gateway::with(&with_quotas("records_per_day = 2")).await;
    let headers = [("authorization", "Bearer writer"), ("idempotency-key", "k")];
    let send = async |texts: &[&str]| {
        let records: Vec<Value> = texts.iter().map(|it| json!({ "text": it })).collect();
        let body = json!({ "records": records }).to_string();
        gateway.send_with("POST /v1/spaces/s/records", &body, &headers).await
    };
    let refused = send(&["a", "b", "c"]).await;
    assert_eq!(
        refused.json()["type"],
        "urn:mnemic:problem:quota-exhausted",
        "{refused:?}"
    );
    let accepted = send(&["a", "b"]).await;
    assert_eq!(accepted.status, StatusCode::ACCEPTED, "{accepted:?}");
    assert_eq!(send(&["a", "b"]).await.text, accepted.text);
    let reused = send(&["a"]).await;
    assert_eq!(
        reused.json()["type"],
        "urn:mnemic:problem:idempotency-key-reused",
        "{reused:?}"
    );
}

/// Records count in every way of writing them.
#[tokio::test]
async fn records_count_for_the_quota_on_every_route_that_writes_them() {
    let gateway = Gateway::with(&with_quotas("records_per_day = 1")).await;
    gateway.start_writer();
    let put = gateway
        .send_as("writer", "PUT /v1/spaces/s/records/a", r#"{"text":"one"}"#)
        .await;
    assert_eq!(put.status, StatusCode::ACCEPTED, "{put:?}");
    let put = gateway
        .send_as("writer", "PUT /v1/spaces/s/records/b", r#"{"text":"two"}"#)
        .await;
    assert_eq!(put.status, StatusCode::TOO_MANY_REQUESTS, "{put:?}");
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "remember", "arguments": {"text": "three"}}});
    let headers = [
        ("authorization", "Bearer writer"),
        ("host", "localhost"),
        ("accept", "application/json, text/event-stream"),
    ];
    let response = gateway
        .send_with("POST /v1/spaces/s/mcp", &call.to_string(), &headers)
        .await;
    assert!(response.text.contains("new records a day"), "{response:?}");
}

#[tokio::test]
async fn a_quota_of_zero_in_the_settings_is_an_error() {
    for (quotas, expected) in [
        ("requests_per_minute = 0", "the key `writer`"),
        ("requests_a_minute = 9", "unknown field `requests_a_minute`"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let settings = host::Settings::from_toml(&with_quotas(quotas), "test").unwrap();
        let context = host::Context::embedded_with(dir.path(), settings).await.unwrap();
        let error = format!("{:#}", gateway::run(context).await.unwrap_err());
        assert!(error.contains(expected), "{error}");
    }
}
