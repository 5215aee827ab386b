//! A fault at any step that uses a language model is reported, evidence is still returned, and the budget is kept.

use serde_json::{Value, json};
use system::servers::chat::{ScriptedReply, Server};

use super::endpoints::{MARZIPAN, start_standalone};
use super::looking::{ask_with_strategy, tool_call};
use super::text_reply;

/// Each strategy with a tool that its loop may call. `route` asks for a choice and for an answer.
const STRATEGIES: [(&str, Option<&str>); 5] = [
    ("route", None),
    ("explore", Some("semantic_retrieve")),
    ("reconstruct", Some("query_topic_events")),
    ("recollect", Some("find_entity_contexts")),
    ("navigate", Some("list_dimensions")),
];
const CALLS: u32 = 6;

fn is_evidence(body: &Value) {
    assert!(
        body["cost"]["model_calls"].as_u64().unwrap() <= u64::from(CALLS),
        "{body}"
    );
    assert!(!body["pack"]["items"].as_array().unwrap().is_empty(), "{body}");
}

/// Faulty replies of an endpoint, before and after a tool call.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn faulty_replies_still_return_evidence() {
    let server = Server::start().await.unwrap();
    let (_dir, running) = start_standalone(&server.settings()).await;
    for (strategy, tool) in STRATEGIES {
        for fault in [
            ScriptedReply::Status(500),
            ScriptedReply::Status(400),
            ScriptedReply::Broken,
            text_reply("I look on."),
            ScriptedReply::Cut("{\"lines\": [".to_owned()),
        ] {
            for looks in 0..=usize::from(tool.is_some()) {
                server.script().replies.clear();
                let look = tool.map(|it| ScriptedReply::Calls(json!([tool_call(it, &json!({}))])));
                server.script_replies(look.into_iter().take(looks));
                // After a reply that cannot be read, the model is asked once more.
                server.script_replies([fault.clone(), fault.clone(), text_reply(MARZIPAN)]);
                let body = ask_with_strategy(&running.api, strategy, CALLS).await;
                let step = if strategy == "route" { "select" } else { strategy };
                let degraded_text = body["degraded"].to_string();
                let is_reported = degraded_text.contains(&format!("\"{step}: ")) || degraded_text.contains("\"plan: ");
                assert!(is_reported, "{strategy}, {fault:?}: {body}");
                is_evidence(&body);
            }
        }
    }
    // An endpoint that requests a pause of two minutes is not called at any step of the questions in that time.
    server.script().replies.clear();
    server.script_replies([ScriptedReply::Busy(120)]);
    ask_with_strategy(&running.api, "route", CALLS).await;
    server.script().requests.clear();
    for (strategy, _) in STRATEGIES {
        let body = ask_with_strategy(&running.api, strategy, CALLS).await;
        assert_ne!(body["degraded"], json!([]), "{strategy}: {body}");
        is_evidence(&body);
    }
    assert!(server.script().requests.is_empty());
    running.end().await.unwrap();
}

/// The endpoint does not run, has an unknown name, or speaks no TLS although this build does. The result is the same
/// at each step.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unreachable_endpoints_still_return_evidence() {
    let server = Server::start().await.unwrap();
    let plain = server.settings();
    let url = plain.iter().find(|it| it.0 == "language_model.url").unwrap().1.clone();
    let nobody = {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}/v1", free.local_addr().unwrap())
    };
    let mut away = vec![
        (nobody, "127.0.0.1"),
        ("http://model.invalid/v1".to_owned(), "model.invalid"),
    ];
    if host::SPEAKS_TLS {
        away.push((url.replace("http://", "https://"), "127.0.0.1"));
    }
    for (away, named) in away {
        let mut settings = plain.clone();
        settings.retain(|it| it.0 != "language_model.url");
        settings.push(("language_model.url".to_owned(), away.clone()));
        let (_dir, running) = start_standalone(&settings).await;
        for (strategy, _) in STRATEGIES {
            let body = ask_with_strategy(&running.api, strategy, CALLS).await;
            let degraded_text = body["degraded"].to_string();
            assert!(degraded_text.contains("language model"), "{strategy} at {away}: {body}");
            assert!(
                !degraded_text.contains(named),
                "{strategy} tells callers where the model is: {body}"
            );
            is_evidence(&body);
        }
        running.end().await.unwrap();
    }
}
