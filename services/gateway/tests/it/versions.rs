//! Versions of records: which content makes one, and lists of them; also while earlier versions are accepted and not
//! stored yet.

use axum::http::StatusCode;
use domain::id::{RecordId, SpaceId};
use domain::message::{Message, RecordsAcceptedV1};
use futures::StreamExt;
use futures::future::join_all;
use serde_json::{Value, json};

use crate::harness::{Gateway, Reply};
use crate::lists::walk;

/// The kind of the problem that a record exists although it must not.
const EXISTS: &str = "urn:mnemic:problem:record-exists";

/// Returns the item of the only record of an accepted request, as `id status`.
fn outcome(reply: &Reply) -> String {
    assert_eq!(reply.status, StatusCode::ACCEPTED, "{reply:?}");
    let item = &reply.json()["items"][0];
    format!("{} {}", item["id"].as_str().unwrap(), item["status"].as_str().unwrap())
}

async fn post(gateway: &Gateway, records: Value) {
    let body = json!({ "records": records }).to_string();
    let reply = gateway.send("POST /v1/spaces/s/records", &body).await;
    assert_eq!(reply.status, StatusCode::ACCEPTED, "{reply:?}");
}

/// Puts a record with this text; `headers` are further ones.
async fn put(gateway: &Gateway, id: &str, text: &str, headers: &[(&str, &str)]) -> Reply {
    let body = json!({"session": "m", "text": text}).to_string();
    let call = format!("PUT /v1/spaces/s/records/{id}");
    gateway.send_with(&call, &body, headers).await
}

/// The first batch is stored and the second one is not, so the newest versions are those of the second batch, although
/// the store holds older ones. The requests wait together until they give up waiting for it.
#[tokio::test]
async fn a_version_that_is_not_stored_yet_counts() {
    let gateway = Gateway::new().await;
    let stores = &gateway.context.backends;
    let mut deliveries = stores
        .bus
        .subscribe(RecordsAcceptedV1::SUBJECT, "writer")
        .await
        .unwrap();
    let record = |id: &str, text: &str| json!({"id": id, "session": "m", "text": text});
    post(&gateway, json!([record("a", "one"), record("b", "one")])).await;
    let delivery = deliveries.next().await.unwrap().unwrap();
    let batch: RecordsAcceptedV1 = serde_json::from_slice(&delivery.frame.payload).unwrap();
    stores.records.put(&batch.space, &batch.records).await.unwrap();
    stores
        .records
        .mark_written(&batch.space, delivery.position)
        .await
        .unwrap();
    delivery.settler.done().await.unwrap();
    let second = |of: &str| {
        let mut version = record(&format!("{of}#v2"), "two");
        version["version"] = json!({"of": of, "number": 2});
        version
    };
    post(
        &gateway,
        json!([second("a"), second("b"), record("c", "one"), record("e", "one")]),
    )
    .await;

    let (must_exist, must_be_absent) = ([("if-match", "*")], [("if-none-match", "*")]);
    let (a, b, c, d, same_e, other_e, later_b) = tokio::join!(
        put(&gateway, "a", "one", &[]),
        put(&gateway, "b", "two", &[]),
        put(&gateway, "c", "two", &must_exist),
        put(&gateway, "d", "two", &must_exist),
        put(&gateway, "e", "one", &must_be_absent),
        put(&gateway, "e", "two", &must_be_absent),
        put(&gateway, "b", "two", &must_be_absent),
    );
    assert_eq!(
        outcome(&a),
        "a#v3 accepted",
        "equal to the first version and not to the newest one"
    );
    assert_eq!(outcome(&b), "b#v2 duplicate");
    assert_eq!(outcome(&c), "c#v2 accepted");
    assert!(d.problem().starts_with("412 "), "{d:?}");
    assert_eq!(outcome(&same_e), "e duplicate", "equal content is the same write");
    for refused in [other_e, later_b] {
        assert_eq!(refused.json()["type"], EXISTS, "{refused:?}");
    }

    drop(deliveries);
    gateway.start_writer();
    gateway.drained().await;
    for (id, text) in [("a", "one"), ("b", "two"), ("c", "two"), ("e", "one")] {
        let newest = gateway.send(&format!("GET /v1/spaces/s/records/{id}"), "").await;
        assert_eq!(newest.json()["text"], text, "{newest:?}");
    }
}

/// Puts a record and waits until it is stored; returns its item as `id status`.
async fn put_stored(gateway: &Gateway, id: &str, record: &Value) -> String {
    let call = format!("PUT /v1/spaces/s/records/{id}");
    let reply = gateway.send(&call, &record.to_string()).await;
    gateway.written(reply.json()["watermark"].as_str().unwrap()).await;
    outcome(&reply)
}

#[tokio::test]
async fn a_record_that_must_not_exist_is_only_created() {
    let gateway = Gateway::new().await;
    gateway.start_writer();
    let must_be_absent = [("if-none-match", "*")];
    let created = put(&gateway, "a", "one", &must_be_absent).await;
    assert_eq!(outcome(&created), "a accepted");
    gateway.written(created.json()["watermark"].as_str().unwrap()).await;
    for text in ["one", "two"] {
        let refused = put(&gateway, "a", text, &must_be_absent).await;
        assert!(
            refused.problem().starts_with("412 the record `a` exists already"),
            "{refused:?}"
        );
        assert_eq!(refused.json()["type"], EXISTS);
    }
    assert_eq!(walk(&gateway, "/v1/spaces/s/records/a/versions", "id").await, ["a"]);
    for headers in [
        &[("if-none-match", "\"7\"")][..],
        &[("if-match", "*"), ("if-none-match", "*")][..],
    ] {
        let refused = put(&gateway, "a", "two", headers).await;
        assert!(refused.problem().starts_with("422 If-None-Match: "), "{refused:?}");
    }
    let second = put_stored(&gateway, "a", &json!({"text": "two"})).await;
    assert_eq!(second, "a#v2 accepted", "without a condition");

    let erased = gateway.send("DELETE /v1/spaces/s/records/a", "").await;
    gateway.written(erased.json()["watermark"].as_str().unwrap()).await;
    assert_eq!(
        outcome(&put(&gateway, "a", "three", &must_be_absent).await),
        "a accepted"
    );
}

/// Whichever order the requests run in, the claim of the id goes to one of them. In the second part, another request
/// has claimed the id and published nothing yet.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_concurrent_requests_only_one_creates_a_record_that_must_not_exist() {
    let gateway = Gateway::new().await;
    gateway.start_writer();
    let must_be_absent = [("if-none-match", "*")];
    let texts = ["one", "two", "three", "four"];
    let replies = join_all(texts.map(|it| put(&gateway, "a", it, &must_be_absent))).await;
    let (created, refused): (Vec<Reply>, Vec<Reply>) =
        replies.into_iter().partition(|it| it.status == StatusCode::ACCEPTED);
    assert_eq!(created.len(), 1, "{created:?}");
    assert_eq!(outcome(&created[0]), "a accepted");
    assert!(refused.iter().all(|it| it.json()["type"] == EXISTS), "{refused:?}");

    let space: SpaceId = "s".parse().unwrap();
    let claim = (RecordId::from_external_id(&space, "b"), [1; 32]);
    gateway.context.backends.records.claim(&space, &[claim]).await.unwrap();
    let refused = put(&gateway, "b", "one", &must_be_absent).await;
    assert_eq!(refused.json()["type"], EXISTS, "{refused:?}");
    assert_eq!(outcome(&put(&gateway, "b", "one", &[]).await), "b#v2 accepted");
}

#[tokio::test]
async fn equal_content_makes_no_version() {
    let gateway = Gateway::new().await;
    gateway.start_writer();
    let tool = |result: &str| json!({"tool": {"name": "ls", "arguments": {"b": 1, "a": [2]}, "result": result}});
    let block = "Hi. <mnemic-memory 0123456789abcdef>A line.</mnemic-memory 0123456789abcdef>";
    for (id, record, other) in [
        ("text", json!({"text": "hi", "session": "m"}), json!({"text": "ho"})),
        ("tool", tool("x"), tool("y")),
        ("block", json!({"text": block}), json!({"text": "Hi. A line."})),
        (
            "modality",
            json!({"text": "hi", "modality": "visual"}),
            json!({"text": "hi", "modality": "text"}),
        ),
    ] {
        assert_eq!(put_stored(&gateway, id, &record).await, format!("{id} accepted"));
        assert_eq!(put_stored(&gateway, id, &record).await, format!("{id} duplicate"));
        let mut invalid = record.clone();
        invalid["colour"] = json!(1);
        let (put, invalid) = (format!("PUT /v1/spaces/s/records/{id}"), invalid.to_string());
        let reply = gateway.send(&put, &invalid).await;
        assert!(reply.problem().starts_with("422 "), "{id}");
        assert_eq!(put_stored(&gateway, id, &other).await, format!("{id}#v2 accepted"));
    }
    let seen = json!({"text": "hi", "modality": "visual"});
    assert_eq!(put_stored(&gateway, "seen", &seen).await, "seen accepted");
    let without_modality = json!({"text": "hi"});
    assert_eq!(put_stored(&gateway, "seen", &without_modality).await, "seen duplicate");
}

#[tokio::test]
async fn a_record_with_the_longest_id_gets_versions() {
    let gateway = Gateway::new().await;
    gateway.start_writer();
    let id = "a".repeat(256);
    put_stored(&gateway, &id, &json!({"text": "one"})).await;
    let second = put_stored(&gateway, &id, &json!({"text": "two"})).await;
    assert_eq!(second, format!("{id}#v2 accepted"));
    let newest = gateway.send(&format!("GET /v1/spaces/s/records/{id}"), "").await;
    assert_eq!(newest.json()["text"], "two");
}

#[tokio::test]
async fn a_list_of_versions_ends_at_4_mib_and_continues() {
    let gateway = Gateway::new().await;
    gateway.start_writer();
    for letter in ["a", "b", "c", "d", "e", "f"] {
        put_stored(&gateway, "long", &json!({"text": letter.repeat(1 << 20)})).await;
    }
    let list = "/v1/spaces/s/records/long/versions";
    let ids = |page: &Value| -> Vec<String> {
        let items = page["items"].as_array().unwrap().iter();
        items.map(|it| it["id"].as_str().unwrap().to_owned()).collect()
    };
    let first = gateway.send(&format!("GET {list}"), "").await.json();
    assert_eq!(ids(&first), ["long", "long#v2", "long#v3", "long#v4"]);
    let after = first["next"].as_str().unwrap();
    let last = gateway.send(&format!("GET {list}?after={after}"), "").await.json();
    assert_eq!(ids(&last), ["long#v5", "long#v6"]);
    assert!(last.get("next").is_none());
    let all = walk(&gateway, list, "id").await;
    assert_eq!(all, [ids(&first), ids(&last)].concat());
    let other = format!("GET /v1/spaces/s/records/other/versions?after={after}");
    let refused = gateway.send(&other, "").await.problem();
    assert!(refused.starts_with("422 after: must be the `next`"), "{refused}");
}

#[tokio::test]
async fn the_newest_version_is_returned_after_others_were_erased() {
    let gateway = Gateway::new().await;
    gateway.start_writer();
    for text in ["one", "two", "three", "four"] {
        put_stored(&gateway, "a", &json!({"text": text})).await;
    }
    for (erased, newest) in [("a", "a#v4"), ("a#v4", "a#v3"), ("a#v2", "a#v3")] {
        let act = json!({"act": {"kind": "erase_record", "record": erased}});
        let reply = gateway.send("POST /v1/spaces/s/curations", &act.to_string()).await;
        gateway.written(reply.json()["watermark"].as_str().unwrap()).await;
        let found = gateway.send("GET /v1/spaces/s/records/a", "").await;
        assert_eq!(found.json()["id"], newest, "{found:?}");
    }
    assert_eq!(walk(&gateway, "/v1/spaces/s/records/a/versions", "id").await, ["a#v3"]);
    let next = put_stored(&gateway, "a", &json!({"text": "five"})).await;
    assert_eq!(next, "a#v4 accepted");
}

/// Release 0.1.0 accepted every id, also those that versions have now.
#[tokio::test]
async fn a_record_of_release_0_1_0_with_the_id_of_a_version_is_not_erased_with_the_versions() {
    let gateway = Gateway::new().await;
    gateway.start_writer();
    put_stored(&gateway, "a", &json!({"text": "one"})).await;
    let records = &gateway.context.backends.records;
    let space: SpaceId = "s".parse().unwrap();
    let older = fixtures::sample_record(&space, "a#v2");
    records.claim(&space, &[(older.id, [1; 32])]).await.unwrap();
    records.put(&space, std::slice::from_ref(&older)).await.unwrap();
    assert_eq!(
        put_stored(&gateway, "a", &json!({"text": "two"})).await,
        "a#v3 accepted"
    );
    let reply = gateway.send("DELETE /v1/spaces/s/records/a", "").await;
    gateway.written(reply.json()["watermark"].as_str().unwrap()).await;
    let (left, _) = records.list(&space, 0, 9).await.unwrap();
    assert_eq!(left, [older]);
}
