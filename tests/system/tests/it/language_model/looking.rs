//! Strategies in which a language model explores the memory, in both deployment modes.

use serde_json::{Value, json};
use system::running::Running;
use system::running::api::Api;
use system::servers::chat::{ScriptedReply, Server};

use super::endpoints::MARZIPAN;
use super::{WHO, text_reply};
use crate::distributed::{sample_talk, shared_servers};

/// A word of lines that are unrelated to the question.
const CANOE: &str = "canoe";

pub(super) fn tool_call(name: &str, arguments: &Value) -> Value {
    json!({ "id": name, "type": "function", "function": { "name": name, "arguments": arguments.to_string() } })
}

/// Asks with a budget of 40 tokens of evidence, enough for one or two lines, and returns the response.
pub(super) async fn ask_with_strategy(api: &Api, strategy: &str, calls: u32) -> Value {
    let body = json!({ "question": WHO, "strategy": strategy, "explain": 1,
        "budget": { "tokens": 40, "model_calls": calls, "ms": 30_000 } });
    let (status, body) = api.post("/spaces/talk/query", &body).await;
    assert_eq!(status, 200, "{body}");
    body
}

/// Returns the user message of a request.
fn user_message_of_request(server: &Server, request: usize) -> String {
    let script = server.script();
    script.requests[request]["messages"][1]["content"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn line_number_of(shown: &str, text: &str) -> usize {
    let line = shown.lines().find(|it| it.contains(text)).unwrap();
    line.split('.').next().unwrap().parse().unwrap()
}

fn names_of_steps(body: &Value) -> Vec<&str> {
    let steps = body["path"].as_array().unwrap();
    steps.iter().map(|it| it["step"].as_str().unwrap()).collect()
}

/// Makes the model read the context of a line, and end with another line that it found there. Returns pack and path.
async fn check_deployment(running: Running, server: &Server) -> (Value, Value) {
    let api = &running.api;
    assert_eq!(api.put("/spaces/talk").await.0, 201);
    let watermark = api.send_records("talk", &sample_talk()).await;
    api.wait_until_written("talk", &watermark).await;
    api.wait_until_settled("talk").await;

    // The first run only serves to learn how the lines are numbered, and chooses none.
    let first = server.script().requests.len();
    server.script_replies([text_reply("{\"lines\": []}"), text_reply(MARZIPAN)]);
    let none = ask_with_strategy(api, "reconstruct", 2).await;
    assert_eq!(none["degraded"], json!([]), "{none}");
    let lines = user_message_of_request(server, first);
    let (name, canoe) = (line_number_of(&lines, "Marzipan"), line_number_of(&lines, CANOE));

    server.script_replies([
        ScriptedReply::Calls(json!([
            tool_call("query_event_context", &json!({ "unit": name, "after": 1 })),
            tool_call("query_tag_events", &json!({ "cue": "Omar", "space": "other" })),
        ])),
        text_reply(&format!("{{\"lines\": [{canoe}, 99]}}")),
        text_reply(MARZIPAN),
    ]);
    let body = ask_with_strategy(api, "reconstruct", 5).await;
    assert_eq!(
        names_of_steps(&body),
        ["query_event_context", "query_tag_events", "end"],
        "{body}"
    );
    assert!(body["pack"]["text"].as_str().unwrap().contains(CANOE), "{body}");
    assert_eq!(body["answer"]["text"], "Marzipan", "{body}");
    assert_eq!(body["cost"]["roles"]["decide"]["calls"], 2, "{body}");
    assert_eq!(body["degraded"], json!([]), "{body}");

    let script = server.script().requests.clone();
    let (offered, result_text) = (&script[first + 2], user_message_of_request(server, first + 3));
    assert_eq!(offered["tools"].as_array().unwrap().len(), 7, "{offered}");
    assert!(
        !offered.to_string().contains("uuid"),
        "lines stand for units: {offered}"
    );
    assert!(
        result_text.contains("unknown field `space`"),
        "no other space can be named: {result_text}"
    );
    assert!(server.script().replies.is_empty());
    running.end().await.unwrap();
    (body["pack"].clone(), body["path"].clone())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_explores_the_memory_equally_in_both_deployment_modes() {
    let server = Server::start().await.unwrap();
    let dir = tempfile::tempdir().unwrap();
    let standalone = Running::standalone(dir.path(), &server.settings()).await.unwrap();
    let standalone = check_deployment(standalone, &server).await;
    let Some(servers) = shared_servers().await else { return };
    let distributed = Running::distributed(servers, &server.settings()).await.unwrap();
    let distributed = check_deployment(distributed, &server).await;
    // Steps name units by ids that both modes derive from the records.
    assert_eq!(distributed.1, standalone.1);
    assert_eq!(distributed.0["text"], standalone.0["text"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_is_planned_and_its_parts_are_searched() {
    let server = Server::start().await.unwrap();
    let (_dir, running) = super::endpoints::start_standalone(&server.settings()).await;
    server.script_replies([
        text_reply("{\"parts\": [\"What is Omar repairing?\", \"Where did Omar's sister move?\"]}"),
        text_reply("{\"lines\": [1]}"),
        text_reply(MARZIPAN),
    ]);
    let body = ask_with_strategy(&running.api, "explore", 5).await;
    assert_eq!(names_of_steps(&body), ["plan", "end"], "{body}");
    let roles = body["cost"]["roles"].as_object().unwrap();
    assert_eq!(roles.keys().collect::<Vec<_>>(), ["answer", "decide", "plan"], "{body}");
    let decided = user_message_of_request(&server, 1);
    assert!(decided.contains("- Where did Omar's sister move?"), "{decided}");
    running.end().await.unwrap();
}
