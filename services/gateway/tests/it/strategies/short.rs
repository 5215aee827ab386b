//! Strategies that run short of time, or of parts of the service.

use domain::message::{PlanV1, ToolV1, ToolledV1};
use futures::future::join_all;
use serde_json::{Value, json};

use super::{ask, focused, gathered, ranked, unit};
use crate::harness::Gateway;

const STRATEGIES: [&str; 4] = ["explore", "reconstruct", "recollect", "navigate"];

#[tokio::test]
async fn a_walk_leaves_time_for_the_evidence() {
    let gateway = Gateway::new().await;
    gateway.never::<PlanV1>();
    gateway.never::<ToolV1>();
    gateway.start_router(focused);
    gateway.start_reader();
    gateway.settled().await;
    let replies = join_all(STRATEGIES.map(async |strategy| {
        let body = json!({"question": "Who was there?", "strategy": strategy, "budget": {"tokens": 64, "ms": 4000}});
        let reply = gateway.send("POST /v1/spaces/s/query", &body.to_string()).await;
        (strategy, reply)
    }));
    for (strategy, reply) in replies.await {
        assert_eq!(reply.status.as_u16(), 200, "{strategy}: {reply:?}");
        let body = reply.json();
        assert!(
            body["degraded"].to_string().contains("took too long"),
            "{strategy}: {body}"
        );
        assert_eq!(body["verdict"]["status"], "supported");
        assert_eq!(body["pack"]["budget"], 64);
        assert!(body.get("path").is_none(), "a path is told with `explain` only");
    }
}

#[tokio::test]
async fn without_reader_or_tools_there_is_still_evidence() {
    let gateway = Gateway::new().await;
    gateway.start_router(|it| ranked(it, &[("a", 1.0, "Ann: hello")], 0.9));
    gateway.settled().await;
    for strategy in STRATEGIES {
        let body = ask(&gateway, strategy, "Who was in Porto?").await;
        let degraded = body["degraded"].as_array().unwrap();
        let own = |it: &&Value| it.as_str().unwrap().starts_with(&format!("{strategy}: the step "));
        assert!(degraded.iter().filter(own).count() > 0, "{strategy}: {body}");
        let once: std::collections::BTreeSet<&str> = degraded.iter().map(|it| it.as_str().unwrap()).collect();
        assert_eq!(once.len(), degraded.len(), "each is said once");
        if strategy == "explore" {
            assert_eq!(gathered(&body), [unit("a")], "the best of the route");
        }
    }
}

#[tokio::test]
async fn a_tool_that_refuses_is_said() {
    let gateway = Gateway::new().await;
    gateway.start_router(focused);
    gateway.serve::<ToolV1>(|_| ToolledV1 {
        result: None,
        error: Some(domain::message::ToolErrorV1 {
            code: "unavailable".into(),
            message: "the memory did not answer".into(),
        }),
    });
    gateway.start_reader();
    gateway.settled().await;
    let body = ask(&gateway, "recollect", "Who was there?").await;
    let expected = ["semantic_retrieve", "lexical_retrieve"]
        .map(|it| format!("recollect: the tool {it} gave nothing (unavailable)"));
    assert_eq!(body["degraded"], json!(expected));
}
