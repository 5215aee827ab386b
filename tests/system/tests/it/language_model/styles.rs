//! How an answer is worded.

use serde_json::{Value, json};
use system::servers::chat::Server;

use super::endpoints::started;
use super::{WHO, text};

/// Asks in a style; without one if it is null.
fn query(style: Value, calls: u32) -> Value {
    let mut body = json!({ "question": WHO, "budget": { "tokens": 200, "model_calls": calls, "ms": 20_000 },
        "asked_at": "2026-04-01T00:00:00Z" });
    if !style.is_null() {
        body["style"] = style;
    }
    body
}

/// Returns the system message of the last request, and the properties of the reply that it asks for.
fn instructions(server: &Server) -> (String, Vec<String>) {
    let asked = server.heard().requests.pop().unwrap();
    let properties = &asked["response_format"]["json_schema"]["schema"]["properties"];
    let names = properties.as_object().unwrap().keys().cloned().collect();
    (asked["messages"][0]["content"].as_str().unwrap().to_owned(), names)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_style_words_the_answer_of_a_language_model_and_of_nothing_else() {
    let server = Server::start().await.unwrap();
    let (_dir, running) = started(&server.settings()).await;
    let ask = async |style: Value, calls: u32| {
        let (status, body) = running.api.post("/spaces/talk/query", &query(style, calls)).await;
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

    server.says([text("{\"answer\": \"Marzipan\", \"lines\": [1], \"reason\": null}")]);
    ask(Value::Null, 1).await;
    let (short, properties) = instructions(&server);
    assert_eq!(properties, ["answer", "lines", "reason"]);

    server.says([text(
        "{\"answer\": \"likely a dog lover\", \"concluded\": true, \"lines\": [1], \"reason\": null}",
    )]);
    let body = ask(json!("infer"), 1).await;
    assert_eq!(
        (&body["answer"]["text"], &body["verdict"]["status"]),
        (&json!("likely a dog lover"), &json!("supported")),
        "{body}"
    );
    assert!(
        body["verdict"]["reasons"][1].as_str().unwrap().contains("concludes"),
        "{body}"
    );
    let (infer, properties) = instructions(&server);
    assert_eq!(properties, ["answer", "concluded", "lines", "reason"]);

    let sentences = json!({ "sentences": [
        { "text": "It has a name.", "lines": [1] },
        { "text": "Ines chose it.", "lines": [1, 2] },
        { "text": "Everybody likes it.", "lines": [] },
    ], "reason": null });
    server.says([text(&sentences.to_string())]);
    let body = ask(json!("free"), 1).await;
    assert_eq!(body["answer"]["text"], "It has a name. Ines chose it.", "{body}");
    assert_eq!(body["answer"]["supports"].as_array().unwrap().len(), 2, "{body}");
    assert_eq!(body["verdict"]["status"], "partial", "{body}");
    let (free, properties) = instructions(&server);
    assert_eq!(properties, ["reason", "sentences"]);
    assert!(short != infer && infer != free && short != free);

    let (status, body) = running.api.post("/spaces/talk/query", &query(json!("long"), 0)).await;
    assert_eq!(status, 422, "{body}");
    assert!(body["detail"].as_str().unwrap().contains("style: "), "{body}");
    running.end().await.unwrap();
}
