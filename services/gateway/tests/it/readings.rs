//! Readings over HTTP: list, import into another space, and requests for unread records.

mod backfill;
mod portable;

use axum::http::StatusCode;
use chrono::{DateTime, TimeDelta, Utc};
use domain::erasure::{ErasureKind, Receipt};
use domain::id::{ErasureId, ReadingId, RecordId, SessionId, SpaceId};
use domain::port::{ModelCost, Position, Usage};
use domain::reading::{GistRef, LeftOut, Reading, ReadingKind, ReadingOutcome};
use domain::record::Record;
use fixtures::{sample_reading, sample_record};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::access::KEYS;
use crate::harness::Gateway;
use crate::lists::walk;

/// Session and text of the records of [`fill`].
const SESSION: &str = "monday";
const TEXT: &str = "I moved to Oslo.";

fn space(name: &str) -> SpaceId {
    name.parse().unwrap()
}

fn record(space: &SpaceId, session: &str, id: &str) -> Record {
    Record {
        session: SessionId::from_name(space, session),
        session_name: session.to_owned(),
        actor: "Ann".to_owned(),
        text: TEXT.to_owned(),
        observed_at: "2026-03-01T12:00:00Z".parse().unwrap(),
        ..sample_record(space, id)
    }
}

/// Stores the records `ids` of a session; the space may be new.
async fn fill(gateway: &Gateway, space: &SpaceId, session: &str, ids: &[&str]) {
    let records = &gateway.context.backends.records;
    records.create_space(space, host::clock::now()).await.unwrap();
    let all: Vec<Record> = ids.iter().map(|id| record(space, session, id)).collect();
    records.put(space, &all).await.unwrap();
}

/// Returns a reading of the records `ids` of [`SESSION`].
fn reading(space: &SpaceId, ids: &[&str]) -> Reading {
    let records: Vec<RecordId> = ids.iter().map(|id| RecordId::from_external_id(space, id)).collect();
    let first = records[0];
    Reading {
        session: SessionId::from_name(space, SESSION),
        records,
        digest: "ab".repeat(32),
        prompt: "read/1".to_owned(),
        model: "model-1".to_owned(),
        at: noon(),
        output: "{\"gists\": [\"Zoë 文\"]}".to_owned(),
        outcome: ReadingOutcome {
            gists: 3,
            facts: 2,
            relations: 1,
            events: 0,
            left_out: vec![LeftOut {
                what: "\"Zoë\"".to_owned(),
                why: "no line".to_owned(),
            }],
            waits_for_second_look: false,
        },
        spent: ModelCost {
            calls: 1,
            usage: Usage {
                prompt_tokens: 1_000,
                completion_tokens: 10,
            },
            ms: 1.5,
        },
        ..sample_reading(space, first)
    }
}

fn failed(space: &SpaceId, ids: &[&str]) -> Reading {
    Reading {
        output: String::new(),
        failure: Some("the model does not answer".to_owned()),
        outcome: ReadingOutcome::default(),
        ..reading(space, ids)
    }
}

fn noon() -> DateTime<Utc> {
    "2026-03-02T12:00:00Z".parse().unwrap()
}

async fn put(gateway: &Gateway, space: &SpaceId, readings: &[Reading]) {
    let stored = gateway.context.backends.readings.put(space, readings).await.unwrap();
    assert_eq!(stored.len(), readings.len(), "a record is missing");
}

async fn get(gateway: &Gateway, path: &str) -> Value {
    let reply = gateway.send(&format!("GET {path}"), "").await;
    assert_eq!(reply.status, StatusCode::OK, "{path}: {reply:?}");
    reply.json()
}

#[tokio::test]
async fn a_reading_is_listed_with_the_callers_ids_and_its_outcome() {
    let (gateway, s) = (Gateway::new().await, space("s"));
    fill(&gateway, &s, SESSION, &["b", "a"]).await;
    let one = reading(&s, &["b", "a"]);
    put(&gateway, &s, std::slice::from_ref(&one)).await;
    let expected = json!({"id": one.id, "kind": "passage", "session": one.session, "records": ["b", "a"], "prompt": "read/1",
        "model": "model-1", "at": "2026-03-02T12:00:00Z", "state": "done",
        "outcome": {"gists": 3, "facts": 2, "relations": 1, "left_out": [{"what": "\"Zoë\"", "why": "no line"}]},
        "cost": {"model_calls": 1, "usage": {"prompt_tokens": 1_000, "completion_tokens": 10}, "model_ms": 1.5}});
    let page = get(&gateway, "/v1/spaces/s/readings").await;
    assert_eq!(page["items"], json!([expected]), "without the reply of the model");
    assert_eq!(page["next"], Value::Null);

    let mut whole = expected;
    whole["output"] = json!(one.output);
    assert_eq!(
        get(&gateway, "/v1/spaces/s/readings?output=true").await["items"],
        json!([whole])
    );
    assert_eq!(get(&gateway, &format!("/v1/spaces/s/readings/{}", one.id)).await, whole);
    for id in [
        "x".to_owned(),
        ReadingId::of_passage(RecordId::from_external_id(&s, "a")).to_string(),
    ] {
        let reply = gateway.send(&format!("GET /v1/spaces/s/readings/{id}"), "").await;
        assert!(
            reply.problem().starts_with("404 there is no reading with this id"),
            "{reply:?}"
        );
    }
}

#[tokio::test]
async fn failed_readings_are_listed_with_their_reasons_and_counted_separately() {
    let (gateway, s) = (Gateway::new().await, space("s"));
    fill(&gateway, &s, SESSION, &["1", "2", "3"]).await;
    let empty = get(&gateway, "/v1/spaces/s/readings").await;
    assert_eq!((&empty["items"], &empty["summary"]["done"]), (&json!([]), &json!(0)));
    let today = Reading {
        at: host::clock::now(),
        ..reading(&s, &["3"])
    };
    put(&gateway, &s, &[failed(&s, &["1"]), reading(&s, &["2"]), today]).await;
    let sessions = ["monday", "tuesday"].map(|it| SessionId::from_name(&s, it));
    let later = host::clock::now() + TimeDelta::hours(1);
    let readings = &gateway.context.backends.readings;
    readings.schedule_sessions(&s, &sessions, later, later).await.unwrap();

    let page = get(&gateway, "/v1/spaces/s/readings").await;
    let first = page["items"]
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["records"][0] == "1");
    let first = first.unwrap();
    assert_eq!(first["state"], "failed");
    assert_eq!(first["reason"], "the model does not answer");
    assert_eq!(first["outcome"]["gists"], 0);
    let summary = &page["summary"];
    assert_eq!(
        (&summary["waiting_sessions"], &summary["done"], &summary["failed"]),
        (&json!(2), &json!(2), &json!(1)),
        "{summary}"
    );
    let cost = |of: &str| {
        (
            summary[of]["model_calls"].clone(),
            summary[of]["usage"]["prompt_tokens"].clone(),
        )
    };
    assert_eq!(cost("cost"), (json!(3), json!(3_000)));
    assert_eq!(cost("cost_today"), (json!(1), json!(1_000)));
}

#[tokio::test]
async fn readings_are_listed_page_by_page() {
    let (gateway, s) = (Gateway::new().await, space("s"));
    let ids = ["1", "2", "3", "4", "5"];
    fill(&gateway, &s, SESSION, &ids).await;
    let all: Vec<Reading> = ids.iter().map(|id| reading(&s, &[*id])).collect();
    put(&gateway, &s, &all).await;
    let mut expected: Vec<String> = all.iter().map(|it| it.id.to_string()).collect();
    expected.sort();
    assert_eq!(walk(&gateway, "/v1/spaces/s/readings", "id").await, expected);
    assert_eq!(
        walk(&gateway, "/v1/spaces/s/readings?portable=true", "session").await,
        [SESSION; 5]
    );
    let page = get(&gateway, "/v1/spaces/s/readings?limit=2").await;
    let next = page["next"].as_str().unwrap();
    for (query, problem) in [
        (
            format!("output=true&after={next}"),
            "422 after: must be the `next` of a page",
        ),
        ("limit=0".to_owned(), "422 limit: must be 1 to 1000"),
        ("colour=red".to_owned(), "422 colour: unknown field `colour`"),
    ] {
        let reply = gateway.send(&format!("GET /v1/spaces/s/readings?{query}"), "").await;
        assert!(reply.problem().starts_with(problem), "{reply:?}");
    }
}

/// A model may write replies of any length; the page still ends at its size limit.
#[tokio::test]
async fn a_page_of_long_replies_ends_at_its_size_limit() {
    let (gateway, s) = (Gateway::new().await, space("s"));
    let ids: Vec<String> = (0..60).map(|it| it.to_string()).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    fill(&gateway, &s, SESSION, &ids).await;
    let long = |id: &&str| Reading {
        output: "x".repeat(100_000),
        ..reading(&s, &[*id])
    };
    let all: Vec<Reading> = ids.iter().map(long).collect();
    put(&gateway, &s, &all).await;
    let reply = gateway
        .send("GET /v1/spaces/s/readings?output=true&limit=1000", "")
        .await;
    let count = reply.json()["items"].as_array().unwrap().len();
    assert!(count < 60 && reply.text.len() < (4 << 20) + 200_000, "{count} readings");
    assert!(reply.json()["next"].is_string());
    let short = get(&gateway, "/v1/spaces/s/readings?limit=1000").await;
    assert_eq!(
        short["items"].as_array().unwrap().len(),
        60,
        "replies are not counted where they are not shown"
    );
}

#[tokio::test]
async fn readings_can_be_read_written_and_requested_according_to_the_rights_of_the_key() {
    let (gateway, s) = (Gateway::with(KEYS).await, space("s"));
    fill(&gateway, &s, SESSION, &["1"]).await;
    put(&gateway, &s, &[reading(&s, &["1"])]).await;
    fill(&gateway, &space("other"), SESSION, &["1"]).await;
    let one = format!("/v1/spaces/s/readings/{}", reading(&s, &["1"]).id);
    let items = gateway
        .send_with(
            "GET /v1/spaces/s/readings?portable=true",
            "",
            &[("authorization", "Bearer reader")],
        )
        .await
        .json()["items"]
        .clone();
    let import = json!({ "items": items }).to_string();
    for (key, call, body, status) in [
        ("reader", "GET /v1/spaces/s/readings", "", 200),
        ("reader", &format!("GET {one}"), "", 200),
        ("reader", "POST /v1/spaces/s/readings", "{}", 403),
        ("reader", "PUT /v1/spaces/s/readings", &import, 403),
        ("writer", "PUT /v1/spaces/s/readings", &import, 200),
        ("writer", "POST /v1/spaces/s/readings", r#"{"dry_run": true}"#, 403),
        ("owner", "POST /v1/spaces/s/readings", r#"{"dry_run": true}"#, 200),
        ("owner", "POST /v1/spaces/s/readings", "{}", 202),
        ("reader", "GET /v1/spaces/other/readings", "", 404),
        ("writer", "PUT /v1/spaces/other/readings", &import, 404),
        ("writer", "POST /v1/spaces/other/readings", "{}", 404),
        ("owner", &format!("GET {}", one.replace("/s/", "/other/")), "", 404),
        ("", "GET /v1/spaces/s/readings", "", 401),
    ] {
        let bearer = format!("Bearer {key}");
        let headers = [("authorization", bearer.as_str())];
        let headers = if key.is_empty() { &[] } else { &headers[..] };
        let reply = gateway.send_with(call, body, headers).await;
        assert_eq!(reply.status.as_u16(), status, "{key} {call}: {reply:?}");
    }
    let waiting = gateway
        .context
        .backends
        .readings
        .count_scheduled_sessions(&space("other"))
        .await
        .unwrap();
    assert_eq!(waiting, 0);
}

/// A record that was stored without an accepted batch does not count as accepted again.
#[tokio::test]
async fn the_check_of_an_erasure_counts_readings_of_erased_records() {
    let (gateway, s) = (Gateway::new().await, space("s"));
    let stores = &gateway.context.backends;
    fill(&gateway, &s, SESSION, &["1", "2"]).await;
    let shown = Reading {
        beside: vec![RecordId::from_external_id(&s, "1")],
        earlier: vec![GistRef {
            first: RecordId::from_external_id(&s, "1"),
            number: 0,
        }],
        ..reading(&s, &["2"])
    };
    put(&gateway, &s, &[reading(&s, &["1"]), shown]).await;
    let receipt = Receipt {
        id: ErasureId::from_uuid(Uuid::from_u128(1)),
        space: s.clone(),
        created_at: host::clock::now(),
        kind: ErasureKind::Records,
        by: String::new(),
        requested_at: host::clock::now(),
        completed_at: None,
        position: Position(1_000_000),
        records: vec![RecordId::from_external_id(&s, "1")],
        sessions: Vec::new(),
        erased: [("records".to_owned(), 1)].into(),
    };
    stores.receipts.put_receipt(&receipt).await.unwrap();
    let call = format!("POST /v1/spaces/s/erasures/{}/check", receipt.id);
    let check = gateway.send(&call, "").await.json();
    assert_eq!(check["stores"][0]["found"]["readings"], 2, "{check}");

    stores.records.erase(&s, &receipt.records).await.unwrap();
    let check = gateway.send(&call, "").await.json();
    assert_eq!(check["stores"][0]["found"]["readings"], 0, "{check}");
    assert_eq!(check["stores"][0]["outcome"], "absent", "{check}");
    assert_eq!(get(&gateway, "/v1/spaces/s/readings").await["items"], json!([]));
}
