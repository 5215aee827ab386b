//! Webhooks that are created through the API of mem0 while the gateway runs.

use std::time::Duration;

use axum::http::StatusCode;
use fixtures::wait_until;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{Manner, QUIET, Receiver, Sending};

const MEM0: &str = "[gateway.mem0]\nenabled = true\n[gateway.mem0.webhooks]\nallow_http = true\nallow_private = true\n";

/// Calls the API of mem0 and returns the reply, which must be a success.
async fn call(sending: &Sending, call: &str, body: &Value) -> Value {
    let body = if body.is_null() {
        String::new()
    } else {
        body.to_string()
    };
    let reply = sending.gateway.send(call, &body).await;
    assert_eq!(reply.status, StatusCode::OK, "{call}: {reply:?}");
    reply.json()
}

/// Creates a webhook with the receiver as its target; returns its id.
async fn make(sending: &Sending, receiver: &Receiver, types: &Value) -> String {
    let body = json!({"name": "mine", "url": receiver.url, "event_types": types});
    let made = call(sending, "POST /mem0/api/v1/webhooks/projects/mnemic/", &body).await;
    made["secret"]
        .as_str()
        .unwrap()
        .clone_into(&mut receiver.received.secret.lock().unwrap());
    made["webhook_id"].as_str().unwrap().to_owned()
}

async fn add(sending: &Sending, user: &str, text: &str) {
    let body = json!({"messages": text, "user_id": user});
    call(sending, "POST /mem0/v3/memories/add/", &body).await;
}

/// The service and the routes of these tests share only the stores, like two gateways over one memory.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_created_webhook_gets_the_events_of_all_users_until_it_is_deleted() {
    let receiver = Receiver::start(Manner::Fails(1)).await;
    let sending = Sending::with(MEM0).await;
    add(&sending, "before", "Quaxbank").await;
    let id = make(&sending, &receiver, &json!(["memory_add", "memory_delete"])).await;
    // A user who is created after the webhook: no event is missed.
    add(&sending, "ann", "Quaxbank").await;
    let searchable = receiver
        .taken(|it| it["space"] == "mem0-ann" && it["kind"] == "searchable")
        .await;
    assert_eq!(searchable.len(), 2, "again until it is taken: {searchable:?}");
    call(&sending, "DELETE /mem0/v2/entities/user/ann/", &Value::Null).await;
    receiver
        .taken(|it| it["space"] == "mem0-ann" && it["kind"] == "erased")
        .await;
    for attempt in receiver.attempts() {
        assert_ne!(attempt.body["kind"], "organised", "{attempt:?}");
        assert_ne!(attempt.body["space"], "mem0-before", "{attempt:?}");
        assert!(!attempt.body.to_string().contains("Quaxbank"), "{attempt:?}");
    }

    // After the change another receiver gets events, and only events of deletions.
    let second = Receiver::start(Manner::Fails(0)).await;
    let secret = receiver.received.secret.lock().unwrap().clone();
    *second.received.secret.lock().unwrap() = secret;
    let path = format!("/mem0/api/v1/webhooks/{id}/");
    let change = json!({"url": second.url, "event_types": ["memory_delete"]});
    call(&sending, &format!("PUT {path}"), &change).await;
    hear_of_erasures(&sending, &second, "bob").await;
    assert!(second.attempts().iter().all(|it| it.body["kind"] == "erased"));

    // After the deletion this webhook gets nothing more, while a webhook created later gets events.
    call(&sending, &format!("DELETE {path}"), &Value::Null).await;
    let third = Receiver::start(Manner::Fails(0)).await;
    make(&sending, &third, &json!(["memory_delete"])).await;
    hear_of_erasures(&sending, &third, "cid").await;
    hear_of_erasures(&sending, &third, "dan").await;
    sleep(QUIET).await;
    assert!(!has_heard_of(&second, "dan"));
    sending.end().await;
}

/// Adds and deletes users with this name prefix until a receiver gets an event.
async fn hear_of_erasures(sending: &Sending, receiver: &Receiver, begin: &str) {
    let mut number = 0;
    wait_until("the receiver hears of an erasure", async || {
        number += 1;
        let user = format!("{begin}-{number}");
        add(sending, &user, "Quaxbank").await;
        // A user who is deleted before the next poll is never noticed; polls cannot be seen from outside.
        sleep(Duration::from_millis(100)).await;
        call(sending, &format!("DELETE /mem0/v2/entities/user/{user}/"), &Value::Null).await;
        sleep(Duration::from_millis(100)).await;
        has_heard_of(receiver, begin)
    })
    .await;
}

fn has_heard_of(receiver: &Receiver, begin: &str) -> bool {
    let space = format!("mem0-{begin}-");
    let attempts = receiver.attempts();
    attempts
        .iter()
        .any(|it| it.body["space"].as_str().is_some_and(|it| it.starts_with(&space)))
}
