//! Erased records are also removed from dead letters, in both deployment modes.

use domain::message::{Message, RecordsAcceptedV1};
use domain::port::Frame;
use domain::record::Record;
use fixtures::wait_until;
use serde_json::{Value, json};
use system::running::Running;

use crate::distributed::shared_servers;

/// Returns a record as the gateway would publish it.
fn record(space: &str, id: &str, text: &str) -> Record {
    let space = space.parse().unwrap();
    let value = json!({
        "id": domain::id::RecordId::from_external_id(&space, id), "space": space, "external_id": id,
        "session": domain::id::SessionId::from_name(&space, "s"), "session_name": "s", "ordinal": 1, "modality": "text",
        "actor": "Ann", "text": text, "image_caption": null, "image_uri": null, "tool": null,
        "observed_at": "2026-03-02T18:00:00Z", "metadata": {},
    });
    serde_json::from_value(value).unwrap()
}

async fn list_dead_letters(running: &Running) -> Vec<Value> {
    let (status, page) = running.api.get("/admin/dead-letters").await;
    assert_eq!(status, 200);
    page["items"].as_array().unwrap().clone()
}

/// A batch that no writer can store becomes a dead letter. Then one of its records is accepted alone, and erased.
async fn nothing_is_left(running: &Running) {
    let api = &running.api;
    assert_eq!(api.put("/spaces/talk").await.0, 201);
    let batch = RecordsAcceptedV1 {
        space: "talk".parse().unwrap(),
        batch: "given up".to_owned(),
        created: None,
        records: vec![
            record("talk", "1", "Zebulon owes the bank 900 florins."),
            record("talk", "2", "I repotted the fern."),
            record("elsewhere", "3", "A record of another space."),
        ],
        curations: Vec::new(),
    };
    let frame = Frame {
        subject: RecordsAcceptedV1::SUBJECT.to_owned(),
        space: "talk".to_owned(),
        dedup_key: batch.dedup_key(),
        payload: serde_json::to_vec(&batch).unwrap(),
        ..Frame::default()
    };
    running.bus().publish(frame).await.unwrap();
    wait_until("the message is given up", async || {
        !list_dead_letters(running).await.is_empty()
    })
    .await;
    let again = json!([{ "id": "1", "session": "s", "actor": "Ann", "text": "Zebulon owes the bank 900 florins.",
        "observed_at": "2026-03-02T18:00:00Z" }]);
    let watermark = api.send_records("talk", &again).await;
    api.wait_until_written("talk", &watermark).await;
    assert!(
        list_dead_letters(running).await[0]["payload"]
            .to_string()
            .contains("Zebulon")
    );

    let (status, erased) = api.delete("/spaces/talk/records/1").await;
    assert_eq!(status, 202, "{erased}");
    api.wait_until_written("talk", erased["watermark"].as_str().unwrap())
        .await;
    let left = list_dead_letters(running).await;
    let text = format!("{left:?}");
    assert!(!text.contains("Zebulon") && !text.contains("florins"), "{text}");
    assert_eq!(left.len(), 1, "the others are kept: {text}");
    assert!(
        text.contains("repotted the fern") && text.contains("another space"),
        "{text}"
    );
    assert_eq!(api.get("/spaces/talk/records/1").await.0, 404);

    assert_eq!(api.delete("/spaces/talk").await.0, 204);
    assert_eq!(
        list_dead_letters(running).await,
        Vec::<Value>::new(),
        "of an erased space"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_erased_record_is_removed_from_dead_letters_standalone() {
    let dir = tempfile::tempdir().unwrap();
    let running = Running::standalone(dir.path(), &[]).await.unwrap();
    nothing_is_left(&running).await;
    running.end().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_erased_record_is_removed_from_dead_letters_distributed() {
    let Some(servers) = shared_servers().await else { return };
    let running = Running::distributed(servers, &[]).await.unwrap();
    nothing_is_left(&running).await;
    running.end().await.unwrap();
}
