//! The distributed mode as a whole: five processes, the same answers as in standalone mode, and no loss after a kill.

mod crash;
mod deleted;
mod doctor;
mod house;
mod keys;
mod letters;
mod outage;
mod provision;
mod replicas;

use serde_json::{Value, json};
use system::running::Servers;
use system::running::processes::Processes;
use tokio::sync::OnceCell;

/// Returns servers that are shared by all tests that do not change them, or `None` if one is not installed.
pub(crate) async fn shared_servers() -> Option<&'static Servers> {
    static SERVERS: OnceCell<Option<Servers>> = OnceCell::const_new();
    SERVERS
        .get_or_init(async || Servers::start().await.unwrap())
        .await
        .as_ref()
}

pub(crate) fn sample_talk() -> Value {
    let line = |id: &str, actor: &str, at: &str, text: &str| json!({ "id": id, "session": at[..10], "actor": actor, "observed_at": at, "text": text });
    json!([
        line(
            "1",
            "Ines",
            "2026-03-02T18:00:00Z",
            "Hi Omar! I finally adopted a greyhound from the shelter yesterday."
        ),
        line(
            "2",
            "Omar",
            "2026-03-02T18:01:00Z",
            "Congratulations, Ines! What did you call her?"
        ),
        line("3", "Ines", "2026-03-02T18:02:00Z", "Marzipan, because of her colour."),
        line(
            "4",
            "Omar",
            "2026-03-02T18:03:00Z",
            "I am still repairing the old canoe with my father in the garage."
        ),
        line(
            "5",
            "Ines",
            "2026-03-09T20:00:00Z",
            "My new job at the harbour office starts next Monday."
        ),
        line(
            "6",
            "Omar",
            "2026-03-09T20:01:00Z",
            "Great news! My sister moved to Lisbon last week, so I have more room now."
        ),
    ])
}

pub(crate) fn cited_ids(body: &Value) -> Vec<&str> {
    let items = body["pack"]["items"].as_array().unwrap();
    items
        .iter()
        .flat_map(|it| it["external_ids"].as_array().unwrap())
        .filter_map(Value::as_str)
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conversation_is_stored_and_queried_over_five_processes() {
    let Some(servers) = shared_servers().await else { return };
    let logs = tempfile::tempdir().unwrap();
    let processes = Processes::start(servers.settings(), logs.path()).await.unwrap();
    let api = &processes.api;
    assert_eq!(api.put("/spaces/talk").await.0, 201);
    let watermark = api.send_records("talk", &sample_talk()).await;
    // The question waits for the write by itself, although another process does the write.
    let body = json!({ "question": "When did Ines adopt the greyhound?", "answer": true, "after": watermark,
        "budget": { "ms": 20_000 } });
    let (status, body) = api.post("/spaces/talk/query", &body).await;
    assert_eq!(status, 200, "{body}");
    assert!(cited_ids(&body).contains(&"1"), "{body}");
    assert_eq!(body["answer"]["text"], "1 March 2026", "{body}");
    assert_eq!(body["verdict"]["status"], "supported", "{body}");
    assert_eq!(body["degraded"], json!([]), "{body}");
    let (status, progress) = api.get(&format!("/spaces/talk/progress?watermark={watermark}")).await;
    assert_eq!((status, &progress["written"]), (200, &json!(true)), "{progress}");
    assert_eq!(api.list("/spaces/talk/records").await.len(), 6);
    assert_eq!(api.delete("/spaces/talk").await.0, 204);
    assert_eq!(api.get("/spaces/talk").await.0, 404);
    assert_eq!(api.put("/spaces/talk").await.0, 201);
    let body = api.ask("talk", "When did Ines adopt the greyhound?").await;
    assert!(cited_ids(&body).is_empty(), "{body}");
}
