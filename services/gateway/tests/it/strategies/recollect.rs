use domain::anchor::Anchors;
use domain::message::{RouteV1, RoutedV1, ToolV1, ToolledV1};
use domain::time::{Precision, TimeSpan};
use serde_json::{Value, json};

use super::{about, argument, ask, focused, gathered, gave, made, path, unit};
use crate::harness::Gateway;

fn in_may(request: RouteV1) -> RoutedV1 {
    let window = TimeSpan {
        start: "2026-05-01T00:00:00Z".parse().unwrap(),
        end: "2026-06-01T00:00:00Z".parse().unwrap(),
        precision: Precision::Month,
        words: "in May".into(),
    };
    RoutedV1 {
        anchors: Anchors {
            window: Some(window),
            ..Anchors::default()
        },
        ..focused(request)
    }
}

fn gists(names: &[&str]) -> ToolledV1 {
    let told: Vec<Value> = names.iter().map(|it| json!({"unit": unit(it), "text": it})).collect();
    gave(json!({"gists": told, "facts": [{"fact": "f", "text": "x", "unit": unit(names[0])}]}))
}

async fn recollected(tool: fn(ToolV1) -> ToolledV1) -> Value {
    let gateway = Gateway::new().await;
    gateway.start_router(in_may);
    gateway.serve::<ToolV1>(tool);
    gateway.start_reader();
    gateway.settled().await;
    ask(&gateway, "recollect", "What did Ann read in May?").await
}

#[tokio::test]
async fn what_the_time_holds_is_enough() {
    let body = recollected(|call| {
        let window = (argument(&call, "start_time"), argument(&call, "end_time"));
        assert_eq!(window, ("2026-05-01T00:00:00Z", "2026-05-31T23:59:59Z"));
        if call.name == "semantic_retrieve" {
            gists(&["a", "b"])
        } else {
            gists(&["b", "c"])
        }
    })
    .await;
    assert_eq!(path(&body), ["retrieve"], "{body}");
    assert_eq!(about(&body, "retrieve"), "in May");
    assert_eq!(made(&body, "recollect.retrieve"), 1);
    // Found by both, and stated by a fact.
    assert_eq!(gathered(&body)[0], unit("b"));
    assert_eq!(gathered(&body).len(), 3);
    assert_eq!(body["degraded"], json!([]));
}

#[tokio::test]
async fn a_time_that_holds_too_little_is_left_away_once() {
    let body = recollected(|call| {
        let timed = !argument(&call, "start_time").is_empty();
        if timed { gists(&["a"]) } else { gists(&["d", "e", "f"]) }
    })
    .await;
    assert_eq!(path(&body), ["retrieve", "retrieve"], "{body}");
    assert_eq!(about(&body, "retrieve"), "any time");
    assert_eq!(gathered(&body)[0], unit("a"), "what lies in the time comes first");
    assert_eq!(gathered(&body).len(), 4);
}
