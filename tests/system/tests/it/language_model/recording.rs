//! Records calls in a file and replays them from it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use futures::future::join_all;
use serde_json::{Value, json};
use system::running::Running;
use system::running::api::Api;
use system::servers::chat::{KEY, MODEL, Said, Server};

use super::{WHO, refused, text};
use crate::distributed::talk;

const QUESTIONS: [&str; 3] = [WHO, "What is Omar repairing?", "When did Ines adopt the greyhound?"];

/// Starts with a conversation and waits until everything is derived, because the evidence for a question may change
/// until then.
async fn started(dir: &Path, settings: &[(String, String)]) -> Running {
    let running = Running::standalone(dir, settings).await.unwrap();
    running.api.put("/spaces/talk").await;
    let watermark = running.api.accepted("talk", &talk()).await;
    running.api.written("talk", &watermark).await;
    running.api.settled("talk").await;
    running
}

/// Returns the response to a question without the fields that differ between two equal requests.
async fn asked(api: &Api, question: &str) -> Value {
    let body = json!({ "question": question, "asked_at": "2026-04-01T12:00:00Z",
        "budget": { "tokens": 200, "model_calls": 1, "ms": 20_000 } });
    let (status, mut body) = api.post("/spaces/talk/query", &body).await;
    assert_eq!(status, 200, "{body}");
    body["trace_id"] = Value::Null;
    let cost = &mut body["cost"];
    cost["ms"] = Value::Null;
    cost["steps"] = Value::Null;
    for role in cost["roles"].as_object_mut().into_iter().flat_map(|it| it.values_mut()) {
        role["ms"] = Value::Null;
    }
    body
}

/// Asks every question twice, all in parallel.
async fn all(api: &Api) -> Vec<Value> {
    join_all(QUESTIONS.iter().chain(&QUESTIONS).map(|it| asked(api, it))).await
}

fn setting(key: &str, value: &Path) -> (String, String) {
    (format!("language_model.{key}"), value.display().to_string())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replay_without_an_endpoint_gives_the_recorded_replies() {
    let server = Server::start().await.unwrap();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("calls.jsonl");
    let mut settings = server.settings();
    settings.push(setting("record", &file));
    let recorder = started(&dir.path().join("a"), &settings).await;
    let reply = |number: usize| text(&format!("{{\"answer\": \"answer {number}\", \"lines\": [1]}}"));
    server.says((0..3).map(reply));
    let recorded = all(&recorder.api).await;
    assert_eq!(
        recorded,
        all(&recorder.api).await,
        "what is recorded is not asked again"
    );
    assert_eq!(
        server.heard().requests.len(),
        3,
        "equal calls at the same time are made once"
    );
    recorder.end().await.unwrap();
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0, "others may not read it");

    let model = ("language_model.model".to_owned(), MODEL.to_owned());
    let replay = [model.clone(), setting("replay", &file)];
    let replayer = started(&dir.path().join("b"), &replay).await;
    assert_eq!(all(&replayer.api).await, recorded);
    let other = asked(&replayer.api, "Who is Omar?").await;
    assert!(
        other["degraded"][0]
            .as_str()
            .unwrap()
            .contains("does not hold this call"),
        "{other}"
    );
    assert_eq!(other["cost"]["model_calls"], json!(0));
    replayer.end().await.unwrap();
    assert_eq!(server.heard().requests.len(), 3);
}

/// A server that is killed while it writes leaves an incomplete line, which the next recording removes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interrupted_recording_continues() {
    let server = Server::start().await.unwrap();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("calls.jsonl");
    fs::write(&file, "{\"key\": \"ab").unwrap();
    let mut settings = server.settings();
    settings.push(setting("record", &file));
    let running = started(&dir.path().join("a"), &settings).await;
    server.says([Said::Status(500), text("{\"answer\": \"Marzipan\", \"lines\": [1]}")]);
    let failed = asked(&running.api, WHO).await;
    assert!(failed["degraded"][0].as_str().unwrap().contains("500"), "{failed}");
    let body = asked(&running.api, WHO).await;
    assert_eq!(body["answer"]["text"], "Marzipan", "a failure is not recorded: {body}");
    running.end().await.unwrap();
    let written = fs::read_to_string(&file).unwrap();
    let line: Value = serde_json::from_str(written.trim()).unwrap();
    assert_eq!(line["call"]["model"], MODEL);
    assert!(!written.contains(KEY), "{written}");
}

#[tokio::test]
async fn an_invalid_recording_is_rejected_with_its_line() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("calls.jsonl");
    fs::write(&file, "{}\n").unwrap();
    for (settings, expected) in [
        (vec![setting("replay", &file)], "line 1 of"),
        (
            vec![setting("replay", &dir.path().join("none"))],
            "cannot use the recording",
        ),
        (
            vec![setting("replay", &file), setting("record", &file)],
            "sets both `record` and `replay`",
        ),
    ] {
        let said = refused(&settings).await;
        assert!(said.contains(expected), "{said}");
    }
}
