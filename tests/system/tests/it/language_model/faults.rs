//! A fault at any step that uses a language model is reported, evidence is still returned, and the budget is kept.

use serde_json::{Value, json};
use system::servers::chat::{Said, Server};

use super::endpoints::{MARZIPAN, started};
use super::looking::{asked, call};
use super::text;

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
    let (_dir, running) = started(&server.settings()).await;
    for (strategy, tool) in STRATEGIES {
        for fault in [
            Said::Status(500),
            Said::Status(400),
            Said::Broken,
            text("I look on."),
            Said::Cut("{\"lines\": [".to_owned()),
        ] {
            for looks in 0..=usize::from(tool.is_some()) {
                server.heard().replies.clear();
                let look = tool.map(|it| Said::Calls(json!([call(it, &json!({}))])));
                server.says(look.into_iter().take(looks));
                // After a reply that cannot be read, the model is asked once more.
                server.says([fault.clone(), fault.clone(), text(MARZIPAN)]);
                let body = asked(&running.api, strategy, CALLS).await;
                let step = if strategy == "route" { "select" } else { strategy };
                let said = body["degraded"].to_string();
                let is_said = said.contains(&format!("\"{step}: ")) || said.contains("\"plan: ");
                assert!(is_said, "{strategy}, {fault:?}: {body}");
                is_evidence(&body);
            }
        }
    }
    // An endpoint that requests a pause of a minute is not called at any step of the questions in that time.
    server.heard().replies.clear();
    server.says([Said::Busy(60)]);
    asked(&running.api, "route", CALLS).await;
    server.heard().requests.clear();
    for (strategy, _) in STRATEGIES {
        let body = asked(&running.api, strategy, CALLS).await;
        assert_ne!(body["degraded"], json!([]), "{strategy}: {body}");
        is_evidence(&body);
    }
    assert!(server.heard().requests.is_empty());
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
        let (_dir, running) = started(&settings).await;
        for (strategy, _) in STRATEGIES {
            let body = asked(&running.api, strategy, CALLS).await;
            let said = body["degraded"].to_string();
            assert!(said.contains("language model"), "{strategy} at {away}: {body}");
            assert!(
                !said.contains(named),
                "{strategy} tells callers where the model is: {body}"
            );
            is_evidence(&body);
        }
        running.end().await.unwrap();
    }
}
