use std::sync::atomic::{AtomicBool, Ordering};

use axum::http::StatusCode;
use domain::message::RecordsAcceptedV1;
use domain::{ErrorKind, PortError};
use fixtures::wait_for;
use serde_json::Value;

use crate::harness::Gateway;

/// Starts a writer that cannot read its first batch.
fn start_broken_writer(gateway: &Gateway) {
    let context = gateway.context.clone();
    tokio::spawn(async move {
        let records = context.backends.records.clone();
        let broken = AtomicBool::new(true);
        let handle = async |message: RecordsAcceptedV1, meta: host::Meta| {
            if broken.swap(false, Ordering::Relaxed) {
                return Err(PortError::new("writer", ErrorKind::Damaged, "unreadable"));
            }
            records.put(&message.space, &message.records).await?;
            records.mark_written(&message.space, meta.position).await
        };
        context
            .consume_messages::<_, PortError, _, _>("writer", 1, handle)
            .await
            .unwrap();
    });
}

/// Waits until there is a dead letter, and returns it.
async fn first_letter(gateway: &Gateway) -> Value {
    wait_for("there is a dead letter", async || {
        let letters = gateway.send("GET /v1/admin/dead-letters", "").await.json();
        let letter = letters["items"][0].clone();
        if letter.is_null() { Err(letters) } else { Ok(letter) }
    })
    .await
}

#[tokio::test]
async fn dead_letters_are_listed_and_delivered_again() {
    let gateway = Gateway::new().await;
    start_broken_writer(&gateway);
    let mark = gateway
        .send("POST /v1/spaces/s/records", r#"{"records":[{"id":"a","text":"x"}]}"#)
        .await
        .json();
    let mark = mark["watermark"].as_str().unwrap();
    let letter = first_letter(&gateway).await;
    let wait = format!("GET /v1/spaces/s/progress?wait_ms=0&watermark={mark}");
    let reply = gateway.send(&wait, "").await;
    let problem = reply.problem();
    assert!(
        problem.starts_with("504 the write failed and is kept as dead letter"),
        "{problem}"
    );
    assert_eq!(reply.json()["dead_letter"], letter["id"], "{reply:?}");

    assert_eq!(letter["reason"], "writer: unreadable");
    assert!(letter["payload"].as_str().unwrap().contains(r#""external_id":"a""#));
    let path = format!("/v1/admin/dead-letters/{}", letter["id"].as_str().unwrap());
    assert_eq!(gateway.send(&format!("GET {path}"), "").await.json(), letter);
    assert_eq!(
        gateway.send(&format!("POST {path}/replay"), "").await.status,
        StatusCode::NO_CONTENT
    );
    gateway.written(mark).await;
    assert_eq!(gateway.send("GET /v1/spaces/s/records/a", "").await.json()["text"], "x");
    assert!(
        gateway
            .send(&format!("DELETE {path}"), "")
            .await
            .problem()
            .starts_with("404 ")
    );
    let letters = gateway.send("GET /v1/admin/dead-letters", "").await.json();
    assert_eq!(letters["items"].as_array().unwrap().len(), 0);
}

/// Records of a deleted dead letter can be sent again, also by the same request.
#[tokio::test]
async fn records_of_a_deleted_dead_letter_can_be_sent_again() {
    let body = r#"{"records":[{"id":"a","text":"x"}]}"#;
    for headers in [[].as_slice(), &[("idempotency-key", "k")]] {
        let gateway = Gateway::new().await;
        start_broken_writer(&gateway);
        let send = async || gateway.send_with("POST /v1/spaces/s/records", body, headers).await;
        let first = send().await;
        let letter = first_letter(&gateway).await;
        let kept = send().await;
        assert_eq!(kept.json()["watermark"], first.json()["watermark"], "it is kept");
        let call = format!("DELETE /v1/admin/dead-letters/{}", letter["id"].as_str().unwrap());
        assert_eq!(gateway.send(&call, "").await.status, StatusCode::NO_CONTENT);

        let again = send().await;
        assert_eq!(again.status, StatusCode::ACCEPTED);
        gateway.written(again.json()["watermark"].as_str().unwrap()).await;
        let record = gateway.send("GET /v1/spaces/s/records/a", "").await;
        assert_eq!(record.json()["text"], "x", "{record:?}");
    }
}
