//! Calls whose caller leaves, and calls that reach a time limit.

use axum::http::StatusCode;
use domain::message::{RecallV1, RouteV1};
use serde_json::json;

use super::called;
use crate::harness::Gateway;
use crate::recall::shares::{HELD, start_holding_router};

#[tokio::test]
async fn a_call_that_only_reads_ends_when_its_caller_disconnects() {
    let gateway = Gateway::new().await;
    let asked = start_holding_router(&gateway);
    gateway.settled().await;
    let held = json!({"message": HELD, "model_calls": 2});
    tokio::select! {
        reply = called(&gateway, "", "recall", held) => panic!("{reply:?}"),
        () = asked.notified() => {}
    }
    // A message of the same session is served after the end of the call, which may otherwise take longer than this one.
    let next = json!({"message": "Hello.", "budget": {"ms": 20_000}}).to_string();
    let reply = gateway.send("POST /v1/spaces/s/recall", &next).await;
    assert_eq!(reply.status, StatusCode::OK, "{reply:?}");
}

#[tokio::test]
async fn a_call_with_calls_of_a_model_has_the_time_limit_of_a_question() {
    let limits = "[gateway]\nrequest_ms_max = 50\nmodel_request_ms_max = 3000";
    let gateway = Gateway::with(limits).await;
    gateway.never::<RouteV1>();
    gateway.never::<RecallV1>();
    gateway.settled().await;
    let asked = json!({"question": "Where is Ann?", "model_calls": 2});
    let said = json!({"message": "I met Ann.", "model_calls": 2});
    let (answer, hints) = tokio::join!(called(&gateway, "", "ask", asked), called(&gateway, "", "recall", said));
    for (texts, failed) in [answer, hints] {
        assert!(failed && texts[0].contains("within the budget of 3000 ms"), "{texts:?}");
    }
}
