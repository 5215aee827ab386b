//! Budgets of a question for a language model.

use std::time::Duration;

use serde_json::{Value, json};
use system::servers::chat::{ScriptedReply, Server, USAGE};

use super::endpoints::{MARZIPAN, start_standalone};
use super::{WHO, ask_with_budget, text_reply};

/// A call that may take more tokens than the question has left is rejected before it is made.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_token_budget_of_a_question_limits_its_calls() {
    let server = Server::start().await.unwrap();
    let (_dir, running) = start_standalone(&server.settings()).await;
    let budget =
        |calls: u32, tokens: u32| json!({ "tokens": 200, "model_calls": calls, "model_tokens": tokens, "ms": 20_000 });
    for tokens in [0, 100] {
        let body = ask_with_budget(&running.api, WHO, budget(1, tokens)).await;
        let degraded = body["degraded"][0].as_str().unwrap();
        assert!(degraded.contains(&format!("{tokens} model tokens left")), "{body}");
        assert_eq!(body["cost"]["roles"], Value::Null, "{body}");
    }
    assert!(server.script().requests.is_empty());

    // The budget is too small for a choice among candidates in addition to an answer, and after one call it is too
    // small for a second.
    let (read, written) = USAGE;
    server.script_replies([text_reply("no JSON"), text_reply(MARZIPAN)]);
    let body = ask_with_budget(&running.api, WHO, budget(3, 900)).await;
    let degraded = |at: usize| body["degraded"][at].as_str().unwrap();
    assert!(
        degraded(0).starts_with("select: ") && degraded(0).contains("model tokens left"),
        "{body}"
    );
    assert!(degraded(1).contains("cannot be read"), "{body}");
    assert_eq!(body["cost"]["model_calls"], 1, "{body}");
    assert_eq!(server.script().replies.len(), 1);
    let most = server.script().requests[0]["max_tokens"].as_u64().unwrap();
    assert!((64..900 - u64::from(read)).contains(&most), "{most} for {written}");

    let body = ask_with_budget(&running.api, WHO, budget(1, 100_000)).await;
    assert_eq!(body["answer"]["text"], "Marzipan", "{body}");
    let last = server.script().requests.pop().unwrap();
    assert_eq!(last["max_tokens"], 1_024, "the settings bound it already");
    running.end().await.unwrap();
}

/// A question with model calls may take longer than others, and its deadline is kept.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_with_calls_may_take_longer() {
    let server = Server::start().await.unwrap();
    let mut settings = server.settings();
    settings.push(("gateway.request_ms_max".to_owned(), "1000".to_owned()));
    settings.push(("gateway.model_request_ms_max".to_owned(), "20000".to_owned()));
    let (_dir, running) = start_standalone(&settings).await;
    let late = ScriptedReply::Late(Duration::from_secs(3), MARZIPAN.to_owned());
    server.script_replies([late]);
    let body = ask_with_budget(
        &running.api,
        WHO,
        json!({ "tokens": 200, "model_calls": 1, "ms": 15_000 }),
    )
    .await;
    assert_eq!(body["answer"]["text"], "Marzipan", "{body}");

    for (budget, expected) in [
        (json!({ "ms": 1_001 }), "budget.ms: is more than 1000"),
        (
            json!({ "ms": 20_001, "model_calls": 1 }),
            "budget.ms: is more than 20000",
        ),
        (
            json!({ "model_tokens": 10_000_001 }),
            "budget.model_tokens: is more than",
        ),
    ] {
        let (status, body) = running
            .api
            .post("/spaces/talk/query", &json!({ "question": WHO, "budget": budget }))
            .await;
        assert_eq!(status, 422, "{body}");
        assert!(body["detail"].as_str().unwrap().contains(expected), "{body}");
    }
    running.end().await.unwrap();
}

/// `asked_at` is the present time for the search and for the model, and it does not filter evidence.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn asked_at_sets_the_present_for_search_and_model() {
    let server = Server::start().await.unwrap();
    let (_dir, running) = start_standalone(&server.settings()).await;
    let query = |asked_at: &str| {
        json!({ "question": "What did Ines do yesterday?", "asked_at": asked_at, "explain": 1,
            "budget": { "tokens": 300, "model_calls": 1, "ms": 20_000 } })
    };
    server.script_replies([text_reply(MARZIPAN), text_reply(MARZIPAN)]);
    for (asked_at, window, shown) in [
        (
            "2026-03-02T10:00:00+09:00",
            "2026-02-28T15:00:00Z",
            "Monday, 2 March 2026 at 10:00",
        ),
        (
            "2030-01-01T12:00:00Z",
            "2029-12-31T00:00:00Z",
            "Tuesday, 1 January 2030 at 12:00",
        ),
    ] {
        let (status, body) = running.api.post("/spaces/talk/query", &query(asked_at)).await;
        assert_eq!(status, 200, "{body}");
        assert_eq!(body["anchors"]["window"]["start"], window, "{body}");
        assert!(!body["pack"]["items"].as_array().unwrap().is_empty(), "{body}");
        let asked = server.script().requests.pop().unwrap();
        let prompt = asked["messages"][1]["content"].as_str().unwrap();
        assert!(prompt.contains(shown), "{prompt}");
    }
    for wrong in ["yesterday", "1066-10-14T09:00:00Z", "2026-13-01"] {
        let (status, body) = running.api.post("/spaces/talk/query", &query(wrong)).await;
        assert_eq!(status, 422, "{body}");
        assert!(body["detail"].as_str().unwrap().starts_with("asked_at: "), "{body}");
    }
    running.end().await.unwrap();
}
