//! The shares of a key in what the router answers at once.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use domain::PortError;
use domain::id::UnitId;
use domain::message::{RecallV1, RecalledV1, ToolV1, ToolledV1, ToolsV1, TurnV1, TurnedV1};
use domain::port::ModelCost;
use domain::recall::Hint;
use serde_json::json;
use tokio::sync::Notify;
use tokio::time::sleep;
use uuid::Uuid;

use super::{RECALL, hint};
use crate::access::KEYS;
use crate::harness::Gateway;

/// A message that the router in [`start_holding_router`] holds.
pub(crate) const HELD: &str = "Hold this one.";

/// Starts a router that never answers the message [`HELD`] of recall, and notifies when it arrives.
pub(crate) fn start_holding_router(gateway: &Gateway) -> Arc<Notify> {
    let asked = Arc::new(Notify::new());
    let (context, asked_notice) = (gateway.context.clone(), Arc::clone(&asked));
    tokio::spawn(async move {
        let answer = async |request: RecallV1| {
            if request.message == HELD {
                asked_notice.notify_one();
                pending::<()>().await;
            }
            Ok(RecalledV1::default())
        };
        context.serve_requests::<_, PortError, _, _>(4, answer).await.unwrap();
    });
    gateway.serve::<ToolV1>(|_| ToolledV1 {
        result: Some(json!({})),
        error: None,
    });
    asked
}

fn recall(session: &str, message: &str, ms: u64) -> String {
    json!({"session": session, "message": message, "budget": {"ms": ms}}).to_string()
}

#[tokio::test]
async fn messages_of_one_key_do_not_wait_for_another_key() {
    let settings = format!("[gateway]\nquestions_max = 8\nquestions_per_key_max = 1\n{KEYS}");
    let gateway = Gateway::with(&settings).await;
    let asked = start_holding_router(&gateway);
    gateway.settled().await;
    let ask = async |key: &str, body: String| gateway.send_as(key, RECALL, &body).await;
    let others = async {
        asked.notified().await;
        let own = ask("reader", recall("two", "Hello.", 200)).await;
        let other = ask("writer", recall("three", "Hello.", 20_000)).await;
        (own, other)
    };
    tokio::select! {
        reply = ask("reader", recall("one", HELD, 30_000)) => panic!("{reply:?}"),
        (own, other) = others => {
            let expected = "504 the time limit was reached while other questions of this key were in progress";
            assert_eq!(own.problem(), expected);
            assert_eq!(other.status, StatusCode::OK, "{other:?}");
        }
    }
}

#[tokio::test]
async fn messages_and_tools_are_limited_as_questions_are() {
    let gateway = Gateway::with("[gateway]\nquestions_max = 1").await;
    let asked = start_holding_router(&gateway);
    gateway.settled().await;
    let message = recall("two", "Hello.", 20_000);
    let others = async {
        asked.notified().await;
        let message = gateway.send(RECALL, &message).await;
        let tool = gateway.send("POST /v1/spaces/s/tools/echo", "{}").await;
        [message, tool]
    };
    let held = recall("one", HELD, 30_000);
    tokio::select! {
        reply = gateway.send(RECALL, &held) => panic!("{reply:?}"),
        refused = others => {
            for reply in refused {
                let expected = "429 1 questions are in progress, which is the maximum; try again";
                assert_eq!(reply.problem(), expected);
            }
        }
    }
}

/// A later look waits, because a refusal would waste the calls of the language model.
#[tokio::test]
async fn a_look_after_the_choice_of_a_model_waits_for_other_questions() {
    let gateway = Gateway::with("[gateway]\nquestions_max = 1").await;
    let (choosing, held, release) = (
        Arc::new(Notify::new()),
        Arc::new(Notify::new()),
        Arc::new(Notify::new()),
    );
    let (context, held_notice, released) = (gateway.context.clone(), Arc::clone(&held), Arc::clone(&release));
    tokio::spawn(async move {
        let answer = async |request: RecallV1| {
            if request.message == HELD {
                held_notice.notify_one();
                released.notified().await;
                return Ok(RecalledV1::default());
            }
            Ok(RecalledV1 {
                hints: vec![Hint {
                    units: vec![UnitId::from_uuid(Uuid::from_u128(1))],
                    ..hint(&request, "No fish.")
                }],
                considered: 1,
                ..RecalledV1::default()
            })
        };
        context.serve_requests::<_, PortError, _, _>(4, answer).await.unwrap();
    });
    gateway.serve::<ToolsV1>(|_| Vec::new());
    let (context, choosing_notice, go) = (gateway.context.clone(), Arc::clone(&choosing), Arc::clone(&held));
    tokio::spawn(async move {
        let choose = async |_: TurnV1| {
            choosing_notice.notify_one();
            go.notified().await;
            let spent = ModelCost {
                calls: 1,
                ..ModelCost::default()
            };
            Ok(TurnedV1 {
                lines: vec![1],
                spent,
                ..TurnedV1::default()
            })
        };
        context.serve_requests::<_, PortError, _, _>(4, choose).await.unwrap();
    });
    gateway.settled().await;
    let chosen =
        json!({"session": "one", "message": "Dinner?", "budget": {"model_calls": 1, "ms": 20_000}}).to_string();
    let other = recall("two", HELD, 20_000);
    let hold = async {
        choosing.notified().await;
        gateway.send(RECALL, &other).await
    };
    let end_hold = async {
        sleep(Duration::from_millis(500)).await;
        release.notify_one();
    };
    let (chosen, other, ()) = tokio::join!(gateway.send(RECALL, &chosen), hold, end_hold);
    assert_eq!(other.status, StatusCode::OK, "{other:?}");
    assert_eq!(chosen.status, StatusCode::OK, "{chosen:?}");
    assert_eq!(chosen.json()["hints"][0]["text"], "No fish.", "{chosen:?}");
}
