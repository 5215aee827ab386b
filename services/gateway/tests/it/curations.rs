use axum::http::StatusCode;
use domain::curation::Curation;
use domain::derived::Derived;
use domain::fact::Fact;
use domain::id::{RecordId, SpaceId, UnitId};
use domain::port::Position;
use serde_json::{Value, json};

use crate::harness::{Gateway, Reply};
use crate::lists::walk;

const ACTS: &str = "POST /v1/spaces/s/curations";

/// Returns a gateway with a writer, the record `a`, a unit of it and a fact.
async fn stocked() -> (Gateway, UnitId, Fact) {
    let gateway = Gateway::new().await;
    gateway.start_writer();
    gateway.settled().await;
    let body = r#"{"records":[{"id":"a","text":"I live in Oslo.","observed_at":"2026-01-01"}]}"#;
    let mark = gateway.send("POST /v1/spaces/s/records", body).await.json();
    gateway.written(mark["watermark"].as_str().unwrap()).await;
    let space: SpaceId = "s".parse().unwrap();
    let record = RecordId::from_external_id(&space, "a");
    let unit = UnitId::of_turn(record);
    let value = json!({"id": unit, "grain": "turn", "session": record, "records": [record], "external_ids": ["a"],
        "observed_at": "2026-01-01T00:00:00Z", "ordinal": 0, "modality": "text", "actor": "", "text": "x", "summary": "x",
        "derived_by": "test", "confidence": 1.0});
    let units = [serde_json::from_value(value).unwrap()];
    let graph = &gateway.context.backends.graph;
    graph.put_units(&space, &units, &[]).await.unwrap();
    let instant = domain::time::TimeSpan::from_instant("2026-01-01T00:00:00Z".parse().unwrap());
    let fact = json!({"id": unit, "subject": "Ann", "predicate": "lives in", "object": "Oslo", "aspect": "place",
        "valid_from": instant, "recorded_at": "2026-01-01T00:00:00Z", "source": unit, "confidence": 0.9});
    let fact: Fact = serde_json::from_value(fact).unwrap();
    graph
        .put_derived(&space, &[Derived::Fact(fact.clone())], &[])
        .await
        .unwrap();
    (gateway, unit, fact)
}

async fn done(gateway: &Gateway, body: &Value) -> Value {
    let reply: Reply = gateway.send(ACTS, &body.to_string()).await;
    assert_eq!(reply.status, StatusCode::ACCEPTED, "{reply:?}");
    let curated = reply.json();
    gateway.written(curated["watermark"].as_str().unwrap()).await;
    curated["curation"].clone()
}

#[tokio::test]
async fn acts_are_kept_and_listed() {
    let (gateway, unit, fact) = stocked().await;
    let correct = json!({"id": "fix", "act": {"kind": "correct_fact", "fact": fact.id, "object": " Porto "}, "reason": "misheard"});
    let first = done(&gateway, &correct).await;
    assert_eq!(
        first["act"],
        json!({"kind": "correct_fact", "fact": fact.id, "object": "Porto"})
    );
    assert_eq!((&first["by"], &first["reason"]), (&json!(""), &json!("misheard")));
    for act in [
        json!({"kind": "retire_fact", "fact": fact.id}),
        json!({"kind": "pin_unit", "unit": unit}),
        json!({"kind": "forget_unit", "unit": unit}),
        json!({"kind": "undo", "curation": "fix"}),
        json!({"kind": "undo", "curation": first["id"]}),
        json!({"kind": "erase_record", "record": "a"}),
    ] {
        done(&gateway, &json!({"act": act})).await;
    }
    assert_eq!(walk(&gateway, "/v1/spaces/s/curations", "id").await.len(), 7);
    for id in ["fix", first["id"].as_str().unwrap()] {
        let one = gateway
            .send(&format!("GET /v1/spaces/s/curations/{id}"), "")
            .await
            .json();
        assert_eq!(one, first);
    }
    let none = gateway.send("GET /v1/spaces/s/curations/nothing", "").await.problem();
    assert!(none.starts_with("404 there is no act with this id"), "{none}");
}

#[tokio::test]
async fn an_id_identifies_one_act() {
    let (gateway, unit, _) = stocked().await;
    let pin = json!({"id": "p", "act": {"kind": "pin_unit", "unit": unit}});
    let first = done(&gateway, &pin).await;
    assert_eq!(done(&gateway, &pin).await, first, "it is done once");
    let other = json!({"id": "p", "act": {"kind": "forget_unit", "unit": unit}});
    let conflict = gateway.send(ACTS, &other.to_string()).await.problem();
    assert!(conflict.starts_with("409 the id belongs to another act"), "{conflict}");
    let keyed = json!({"act": {"kind": "pin_unit", "unit": unit}}).to_string();
    for expected in [2, 2] {
        let reply = gateway.send_with(ACTS, &keyed, &[("idempotency-key", "k")]).await;
        gateway.written(reply.json()["watermark"].as_str().unwrap()).await;
        assert_eq!(walk(&gateway, "/v1/spaces/s/curations", "id").await.len(), expected);
    }
    // Without an id and a key, each request is a new act.
    done(&gateway, &json!({"act": {"kind": "pin_unit", "unit": unit}})).await;
    done(&gateway, &json!({"act": {"kind": "pin_unit", "unit": unit}})).await;
    assert_eq!(walk(&gateway, "/v1/spaces/s/curations", "id").await.len(), 4);
}

/// The key identifies a request, whatever id the act has.
#[tokio::test]
async fn an_idempotency_key_identifies_one_request() {
    let (gateway, unit, _) = stocked().await;
    let send = async |key: &str, body: Value| {
        let reply = gateway
            .send_with(ACTS, &body.to_string(), &[("idempotency-key", key)])
            .await;
        match reply.status {
            StatusCode::ACCEPTED => "202".to_owned(),
            _ => reply.problem(),
        }
    };
    let pin = json!({"kind": "pin_unit", "unit": unit});
    let forget = json!({"kind": "forget_unit", "unit": unit});
    let used = "422 this Idempotency-Key was used for another request; use a different key for each request";
    for (key, body, expected) in [
        ("k", json!({"act": pin}), "202"),
        ("k", json!({"act": pin}), "202"),
        ("k", json!({"act": forget}), used),
        ("k", json!({"id": "a", "act": pin}), used),
        ("l", json!({"id": "a", "act": pin}), "202"),
        ("l", json!({"id": "b", "act": pin}), used),
        ("m", json!({"id": "b", "act": forget}), "202"),
        // A failed request does not use up its key.
        ("n", json!({"act": {"kind": "undo", "curation": "nothing"}}), "404"),
        ("n", json!({"act": pin}), "202"),
    ] {
        let response = send(key, body.clone()).await;
        assert!(response.starts_with(expected), "{key} {body}: {response}");
    }
    let batch = r#"{"records":[{"text":"ok"}]}"#;
    let reply = gateway
        .send_with("POST /v1/spaces/s/records", batch, &[("idempotency-key", "k")])
        .await;
    assert_eq!(
        reply.status,
        StatusCode::ACCEPTED,
        "the keys of batches are separate from those of single acts"
    );
}

#[tokio::test]
async fn an_erasure_cannot_be_undone() {
    let (gateway, ..) = stocked().await;
    let reply = gateway.send("DELETE /v1/spaces/s/records/a", "").await;
    assert_eq!(reply.status, StatusCode::ACCEPTED, "{reply:?}");
    let body = reply.json();
    gateway.written(body["watermark"].as_str().unwrap()).await;
    assert_eq!(body["curation"]["act"]["kind"], "erase_record");
    let undo = json!({"act": {"kind": "undo", "curation": body["curation"]["id"]}}).to_string();
    let problem = gateway.send(ACTS, &undo).await.problem();
    assert!(problem.starts_with("409 an erasure cannot be undone"), "{problem}");
}

/// A repeated erasure returns the result of the first one at any state of the memory, and erases no later records.
#[tokio::test]
async fn a_repeated_erasure_returns_the_first_result() {
    let gateway = Gateway::new().await;
    let records = gateway.context.backends.records.clone();
    let space: SpaceId = "s".parse().unwrap();
    let send = async |id: &str| {
        let body = json!({"records": [{"id": id, "text": "I live in Oslo.", "observed_at": "2026-01-01"}]});
        let sent = gateway.send("POST /v1/spaces/s/records", &body.to_string()).await;
        sent.json()["watermark"].as_str().unwrap().to_owned()
    };
    let record = serde_json::from_value(
        json!({"id": RecordId::from_external_id(&space, "a"), "space": "s", "external_id": "a",
        "session": RecordId::from_external_id(&space, "a"), "session_name": "", "ordinal": 0, "modality": "text", "actor": "",
        "text": "I live in Oslo.", "observed_at": "2026-01-01T00:00:00Z"}),
    );
    records.put(&space, &[record.unwrap()]).await.unwrap();
    let erase = json!({"id": "e", "act": {"kind": "erase_record", "record": "a"}});
    let erased = async || gateway.send(ACTS, &erase.to_string()).await.json();
    let first = erased().await;
    send("b").await;
    // The act is stored and not applied, as if the writer had stopped there.
    let curation: Curation = serde_json::from_value(first["curation"].clone()).unwrap();
    records.put_curations(&space, Position(1), &[curation]).await.unwrap();
    records.mark_written(&space, Position(2)).await.unwrap();
    assert_eq!(erased().await, first, "not the newest one, which is reached");
    gateway.start_writer();
    gateway.written(first["watermark"].as_str().unwrap()).await;

    let anew = send("a").await;
    gateway.written(&anew).await;
    assert_eq!(erased().await, first);
    gateway.written(&send("c").await).await;
    assert_eq!(walk(&gateway, "/v1/spaces/s/records", "id").await.len(), 3);
}

#[tokio::test]
async fn invalid_decisions_are_a_problem() {
    let (gateway, _, fact) = stocked().await;
    let nothing = "00000000-0000-0000-0000-000000000001";
    for (act, expected) in [
        (
            json!({"kind": "correct_fact", "fact": nothing, "object": "x"}),
            "404 there is no fact with this id in `s`; use an id from its facts",
        ),
        (
            json!({"kind": "retire_fact", "fact": nothing}),
            "404 there is no fact with this id",
        ),
        (
            json!({"kind": "undo_merge", "merge": fact.id}),
            "404 there is no merge with this id",
        ),
        (
            json!({"kind": "undo_label", "topic": nothing}),
            "404 there is no topic with this id",
        ),
        (
            json!({"kind": "undo_summary", "page": nothing}),
            "404 there is no page with this id",
        ),
        (
            json!({"kind": "pin_unit", "unit": nothing}),
            "404 there is no unit with this id",
        ),
        (
            json!({"kind": "forget_unit", "unit": nothing}),
            "404 there is no unit with this id",
        ),
        (
            json!({"kind": "erase_record", "record": "b"}),
            "404 there is no record with this id; if it was accepted just now",
        ),
        (
            json!({"kind": "undo", "curation": "b"}),
            "404 there is no act with this id; see the list of curations",
        ),
    ] {
        let problem = gateway.send(ACTS, &json!({"act": act}).to_string()).await.problem();
        assert!(problem.starts_with(expected), "{act}: {problem}");
    }
}

#[tokio::test]
async fn an_unreadable_act_is_a_problem() {
    let (gateway, unit, fact) = stocked().await;
    for (act, expected) in [
        (
            json!({"kind": "correct_fact", "fact": fact.id, "object": " "}),
            "422 act.object: is empty; use `retire_fact`",
        ),
        (
            json!({"kind": "correct_fact", "fact": fact.id, "object": "a\u{1}"}),
            "422 act.object: holds the control character",
        ),
        (
            json!({"kind": "correct_fact", "fact": fact.id, "object": "x".repeat(2_000)}),
            "422 act.object: has 2000 bytes",
        ),
        (
            json!({"kind": "correct_fact", "fact": fact.id}),
            "422 act: missing field `object`",
        ),
        (
            json!({"kind": "pin_unit", "unit": unit, "colour": "red"}),
            "422 act: unknown field `colour`",
        ),
        (
            json!({"kind": "forget_everything"}),
            "422 act.kind: unknown variant `forget_everything`, expected one of `correct_fact`",
        ),
        (
            json!({"kind": "retire_fact", "fact": "x"}),
            "422 act: UUID parsing failed",
        ),
        (
            json!({"kind": "erase_record", "record": ""}),
            "422 act.record: is empty",
        ),
    ] {
        let problem = gateway.send(ACTS, &json!({"act": act}).to_string()).await.problem();
        assert!(problem.starts_with(expected), "{act}: {problem}");
    }
    let long = json!({"act": {"kind": "pin_unit", "unit": unit}, "reason": "x".repeat(2_000)});
    let problem = gateway.send(ACTS, &long.to_string()).await.problem();
    assert!(problem.starts_with("422 reason: has 2000 bytes"), "{problem}");
}

#[tokio::test]
async fn an_erasure_reaches_every_version_of_a_record() {
    let (gateway, ..) = stocked().await;
    let space: SpaceId = "s".parse().unwrap();
    let first = RecordId::from_external_id(&space, "a");
    let update = json!({"text": "I live in Bergen.", "observed_at": "2026-01-02"}).to_string();
    for (call, body) in [
        ("PUT /v1/spaces/s/records/a".to_owned(), update.as_str()),
        (format!("DELETE /v1/spaces/s/records/{first}"), ""),
        ("DELETE /v1/spaces/s/records/a".to_owned(), ""),
    ] {
        let reply = gateway.send(&call, body).await;
        assert_eq!(reply.status, StatusCode::ACCEPTED, "{call}: {reply:?}");
        gateway.written(reply.json()["watermark"].as_str().unwrap()).await;
    }
    let versions = gateway.send("GET /v1/spaces/s/records/a/versions", "").await;
    assert_eq!(versions.status, StatusCode::NOT_FOUND, "{versions:?}");

    // Without a writer, a record is accepted and not stored.
    let gateway = Gateway::new().await;
    let body = r#"{"records":[{"id":"a","text":"I live in Oslo."}]}"#;
    gateway.send("POST /v1/spaces/s/records", body).await;
    let reply = gateway.send("DELETE /v1/spaces/s/records/a", "").await;
    assert_eq!(reply.status, StatusCode::ACCEPTED, "{reply:?}");
    assert_eq!(reply.json()["curation"]["act"]["record"], json!(first));
}
