//! An `Idempotency-Key` belongs to one request, at every gateway over one store.

use axum::body::{Body, to_bytes};
use axum::http::Request;
use chrono::{TimeDelta, Utc};
use domain::port::Hold;
use futures::future::join_all;
use host::{Context, clock};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tower::ServiceExt;

use crate::harness::Gateway;
use crate::records::RECORDS;

/// Returns two gateways over one store.
async fn two(dir: &tempfile::TempDir) -> (Context, [axum::Router; 2]) {
    let context = Context::embedded_with_defaults(dir.path()).await.unwrap();
    let space = "s".parse().unwrap();
    context
        .backends
        .records
        .create_space(&space, clock::now())
        .await
        .unwrap();
    let routers = [(); 2].map(|()| gateway::build_router(context.clone()).unwrap());
    (context, routers)
}

async fn send(router: &axum::Router, path: &str, key: &str, body: &Value) -> (u16, String, String) {
    let request = Request::post(format!("/v1/spaces/s/{path}"))
        .header("content-type", "application/json")
        .header("idempotency-key", key);
    let request = request.body(Body::from(body.to_string())).unwrap();
    let response = router.clone().oneshot(request).await.unwrap();
    let status = response.status().as_u16();
    let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    let body: Value = serde_json::from_str(&text).unwrap();
    (status, body["type"].as_str().unwrap_or_default().to_owned(), text)
}

const REUSED: &str = "urn:mnemic:problem:idempotency-key-reused";
const IN_FLIGHT: &str = "urn:mnemic:problem:idempotency-key-in-flight";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_one_of_several_concurrent_requests_with_one_key_is_accepted() {
    let dir = tempfile::tempdir().unwrap();
    let (_context, routers) = two(&dir).await;
    let rounds = 25;
    for round in 0..rounds {
        let key = format!("k{round}");
        let bodies: Vec<Value> = (0..4)
            .map(|it| json!({"records": [{"id": format!("{round}-{it}"), "text": format!("body {it}")}]}))
            .collect();
        let sent = bodies.iter().enumerate();
        let outcomes = join_all(sent.map(|(at, body)| send(&routers[at % 2], "records", &key, body))).await;
        let accepted: Vec<usize> = (0..4).filter(|at| outcomes[*at].0 == 202).collect();
        let reused = outcomes.iter().filter(|it| it.0 == 422 && it.1 == REUSED).count();
        assert_eq!((accepted.len(), reused), (1, 3), "{outcomes:?}");
        let first = accepted[0];
        for router in &routers {
            assert_eq!(send(router, "records", &key, &bodies[first]).await, outcomes[first]);
            let other = send(router, "records", &key, &bodies[(first + 1) % 4]).await;
            assert_eq!((other.0, other.1.as_str()), (422, REUSED), "{other:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_equal_requests_get_one_response() {
    let dir = tempfile::tempdir().unwrap();
    let (_context, routers) = two(&dir).await;
    for round in 0..10 {
        let (key, body) = (
            format!("k{round}"),
            json!({"records": [{"text": "the same"}, {"text": "the same"}]}),
        );
        let outcomes = join_all((0..6).map(|at| send(&routers[at % 2], "records", &key, &body))).await;
        let first = &outcomes[0];
        assert_eq!(first.0, 202, "{first:?}");
        for it in &outcomes {
            assert_eq!(it, first);
        }
        assert_eq!(send(&routers[0], "records", &key, &body).await, *first);
    }
}

#[tokio::test]
async fn an_equal_request_continues_after_a_gateway_died() {
    let gateway = Gateway::new().await;
    let records = json!([{"text": "hello"}]);
    held(&gateway, "k", &records, clock::now() + TimeDelta::milliseconds(200)).await;
    let body = json!({ "records": records }).to_string();
    let reply = gateway.send_with(RECORDS, &body, &[("idempotency-key", "k")]).await;
    assert_eq!(reply.status, 202, "{reply:?}");
}

/// Leaves a key in the state in which a gateway leaves it that dies while it answers `records`.
async fn held(gateway: &Gateway, key: &str, records: &Value, until: chrono::DateTime<Utc>) {
    let given: Vec<Value> = serde_json::from_value(records.clone()).unwrap();
    let hold = Hold {
        request: Sha256::digest(serde_json::to_vec(&given).unwrap()).into(),
        at: until - TimeDelta::seconds(5),
        until,
    };
    let space = "s".parse().unwrap();
    gateway
        .context
        .backends
        .records
        .hold_idempotency_key(&space, key, &hold)
        .await
        .unwrap();
}

#[tokio::test]
async fn a_held_key_is_refused_until_its_hold_expires() {
    let gateway = Gateway::new().await;
    let hurried = gateway.another("[gateway]\nrequest_ms_max = 50");
    let records = json!([{"text": "hello"}]);
    let body = json!({ "records": records }).to_string();
    let other = r#"{"records":[{"text":"something else"}]}"#;
    held(&gateway, "alive", &records, clock::now() + TimeDelta::seconds(60)).await;
    let reply = hurried.send_with(RECORDS, &body, &[("idempotency-key", "alive")]).await;
    assert!(
        reply
            .problem()
            .starts_with("409 the first request with this Idempotency-Key is in progress")
    );
    assert_eq!(reply.json()["type"], IN_FLIGHT);
    assert_eq!(reply.headers["retry-after"], "1");
    let reply = gateway.send_with(RECORDS, other, &[("idempotency-key", "alive")]).await;
    assert_eq!(reply.json()["type"], REUSED);

    held(&gateway, "dead", &records, clock::now() - TimeDelta::seconds(1)).await;
    let reply = gateway.send_with(RECORDS, other, &[("idempotency-key", "dead")]).await;
    assert_eq!(reply.json()["type"], REUSED, "nobody knows what came of the first");
    let reply = gateway.send_with(RECORDS, &body, &[("idempotency-key", "dead")]).await;
    assert_eq!(reply.status, 202, "{reply:?}");
    let again = gateway.send_with(RECORDS, &body, &[("idempotency-key", "dead")]).await;
    assert_eq!(again.text, reply.text);
}

#[tokio::test]
async fn a_refused_request_leaves_its_key_for_the_corrected_request() {
    let gateway = Gateway::new().await;
    let key = [("idempotency-key", "k")];
    let refused = gateway.send_with(RECORDS, r#"{"records":[{"id":"a"}]}"#, &key).await;
    assert_eq!(refused.status, 422);
    let right = gateway
        .send_with(RECORDS, r#"{"records":[{"id":"a","text":"x"}]}"#, &key)
        .await;
    assert_eq!(right.status, 202, "{right:?}");
    let missing = r#"{"act":{"kind":"retire_fact","fact":"00000000-0000-0000-0000-000000000001"}}"#;
    let found = gateway.send_with("POST /v1/spaces/s/curations", missing, &key).await;
    assert_eq!(found.status, 404, "the keys of acts are separate from other keys");
}
