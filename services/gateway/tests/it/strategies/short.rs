//! Strategies with little time, or with services that fail.

use domain::message::{PlanV1, RouteV1, RoutedV1, ToolV1, ToolsV1, TurnV1, TurnedV1};
use futures::future::join_all;
use serde_json::json;

use super::{ask, ranked, spent};
use crate::harness::Gateway;

const STRATEGIES: [&str; 4] = ["explore", "reconstruct", "recollect", "navigate"];

fn found(request: RouteV1) -> RoutedV1 {
    ranked(request, &[("a", 1.0, "Ann: hello")], 0.9)
}

#[tokio::test]
async fn services_that_never_answer_leave_time_for_the_evidence() {
    let gateway = Gateway::new().await;
    gateway.never::<PlanV1>();
    gateway.never::<TurnV1>();
    gateway.never::<ToolV1>();
    gateway.serve::<ToolsV1>(|_| Vec::new());
    gateway.start_router(found);
    gateway.start_reader();
    gateway.settled().await;
    for calls in [0, 5] {
        let replies = join_all(STRATEGIES.map(async |strategy| {
            let body = json!({"question": "Who was there?", "strategy": strategy,
                "budget": {"tokens": 64, "ms": 4000, "model_calls": calls}});
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
}

#[tokio::test]
async fn without_tools_a_model_chooses_from_the_route() {
    let gateway = Gateway::new().await;
    gateway.serve::<TurnV1>(|turn| TurnedV1 {
        lines: vec![turn.lines.len().try_into().unwrap()],
        spent: spent(1),
        ..TurnedV1::default()
    });
    gateway.start_router(found);
    gateway.start_reader();
    gateway.settled().await;
    let body = ask(&gateway, "reconstruct", 5, "Who was in Porto?").await;
    let expected = "reconstruct: the list of tools cannot be reached";
    assert_eq!(body["degraded"], json!([expected]), "{body}");
    assert_eq!(body["pack"]["items"].as_array().unwrap().len(), 1, "{body}");
}
