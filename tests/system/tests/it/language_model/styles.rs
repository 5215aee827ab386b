//! Styles of answers.

use serde_json::{Value, json};
use system::running::Running;
use system::servers::chat::Server;

use super::endpoints::start_standalone;
use super::{WHO, ask_with_budget, last_user_message, line_number_of, text_reply};

const WHEN: &str = "When did Ines repair the canoe?";

/// Returns a query with a style, or without one if it is null.
fn query_with_style(style: Value, calls: u32) -> Value {
    let mut body = json!({ "question": WHO, "budget": { "tokens": 200, "model_calls": calls, "ms": 20_000 },
        "asked_at": "2026-04-01T00:00:00Z" });
    if !style.is_null() {
        body["style"] = style;
    }
    body
}

/// Returns records of a person who contradicts herself and says how she wants her answers.
fn sample_wishes() -> Value {
    let line = |id: &str, at: &str, text: &str| json!({ "id": id, "session": "s", "actor": "Ines", "observed_at": at, "text": text });
    json!([
        line(
            "w1",
            "2026-04-06T09:00:00Z",
            "Please always write dates as year/month/day when you answer me."
        ),
        line("w2", "2026-04-06T09:01:00Z", "I repaired the canoe yesterday."),
        line("w3", "2026-04-06T09:02:00Z", "I have never repaired the canoe."),
    ])
}

/// A wish about the form of answers is a line like any other. Only the system message says which effect it may have.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wishes_about_form_and_contradictions_reach_the_model_as_lines() {
    let server = Server::start().await.unwrap();
    let dir = tempfile::tempdir().unwrap();
    let running = Running::standalone(dir.path(), &server.settings()).await.unwrap();
    let api = &running.api;
    assert_eq!(api.put("/spaces/talk").await.0, 201);
    let watermark = api.send_records("talk", &sample_wishes()).await;
    api.wait_until_written("talk", &watermark).await;
    api.wait_until_settled("talk").await;
    let budget = json!({ "tokens": 512, "model_calls": 1, "ms": 20_000 });

    // The first reply only serves to learn how the lines are numbered.
    server.script_replies([text_reply("{\"answer\": null, \"lines\": [], \"reason\": \"x\"}")]);
    ask_with_budget(api, WHEN, budget.clone()).await;
    let system = server.script().requests[0]["messages"][0]["content"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        system.contains("how answers are to be written") && !system.contains("canoe"),
        "{system}"
    );
    let evidence = last_user_message(&server)
        .split_once("<evidence ")
        .unwrap()
        .1
        .to_owned();
    assert!(evidence.contains("always write dates as year/month/day"), "{evidence}");
    let (did, never) = (
        line_number_of(&server, "canoe yesterday"),
        line_number_of(&server, "never repaired"),
    );

    let reply = |answer: &str, lines: &[usize], disagree: bool| {
        text_reply(&json!({ "answer": answer, "lines": lines, "disagree": disagree, "reason": null }).to_string())
    };
    server.script_replies([reply("2026/04/05", &[did], false)]);
    let body = ask_with_budget(api, WHEN, budget.clone()).await;
    assert_eq!(body["verdict"]["status"], "supported", "{body}");

    server.script_replies([reply("2026/04/05, or never", &[did, never], true)]);
    let body = ask_with_budget(api, WHEN, budget).await;
    assert_eq!(body["verdict"]["status"], "conflicting", "{body}");
    assert_eq!(body["answer"]["external_ids"], json!(["w2", "w3"]), "{body}");
    running.end().await.unwrap();
}

/// Returns the system message of the last request, and the properties of the requested reply.
fn last_system_message(server: &Server) -> (String, Vec<String>) {
    let asked = server.script().requests.pop().unwrap();
    let properties = &asked["response_format"]["json_schema"]["schema"]["properties"];
    let names = properties.as_object().unwrap().keys().cloned().collect();
    (asked["messages"][0]["content"].as_str().unwrap().to_owned(), names)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_style_affects_only_the_answers_of_a_language_model() {
    let server = Server::start().await.unwrap();
    let (_dir, running) = start_standalone(&server.settings()).await;
    let ask = async |style: Value, calls: u32| {
        let (status, body) = running
            .api
            .post("/spaces/talk/query", &query_with_style(style, calls))
            .await;
        assert_eq!(status, 200, "{body}");
        body
    };
    let usual = ask(Value::Null, 0).await;
    for style in ["short", "infer", "free"] {
        let body = ask(json!(style), 0).await;
        for field in ["verdict", "answer", "pack"] {
            assert_eq!(body[field], usual[field], "{style}: {field}");
        }
    }

    server.script_replies([text_reply(
        "{\"answer\": \"Marzipan\", \"lines\": [1], \"reason\": null}",
    )]);
    ask(Value::Null, 1).await;
    let (short, properties) = last_system_message(&server);
    assert_eq!(properties, ["answer", "disagree", "lines", "reason"]);

    server.script_replies([text_reply(
        "{\"answer\": \"likely a dog lover\", \"concluded\": true, \"lines\": [1], \"reason\": null}",
    )]);
    let body = ask(json!("infer"), 1).await;
    assert_eq!(
        (&body["answer"]["text"], &body["verdict"]["status"]),
        (&json!("likely a dog lover"), &json!("supported")),
        "{body}"
    );
    assert!(
        body["verdict"]["reasons"][1].as_str().unwrap().contains("a conclusion"),
        "{body}"
    );
    let (infer, properties) = last_system_message(&server);
    assert_eq!(properties, ["answer", "concluded", "disagree", "lines", "reason"]);

    let sentences = json!({ "sentences": [
        { "text": "It has a name.", "lines": [1] },
        { "text": "Ines chose it.", "lines": [1, 2] },
        { "text": "Everybody likes it.", "lines": [] },
    ], "reason": null });
    server.script_replies([text_reply(&sentences.to_string())]);
    let body = ask(json!("free"), 1).await;
    assert_eq!(body["answer"]["text"], "It has a name. Ines chose it.", "{body}");
    assert_eq!(body["answer"]["supports"].as_array().unwrap().len(), 2, "{body}");
    assert_eq!(body["verdict"]["status"], "partial", "{body}");
    let (free, properties) = last_system_message(&server);
    assert_eq!(properties, ["disagree", "reason", "sentences"]);
    assert!(short != infer && infer != free && short != free);

    let (status, body) = running
        .api
        .post("/spaces/talk/query", &query_with_style(json!("long"), 0))
        .await;
    assert_eq!(status, 422, "{body}");
    assert!(body["detail"].as_str().unwrap().contains("style: "), "{body}");
    running.end().await.unwrap();
}
