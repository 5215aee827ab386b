//! Streams of events.

use std::time::Duration;

use axum::body::{Body, BodyDataStream};
use axum::http::request::Builder;
use axum::http::{HeaderMap, Request, StatusCode};
use chrono::TimeDelta;
use domain::erasure::{ErasureKind, Receipt};
use domain::id::{ErasureId, RecordId};
use domain::port::Position;
use futures::StreamExt;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::access;
use crate::harness::Gateway;
use crate::keys::{key, made};

/// Longest wait for an expected event; long enough for a loaded machine.
const SOON: Duration = Duration::from_secs(60);
/// Time within which an unwanted event must not happen.
const QUIET: Duration = Duration::from_millis(200);
const SETTINGS: &str = "[gateway.events]\npoll_ms = 10";
const EVENTS: &str = "/v1/spaces/s/events";

/// SHA-256 of `one`, `two` and `three`.
const KEYS: &str = r#"
[[gateway.keys]]
name = "one"
sha256 = "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed"
spaces = ["s"]
rights = ["read"]
[[gateway.keys]]
name = "two"
sha256 = "3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3"
spaces = ["s"]
rights = ["read"]
[[gateway.keys]]
name = "three"
sha256 = "8b5b9db0c13db24256c829aa364aa90c6d2eba318b9232a4ab9313b954d3555f"
spaces = ["s"]
rights = ["read"]
"#;

/// An open stream.
struct Listening {
    headers: HeaderMap,
    body: BodyDataStream,
    text: String,
}

/// One block of a stream.
#[derive(Debug)]
struct Block {
    event: String,
    id: String,
    data: Value,
}

impl Listening {
    /// Opens a stream, after the event `last` unless it is empty, and reads its first block.
    async fn open(gateway: &Gateway, last: &str) -> (Listening, Block) {
        let mut request = Request::get(EVENTS);
        if !last.is_empty() {
            request = request.header("last-event-id", last);
        }
        Listening::open_with(gateway, request).await
    }

    /// Opens a stream with a key, and reads its first block.
    async fn open_as(gateway: &Gateway, token: &str) -> (Listening, Block) {
        let request = Request::get(EVENTS).header("authorization", format!("Bearer {token}"));
        Listening::open_with(gateway, request).await
    }

    async fn open_with(gateway: &Gateway, request: Builder) -> (Listening, Block) {
        let response = gateway.response(request.body(Body::empty()).unwrap()).await;
        assert_eq!(response.status(), StatusCode::OK, "{response:?}");
        let (parts, body) = response.into_parts();
        let mut listening = Listening {
            headers: parts.headers,
            body: body.into_data_stream(),
            text: String::new(),
        };
        let first = listening.next().await;
        (listening, first)
    }

    async fn next(&mut self) -> Block {
        let text = tokio::time::timeout(SOON, self.block()).await.unwrap();
        block(&text.unwrap_or_else(|| panic!("the stream ended")))
    }

    /// Returns the next block; `None` at the end.
    async fn block(&mut self) -> Option<String> {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let block = block.to_owned();
                self.text = rest.to_owned();
                // A comment that keeps the stream open on a slow machine.
                if block.trim() == ":" {
                    continue;
                }
                return Some(block);
            }
            let bytes = self.body.next().await?.unwrap();
            self.text.push_str(std::str::from_utf8(&bytes).unwrap());
        }
    }

    /// Returns the next `count` events by kind.
    async fn events(&mut self, count: usize) -> Vec<Block> {
        let mut found = Vec::new();
        for _ in 0..count {
            found.push(self.next().await);
        }
        found.sort_by(|a, b| a.event.cmp(&b.event));
        found
    }

    /// Waits until the stream ends without a further block.
    async fn ends(&mut self) {
        let end = tokio::time::timeout(SOON, self.block()).await.unwrap();
        assert_eq!(end, None);
    }

    async fn is_quiet(&mut self) -> bool {
        tokio::time::timeout(QUIET, self.block()).await.is_err()
    }
}

fn block(text: &str) -> Block {
    let field = |name: &str| {
        let mut lines = text.lines().filter_map(|it| it.strip_prefix(name));
        lines.next().unwrap_or_default().trim().to_owned()
    };
    Block {
        event: field("event:"),
        id: field("id:"),
        data: serde_json::from_str(&field("data:")).unwrap_or(Value::Null),
    }
}

async fn write(gateway: &Gateway, id: &str) -> String {
    let body = json!({"records": [{"id": id, "session": "m", "text": "Quaxbank"}]}).to_string();
    let reply = gateway.send("POST /v1/spaces/s/records", &body).await;
    assert_eq!(reply.status, StatusCode::ACCEPTED, "{reply:?}");
    reply.json()["watermark"].as_str().unwrap().to_owned()
}

/// Returns the receipt of a complete erasure.
fn receipt(number: u128, position: u64) -> Receipt {
    let now = host::clock::now();
    Receipt {
        id: ErasureId::from_uuid(Uuid::from_u128(number)),
        space: "s".parse().unwrap(),
        created_at: now,
        kind: ErasureKind::Records,
        by: String::new(),
        requested_at: now,
        completed_at: Some(now),
        position: Position(position),
        records: vec![RecordId::from_external_id(&"s".parse().unwrap(), "r1")],
        sessions: Vec::new(),
        erased: [("records".to_owned(), 1)].into(),
    }
}

#[tokio::test]
async fn a_stream_reports_a_write_and_resumes_after_a_disconnect() {
    let gateway = Gateway::with(SETTINGS).await;
    gateway.start_writer();
    gateway.settled().await;
    let before = write(&gateway, "r0").await;
    gateway.written(&before).await;
    gateway.drained().await;
    let (mut listening, first) = Listening::open(&gateway, "").await;
    assert_eq!(listening.headers["content-type"], "text/event-stream");
    assert_eq!((first.event.as_str(), first.id.is_empty()), ("", false), "{first:?}");
    assert!(listening.is_quiet().await, "what happened before is not in it");

    let written = write(&gateway, "r1").await;
    let [organised, searchable] = listening.events(2).await.try_into().unwrap();
    for (event, kind) in [(&searchable, "searchable"), (&organised, "organised")] {
        assert_eq!(event.event, kind);
        assert_eq!(event.data["kind"], kind);
        assert_eq!(event.data["space"], "s");
        assert_eq!(event.data["watermark"], written, "{event:?}");
        let at = event.data["at"].as_str().unwrap();
        assert!(at.parse::<chrono::DateTime<chrono::Utc>>().is_ok(), "{at}");
        assert!(!event.data.to_string().contains("Quaxbank"));
    }
    drop(listening);

    let next = write(&gateway, "r2").await;
    gateway.written(&next).await;
    // The caller missed the event for the first batch, so one event covers both batches.
    let (mut listening, first) = Listening::open(&gateway, &searchable.id).await;
    assert_eq!(first.event, "", "{first:?}");
    let events = listening.events(2).await;
    assert_eq!([&events[0].event, &events[1].event], ["organised", "searchable"]);
    assert!(events.iter().all(|it| it.data["watermark"] == next), "{events:?}");
    assert!(listening.is_quiet().await);
    drop(listening);
    // The same with the id of a place before any event.
    let last = &events.iter().find(|it| it.event == "organised").unwrap().id;
    let (mut listening, _) = Listening::open(&gateway, last).await;
    assert!(listening.is_quiet().await, "it has heard of everything");
}

#[tokio::test]
async fn a_stream_reports_erasures() {
    let gateway = Gateway::with(SETTINGS).await;
    gateway.start_writer();
    gateway.settled().await;
    let stores = &gateway.context.backends;
    let written = write(&gateway, "r1").await;
    gateway.written(&written).await;
    gateway.drained().await;
    stores.receipts.put_receipt(&receipt(1, 1)).await.unwrap();
    let (mut listening, _) = Listening::open(&gateway, "").await;
    assert!(listening.is_quiet().await, "an erasure of before is not in it");

    // The test writer stores no receipts.
    stores.receipts.put_receipt(&receipt(2, 1_000_000)).await.unwrap();
    let id = RecordId::from_external_id(&"s".parse().unwrap(), "r1");
    let reply = gateway.send(&format!("DELETE /v1/spaces/s/records/{id}"), "").await;
    assert_eq!(reply.status, StatusCode::ACCEPTED, "{reply:?}");
    let events = listening.events(3).await;
    let kinds: Vec<&str> = events.iter().map(|it| it.event.as_str()).collect();
    assert_eq!(kinds, ["erased", "organised", "searchable"]);
    assert_eq!(events[0].data["erasure"], json!(Uuid::from_u128(2)));
    assert!(events[0].data["watermark"].is_string(), "{events:?}");
    assert_eq!(events[1].data["watermark"], reply.json()["watermark"]);

    let deleted = gateway.send("DELETE /v1/spaces/s", "").await;
    assert!(deleted.status.is_success(), "{deleted:?}");
    let erased = listening.next().await;
    assert_eq!(erased.event, "erased");
    assert!(erased.data["watermark"].is_null(), "{erased:?}");
    assert_ne!(erased.data["erasure"], events[0].data["erasure"]);
    assert!(listening.is_quiet().await, "each erasure is told once");
    drop(listening);
    let reply = gateway.send(&format!("GET {EVENTS}"), "").await;
    assert!(reply.problem().starts_with("404 there is no space `s`"), "{reply:?}");
}

#[tokio::test]
async fn a_stream_that_cannot_resume_starts_with_a_gap() {
    let gateway = Gateway::with(SETTINGS).await;
    gateway.start_writer();
    gateway.settled().await;
    let written = write(&gateway, "r1").await;
    gateway.written(&written).await;
    gateway.drained().await;
    let (listening, first) = Listening::open(&gateway, "").await;
    drop(listening);
    for wrong in ["7", "zz", &written, &first.id.replace('1', "2")] {
        let (mut listening, gap) = Listening::open(&gateway, wrong).await;
        assert_eq!(gap.event, "gap", "{wrong}");
        assert_eq!(gap.data["watermark"], written);
        assert!(
            gap.data["reason"].as_str().unwrap().starts_with("Last-Event-ID is not"),
            "{gap:?}"
        );
        assert!(listening.is_quiet().await);
    }
    let (_, again) = Listening::open(&gateway, &first.id).await;
    assert_eq!(again.event, "", "one that it knows is no gap");

    assert!(gateway.send("DELETE /v1/spaces/s", "").await.status.is_success());
    assert!(gateway.send("PUT /v1/spaces/s", "").await.status.is_success());
    let (_, gap) = Listening::open(&gateway, &first.id).await;
    assert_eq!(gap.event, "gap");
    assert_eq!(gap.data["reason"], "the space was deleted and created again since");
}

#[tokio::test]
async fn streams_are_limited_for_each_key_and_in_total() {
    let bounds = "streams_max = 2\nstreams_per_key_max = 1";
    let gateway = Gateway::with(&format!("{SETTINGS}\n{bounds}\n{KEYS}")).await;
    let open = async |key: &str| {
        let request = Request::get(EVENTS).header("authorization", format!("Bearer {key}"));
        gateway.response(request.body(Body::empty()).unwrap()).await
    };
    let held = open("one").await;
    assert_eq!(held.status(), StatusCode::OK);
    let refused = async |key: &str| {
        let bearer = format!("Bearer {key}");
        let headers = [("authorization", bearer.as_str())];
        gateway
            .send_with(&format!("GET {EVENTS}"), "", &headers)
            .await
            .problem()
    };
    let own = refused("one").await;
    assert!(own.starts_with("429 1 streams of events of this key are open"), "{own}");
    let other = open("two").await;
    assert_eq!(other.status(), StatusCode::OK);
    let all = refused("three").await;
    assert!(all.starts_with("429 2 streams of events are open"), "{all}");
    drop(held);
    assert_eq!(open("three").await.status(), StatusCode::OK);
}

#[tokio::test]
async fn a_stream_ends_when_the_server_stops() {
    let gateway = Gateway::with(SETTINGS).await;
    let (mut listening, _) = Listening::open(&gateway, "").await;
    assert!(listening.is_quiet().await);
    gateway.context.shutdown.cancel();
    listening.ends().await;
}

#[tokio::test]
async fn a_stream_ends_at_every_gateway_when_its_key_is_revoked() {
    let settings = format!("{SETTINGS}\n{}", access::KEYS);
    let gateway = Gateway::with(&settings).await;
    let another = gateway.another(&settings);
    let token = made(&gateway, key("assistant", &["s"], &["read"])).await;
    let (mut here, _) = Listening::open_as(&gateway, &token).await;
    let (mut there, _) = Listening::open_as(&another, &token).await;
    let (mut other, _) = Listening::open_as(&gateway, "reader").await;
    assert!(here.is_quiet().await && there.is_quiet().await, "the key is valid");
    let revoked = gateway.send_as("owner", "DELETE /v1/keys/assistant", "").await;
    assert_eq!(revoked.status, StatusCode::NO_CONTENT, "{revoked:?}");
    here.ends().await;
    there.ends().await;
    assert!(other.is_quiet().await, "the stream of another key continues");
}

#[tokio::test]
async fn a_stream_ends_when_its_key_expires() {
    let gateway = Gateway::with(&format!("{SETTINGS}\n{}", access::KEYS)).await;
    let mut new = key("assistant", &["s"], &["read"]);
    new["expires_at"] = json!((host::clock::now() + TimeDelta::seconds(4)).to_rfc3339());
    let token = made(&gateway, new).await;
    let (mut listening, _) = Listening::open_as(&gateway, &token).await;
    listening.ends().await;
}
