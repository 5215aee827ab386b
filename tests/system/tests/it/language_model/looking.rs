//! Strategies in which a language model explores the memory, in both deployment modes.

use serde_json::{Value, json};
use system::running::Running;
use system::running::api::Api;
use system::servers::chat::{Said, Server};

use super::endpoints::MARZIPAN;
use super::{WHO, text};
use crate::distributed::{shared, talk};

/// A word of lines that are unrelated to the question.
const CANOE: &str = "canoe";

pub(super) fn call(name: &str, arguments: &Value) -> Value {
    json!({ "id": name, "type": "function", "function": { "name": name, "arguments": arguments.to_string() } })
}

/// Asks with a budget of 40 tokens of evidence, enough for one or two lines, and returns the response.
pub(super) async fn asked(api: &Api, strategy: &str, calls: u32) -> Value {
    let body = json!({ "question": WHO, "strategy": strategy, "explain": 1,
        "budget": { "tokens": 40, "model_calls": calls, "ms": 30_000 } });
    let (status, body) = api.post("/spaces/talk/query", &body).await;
    assert_eq!(status, 200, "{body}");
    body
}

/// Returns the user message of a request.
fn shown(server: &Server, request: usize) -> String {
    let heard = server.heard();
    heard.requests[request]["messages"][1]["content"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn number(shown: &str, text: &str) -> usize {
    let line = shown.lines().find(|it| it.contains(text)).unwrap();
    line.split('.').next().unwrap().parse().unwrap()
}

fn steps(body: &Value) -> Vec<&str> {
    let steps = body["path"].as_array().unwrap();
    steps.iter().map(|it| it["step"].as_str().unwrap()).collect()
}

/// Makes the model read the context of a line, and end with another line that it found there. Returns pack and path.
async fn looked(running: Running, server: &Server) -> (Value, Value) {
    let api = &running.api;
    assert_eq!(api.put("/spaces/talk").await.0, 201);
    let watermark = api.accepted("talk", &talk()).await;
    api.written("talk", &watermark).await;
    api.settled("talk").await;

    // The first run only serves to learn how the lines are numbered, and chooses none.
    let first = server.heard().requests.len();
    server.says([text("{\"lines\": []}"), text(MARZIPAN)]);
    let none = asked(api, "reconstruct", 2).await;
    assert_eq!(none["degraded"], json!([]), "{none}");
    let lines = shown(server, first);
    let (name, canoe) = (number(&lines, "Marzipan"), number(&lines, CANOE));

    server.says([
        Said::Calls(json!([
            call("query_event_context", &json!({ "unit": name, "after": 1 })),
            call("query_tag_events", &json!({ "cue": "Omar", "space": "other" })),
        ])),
        text(&format!("{{\"lines\": [{canoe}, 99]}}")),
        text(MARZIPAN),
    ]);
    let body = asked(api, "reconstruct", 5).await;
    assert_eq!(
        steps(&body),
        ["query_event_context", "query_tag_events", "end"],
        "{body}"
    );
    assert!(body["pack"]["text"].as_str().unwrap().contains(CANOE), "{body}");
    assert_eq!(body["answer"]["text"], "Marzipan", "{body}");
    assert_eq!(body["cost"]["roles"]["decide"]["calls"], 2, "{body}");
    assert_eq!(body["degraded"], json!([]), "{body}");

    let heard = server.heard().requests.clone();
    let (offered, told) = (&heard[first + 2], shown(server, first + 3));
    assert_eq!(offered["tools"].as_array().unwrap().len(), 7, "{offered}");
    assert!(
        !offered.to_string().contains("uuid"),
        "lines stand for units: {offered}"
    );
    assert!(
        told.contains("unknown field `space`"),
        "no other space can be named: {told}"
    );
    assert!(server.heard().replies.is_empty());
    running.end().await.unwrap();
    (body["pack"].clone(), body["path"].clone())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_explores_the_memory_equally_in_both_deployment_modes() {
    let server = Server::start().await.unwrap();
    let dir = tempfile::tempdir().unwrap();
    let standalone = Running::standalone(dir.path(), &server.settings()).await.unwrap();
    let standalone = looked(standalone, &server).await;
    let Some(servers) = shared().await else { return };
    let distributed = Running::distributed(servers, &server.settings()).await.unwrap();
    let distributed = looked(distributed, &server).await;
    // Steps name units by ids that both modes derive from the records.
    assert_eq!(distributed.1, standalone.1);
    assert_eq!(distributed.0["text"], standalone.0["text"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_is_planned_and_its_parts_are_searched() {
    let server = Server::start().await.unwrap();
    let (_dir, running) = super::endpoints::started(&server.settings()).await;
    server.says([
        text("{\"parts\": [\"What is Omar repairing?\", \"Where did Omar's sister move?\"]}"),
        text("{\"lines\": [1]}"),
        text(MARZIPAN),
    ]);
    let body = asked(&running.api, "explore", 5).await;
    assert_eq!(steps(&body), ["plan", "end"], "{body}");
    let roles = body["cost"]["roles"].as_object().unwrap();
    assert_eq!(roles.keys().collect::<Vec<_>>(), ["answer", "decide", "plan"], "{body}");
    let decided = shown(&server, 1);
    assert!(decided.contains("- Where did Omar's sister move?"), "{decided}");
    running.end().await.unwrap();
}
