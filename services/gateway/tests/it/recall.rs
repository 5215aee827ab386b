mod choice;
pub(crate) mod shares;

use std::sync::Arc;

use axum::body::Body;
use axum::http::{Request, StatusCode};
use domain::PortError;
use domain::id::HintId;
use domain::message::{RecallV1, RecalledV1};
use domain::recall::{Hint, Sensitivity, Trigger};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tower::ServiceExt;
use uuid::Uuid;

use crate::harness::Gateway;

const RECALL: &str = "POST /v1/spaces/s/recall";
const DISMISS: &str = "POST /v1/spaces/s/recall/dismiss";

/// Returns a hint of one line.
pub(crate) fn hint(request: &RecallV1, text: &str) -> Hint {
    Hint {
        id: HintId::from_uuid(Uuid::nil()),
        trigger: Trigger::Preference,
        text: text.to_owned(),
        reason: "speaks of dinner".into(),
        units: Vec::new(),
        external_ids: vec!["a".into()],
        facts: Vec::new(),
        observed_at: request.at,
        valid: true,
        valid_until: None,
        sensitivity: Sensitivity::Open,
        sides: Vec::new(),
        score: 0.5,
    }
}

/// A router that knows twenty hints and returns those that are not silenced.
fn talkative(request: RecallV1) -> RecalledV1 {
    let hint = |number: u128| Hint {
        id: HintId::from_uuid(Uuid::from_u128(number)),
        ..hint(&request, &format!("Ann said on 5 May 2026: no dish number {number}"))
    };
    let hints = (1..=20).map(hint).filter(|it| !request.silent.contains(&it.id));
    RecalledV1 {
        hints: hints.take(request.limit as usize).collect(),
        considered: 20,
        steps: vec![("triggers".into(), 0.5)],
        degraded: Vec::new(),
        degraded_codes: Vec::new(),
    }
}

async fn ask(gateway: &Gateway, body: &Value) -> Value {
    let reply = gateway.send(RECALL, &body.to_string()).await;
    assert_eq!(reply.status, StatusCode::OK, "{reply:?}");
    reply.json()
}

/// Returns the numbers of the hints.
fn numbers(body: &Value) -> Vec<u128> {
    let hints = body["hints"].as_array().unwrap();
    hints
        .iter()
        .map(|it| it["id"].as_str().unwrap().parse::<Uuid>().unwrap().as_u128())
        .collect()
}

#[tokio::test]
async fn hints_that_were_given_or_dismissed_are_not_repeated() {
    let gateway = Gateway::new().await;
    gateway.serve(talkative);
    gateway.settled().await;
    let body = ask(&gateway, &json!({"message": "Dinner on Friday?", "actor": "Ann"})).await;
    assert_eq!(numbers(&body), [1, 2, 3]);
    assert_eq!(body["hints"][0]["trigger"], "preference");
    assert_eq!(
        (&body["cost"]["candidates"], &body["cost"]["model_calls"]),
        (&json!(20), &json!(0))
    );
    assert!(
        body["cost"]["tokens"].as_u64().unwrap() > 10 && body.get("silent").is_none(),
        "{body}"
    );
    let steps: Vec<&str> = body["cost"]["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["step"].as_str().unwrap())
        .collect();
    assert_eq!(steps, ["ledger", "recall", "recall.triggers", "note"]);
    let again = json!({"message": "And dinner on Saturday?", "limit": 2});
    assert_eq!(numbers(&ask(&gateway, &again).await), [4, 5]);
    let elsewhere = json!({"message": "Dinner?", "session": "other", "limit": 1});
    assert_eq!(
        numbers(&ask(&gateway, &elsewhere).await),
        [1],
        "another session heard nothing yet"
    );
    let hints = json!({"session": "other", "hints": [Uuid::from_u128(2), Uuid::from_u128(4)]});
    assert_eq!(
        gateway.send(DISMISS, &hints.to_string()).await.status,
        StatusCode::NO_CONTENT
    );
    let third = json!({"message": "Dinner?", "session": "third", "limit": 3});
    assert_eq!(numbers(&ask(&gateway, &third).await), [1, 3, 5]);
}

/// If one gateway gives hints in a session while another one erases it, no hint is kept.
#[tokio::test]
async fn a_session_erased_while_another_gateway_answers_keeps_no_hint() {
    let gateway = Gateway::new().await;
    let other = gateway::build_router(gateway.context.clone()).unwrap();
    let (asked, answer) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (context, asked_notice, go) = (gateway.context.clone(), Arc::clone(&asked), Arc::clone(&answer));
    tokio::spawn(async move {
        let slow = async |request: RecallV1| {
            asked_notice.notify_one();
            go.notified().await;
            Ok(talkative(request))
        };
        context.serve_requests::<_, PortError, _, _>(4, slow).await.unwrap();
    });
    gateway.settled().await;
    let wish = json!({"message": "Dinner?", "session": "mon", "budget": {"ms": 20_000}});
    let erasure = async {
        asked.notified().await;
        let call = Request::delete("/v1/spaces/s/sessions/mon")
            .body(Body::empty())
            .unwrap();
        assert_eq!(other.oneshot(call).await.unwrap().status(), StatusCode::NOT_FOUND);
        answer.notify_one();
    };
    let (response, ()) = futures::future::join(ask(&gateway, &wish), erasure).await;
    assert_eq!(numbers(&response), [1, 2, 3]);
    let records = &gateway.context.backends.records;
    let kept = records.notes(&"s".parse().unwrap(), "recall/mon").await;
    assert_eq!(kept.unwrap(), []);
    answer.notify_one();
    assert_eq!(
        numbers(&ask(&gateway, &wish).await),
        [1, 2, 3],
        "a session that begins anew"
    );
}

#[tokio::test]
async fn concurrent_messages_of_a_session_share_its_limit_and_repeat_no_hint() {
    let gateway = Gateway::with("[gateway]\nrecall_hints_per_minute = 4").await;
    gateway.serve(talkative);
    gateway.settled().await;
    let wish = json!({"message": "Dinner?", "session": "one", "limit": 2});
    let other = json!({"message": "Dinner?", "session": "other", "limit": 2});
    let asked = [&wish, &wish, &other, &wish, &wish].map(|it| ask(&gateway, it));
    let hint_numbers: Vec<Vec<u128>> = futures::future::join_all(asked).await.iter().map(numbers).collect();
    assert_eq!(hint_numbers[2], [1, 2], "another session");
    let mut numbers: Vec<u128> = [0, 1, 3, 4].iter().flat_map(|it| hint_numbers[*it].clone()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [1, 2, 3, 4]);
}

#[tokio::test]
async fn a_message_waits_for_the_previous_one_at_most_as_long_as_its_budget() {
    let gateway = Gateway::new().await;
    gateway.never::<RecallV1>();
    gateway.settled().await;
    let ask = |ms: u64| {
        let body = json!({"message": "Dinner?", "session": "one", "budget": {"ms": ms}}).to_string();
        let gateway = &gateway;
        async move { gateway.send("POST /v1/spaces/s/recall", &body).await.problem() }
    };
    let second = async {
        // By then the first message is in progress.
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
        let begun = std::time::Instant::now();
        let response = ask(500).await;
        (response, begun.elapsed())
    };
    let (first, (second, after)) = tokio::join!(ask(3_000), second);
    assert_eq!(first, "504 no hints within the budget of 3000 ms");
    assert!(
        second.ends_with("while other messages of this session were in progress"),
        "{second}"
    );
    assert!(after.as_millis() < 2_000, "{after:?}");
}

#[tokio::test]
async fn hints_of_a_session_are_limited_for_each_minute() {
    let gateway = Gateway::with("[gateway]\nrecall_hints_per_minute = 4").await;
    gateway.serve(talkative);
    gateway.settled().await;
    let wish = json!({"message": "Dinner?"});
    assert_eq!(numbers(&ask(&gateway, &wish).await), [1, 2, 3]);
    assert_eq!(numbers(&ask(&gateway, &wish).await), [4]);
    let silent = ask(&gateway, &wish).await;
    assert_eq!(numbers(&silent), []);
    assert_eq!(
        silent["silent"],
        "this session got 4 hints within a minute; try again later"
    );
    assert_eq!(
        numbers(&ask(&gateway, &json!({"message": "Dinner?", "session": "other"})).await),
        [1, 2, 3]
    );
}

#[tokio::test]
async fn silence_is_explained() {
    let gateway = Gateway::new().await;
    gateway.serve(|_: RecallV1| RecalledV1::default());
    gateway.settled().await;
    let body = ask(&gateway, &json!({"message": "Good morning"})).await;
    assert_eq!(body["silent"], "the message relates to nothing in this memory");
    assert_eq!(body["hints"], json!([]));
}

#[tokio::test]
async fn without_a_router_there_are_no_hints() {
    let gateway = Gateway::new().await;
    let reply = gateway
        .send(RECALL, r#"{"message":"Dinner?","budget":{"ms":20000}}"#)
        .await;
    assert!(reply.problem().starts_with("503 "), "{reply:?}");
}

#[tokio::test]
async fn invalid_recall_requests_are_a_problem() {
    let gateway = Gateway::new().await;
    for (call, body, expected) in [
        (RECALL, json!({}), "422 missing field `message`"),
        (RECALL, json!({"message": " "}), "422 message: is empty"),
        (
            RECALL,
            json!({"message": "x".repeat(9_000)}),
            "422 message: has 9000 bytes, more than 8192",
        ),
        (
            RECALL,
            json!({"message": "x", "limit": 11}),
            "422 limit: must be 1 to 10",
        ),
        (RECALL, json!({"message": "x", "limit": 0}), "422 limit: must be 1 to"),
        (RECALL, json!({"message": "x", "session": ""}), "422 session: is empty"),
        (
            RECALL,
            json!({"message": "x", "session": "é".repeat(150)}),
            "422 session: has 300 bytes, more than 240",
        ),
        (
            RECALL,
            json!({"message": "x", "at": "soon"}),
            "422 at: is not a time like",
        ),
        (
            RECALL,
            json!({"message": "x", "actor": "a\nb"}),
            "422 actor: holds the control character",
        ),
        (
            RECALL,
            json!({"message": "x", "budget": {"ms": 99_999}}),
            "422 budget.ms: is more than 30000",
        ),
        (
            RECALL,
            json!({"message": "x", "after": "1"}),
            "422 this is not a watermark of the space `s`",
        ),
        (
            RECALL,
            json!({"message": "x", "loud": true}),
            "422 loud: unknown field `loud`",
        ),
        (
            DISMISS,
            json!({"hints": []}),
            "422 hints: must have 1 to 100 ids, this request has 0",
        ),
        (DISMISS, json!({"hints": ["x"]}), "422 hints[0]: UUID parsing failed"),
        (
            DISMISS,
            json!({"hints": [Uuid::nil()], "session": " "}),
            "422 session: is empty",
        ),
    ] {
        let problem = gateway.send(call, &body.to_string()).await.problem();
        assert!(problem.starts_with(expected), "{body}: {problem}");
    }
    let nobody = gateway
        .send("POST /v1/spaces/nobody/recall", r#"{"message":"x"}"#)
        .await
        .problem();
    assert!(nobody.starts_with("404 there is no space `nobody`"), "{nobody}");
}

/// A caller with read access may use any number of session names; the ledger of the space stays within its limit.
#[tokio::test]
async fn the_size_of_the_ledger_of_many_sessions_is_limited() {
    let gateway = Gateway::with("gateway.recall_notes_max = 1000").await;
    gateway.serve(talkative);
    gateway.settled().await;
    let space: domain::id::SpaceId = "s".parse().unwrap();
    let stores = &gateway.context.backends;
    let created_at = stores.records.space(&space).await.unwrap().unwrap().created_at;
    let all = domain::erasure::Erased::Space { created_at };
    let (mut most, mut last) = (0, 0);
    for number in 0..120 {
        let body = json!({"message": "Dinner?", "session": format!("flood {number}"), "limit": 10});
        assert_eq!(numbers(&ask(&gateway, &body).await).len(), 10);
        last = stores.receipts.count_remaining_data(&space, &all).await.unwrap()["notes"];
        most = last.max(most);
    }
    assert!(most <= 1_000 && last >= 900, "{most} {last}");
    let again = json!({"message": "Dinner?", "session": "flood 119", "limit": 10});
    assert_eq!(
        ask(&gateway, &again).await["hints"],
        json!([]),
        "the latest session is remembered"
    );
}
