//! Models by role, limits on parallel calls, and pauses that an endpoint requests.

use std::sync::Arc;
use std::time::Duration;

use fixtures::{look_within, wait_until};
use futures::future::join_all;
use serde_json::json;
use system::running::Running;
use system::servers::chat::{KEY, MODEL, ScriptedReply, Server};
use tokio::sync::Barrier;

use super::{WHO, ask_with_budget, reason_for_no_start, text_reply};
use crate::distributed::sample_talk;

/// A usable reply.
pub(super) const MARZIPAN: &str = "{\"answer\": \"Marzipan\", \"lines\": [1]}";

pub(super) async fn start_standalone(settings: &[(String, String)]) -> (tempfile::TempDir, Running) {
    let dir = tempfile::tempdir().unwrap();
    let running = Running::standalone(dir.path(), settings).await.unwrap();
    assert_eq!(running.api.put("/spaces/talk").await.0, 201);
    let watermark = running.api.send_records("talk", &sample_talk()).await;
    running.api.wait_until_written("talk", &watermark).await;
    running.api.wait_until_settled("talk").await;
    (dir, running)
}

fn setting(key: &str, value: &str) -> (String, String) {
    (format!("language_model.{key}"), value.to_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_role_can_have_its_own_model() {
    let server = Server::start().await.unwrap();
    let mut settings = server.settings();
    settings.retain(|(key, _)| key != "language_model.model");
    settings.push(setting("model", "another"));
    settings.push(setting("roles.answer.model", MODEL));
    let (_dir, running) = start_standalone(&settings).await;
    server.script_replies([text_reply(MARZIPAN)]);
    let body = ask_with_budget(&running.api, WHO, json!({ "tokens": 200, "model_calls": 1 })).await;
    assert_eq!(body["answer"]["text"], "Marzipan", "{body}");
    running.end().await.unwrap();

    settings.push(setting("roles.anwser.model", MODEL));
    let reason = reason_for_no_start(&settings).await;
    assert!(
        reason.contains("`anwser`") && reason.contains("`answer`") && !reason.contains(KEY),
        "{reason}"
    );
}

/// If an endpoint says when a retry is allowed, it is called again then, if time is left, and not earlier.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_pause_that_an_endpoint_requests_is_kept() {
    let server = Server::start().await.unwrap();
    let (_dir, running) = start_standalone(&server.settings()).await;
    let budget = json!({ "tokens": 200, "model_calls": 1, "ms": 10_000 });
    server.script_replies([ScriptedReply::Busy(1), text_reply(MARZIPAN)]);
    let body = ask_with_budget(&running.api, WHO, budget.clone()).await;
    assert_eq!(body["answer"]["text"], "Marzipan", "{body}");
    assert_eq!(body["cost"]["model_calls"], json!(1));
    assert!(body["cost"]["ms"].as_f64().unwrap() >= 1_000.0, "{body}");

    server.script_replies([ScriptedReply::Busy(100), text_reply(MARZIPAN)]);
    let body = ask_with_budget(&running.api, WHO, budget.clone()).await;
    assert!(body["degraded"][0].as_str().unwrap().contains("429"), "{body}");
    let body = ask_with_budget(&running.api, WHO, budget).await;
    let degraded = body["degraded"][0].as_str().unwrap();
    assert!(degraded.contains("asks for a pause of another"), "{body}");
    assert_eq!(body["cost"]["model_calls"], json!(0), "it was not asked");
    assert_eq!(server.script().replies.len(), 1);
    running.end().await.unwrap();
}

/// When a caller disconnects, its call to the model ends, so that nobody pays for a reply without a reader.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_ends_when_its_caller_disconnects() {
    let server = Server::start().await.unwrap();
    let (_dir, running) = start_standalone(&server.settings()).await;
    server.script_replies([ScriptedReply::Late(Duration::from_secs(120), MARZIPAN.to_owned())]);
    let api = running.api.clone();
    let budget = json!({ "tokens": 200, "model_calls": 1, "ms": 200_000 });
    let question = tokio::spawn(async move { ask_with_budget(&api, WHO, budget).await });
    wait_until("the call begins", async || server.script().in_flight.0 == 1).await;
    question.abort();
    // The reply itself would take as long as the longest wait.
    let ended = async || {
        if server.script().in_flight.0 == 0 {
            Ok(())
        } else {
            Err(())
        }
    };
    assert!(look_within(Duration::from_secs(20), ended).await.is_ok());
    running.end().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parallel_calls_to_one_endpoint_are_limited() {
    let late = ScriptedReply::Late(Duration::from_millis(700), MARZIPAN.to_owned());
    let together = ScriptedReply::Together(Arc::new(Barrier::new(3)), MARZIPAN.to_owned());
    for (turns, reply, expected) in [("1", late, 1), ("3", together, 3)] {
        let server = Server::start().await.unwrap();
        let mut settings = server.settings();
        settings.push(setting("in_flight_max", turns));
        let (_dir, running) = start_standalone(&settings).await;
        server.script_replies(vec![reply; 3]);
        let budget = json!({ "tokens": 200, "model_calls": 1, "ms": 20_000 });
        let bodies = join_all((0..3).map(|_| ask_with_budget(&running.api, WHO, budget.clone()))).await;
        assert!(bodies.iter().all(|it| it["answer"]["text"] == "Marzipan"), "{bodies:?}");
        assert_eq!(server.script().in_flight, (0, expected));
        running.end().await.unwrap();
    }
}
