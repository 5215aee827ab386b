//! Records calls in a file and replays them from it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use futures::future::join_all;
use serde_json::{Value, json};
use system::running::Running;
use system::running::api::Api;
use system::servers::chat::{KEY, MODEL, ScriptedReply, Server};

use super::{WHO, reason_for_no_start, text_reply};
use crate::distributed::sample_talk;

const QUESTIONS: [&str; 3] = [WHO, "What is Omar repairing?", "When did Ines adopt the greyhound?"];

/// Starts with a conversation and waits until everything is derived, because the evidence for a question may change
/// until then.
async fn start_standalone(dir: &Path, settings: &[(String, String)]) -> Running {
    let running = Running::standalone(dir, settings).await.unwrap();
    running.api.put("/spaces/talk").await;
    let watermark = running.api.send_records("talk", &sample_talk()).await;
    running.api.wait_until_written("talk", &watermark).await;
    running.api.wait_until_settled("talk").await;
    running
}

/// Returns the response to a question without the fields that differ between two equal requests.
async fn ask_question(api: &Api, question: &str) -> Value {
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
async fn ask_all_questions(api: &Api) -> Vec<Value> {
    join_all(QUESTIONS.iter().chain(&QUESTIONS).map(|it| ask_question(api, it))).await
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
    let recorder = start_standalone(&dir.path().join("a"), &settings).await;
    let reply = |number: usize| text_reply(&format!("{{\"answer\": \"answer {number}\", \"lines\": [1]}}"));
    server.script_replies((0..3).map(reply));
    let recorded = ask_all_questions(&recorder.api).await;
    assert_eq!(
        recorded,
        ask_all_questions(&recorder.api).await,
        "what is recorded is not asked again"
    );
    assert_eq!(
        server.script().requests.len(),
        3,
        "equal calls at the same time are made once"
    );
    recorder.end().await.unwrap();
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0, "others may not read it");

    let model = ("language_model.model".to_owned(), MODEL.to_owned());
    let replay = [model.clone(), setting("replay", &file)];
    let replayer = start_standalone(&dir.path().join("b"), &replay).await;
    assert_eq!(ask_all_questions(&replayer.api).await, recorded);
    let other = ask_question(&replayer.api, "Who is Omar?").await;
    assert!(
        other["degraded"][0]
            .as_str()
            .unwrap()
            .contains("does not hold this call"),
        "{other}"
    );
    assert_eq!(other["cost"]["model_calls"], json!(0));
    replayer.end().await.unwrap();
    assert_eq!(server.script().requests.len(), 3);
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
    let running = start_standalone(&dir.path().join("a"), &settings).await;
    server.script_replies([
        ScriptedReply::Status(500),
        text_reply("{\"answer\": \"Marzipan\", \"lines\": [1]}"),
    ]);
    let failed = ask_question(&running.api, WHO).await;
    assert!(failed["degraded"][0].as_str().unwrap().contains("500"), "{failed}");
    let body = ask_question(&running.api, WHO).await;
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
        let reason = reason_for_no_start(&settings).await;
        assert!(reason.contains(expected), "{reason}");
    }
}
