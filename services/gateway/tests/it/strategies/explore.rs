use domain::id::{RecordId, UnitId};
use domain::message::{PlanV1, PlannedV1, RouteV1, RoutedV1, ToolV1, ToolledV1};
use serde_json::{Value, json};

use super::{about, argument, ask, gathered, gave, made, path, planned, ranked, space, unit};
use crate::harness::Gateway;

const WHOLE: &str = "Who lives where Mira moved?";
const FIRST: &str = "Where did Mira move?";
const SECOND: &str = "Who lives there?";

fn two_parts(_: PlanV1) -> PlannedV1 {
    planned(&[WHOLE, FIRST, SECOND], &[])
}

fn sure(request: RouteV1) -> RoutedV1 {
    let units: &[(&str, f32, &str)] = match request.question.as_str() {
        FIRST => &[("a", 3.0, "Mira: I moved to Porto.")],
        SECOND => &[
            ("b", 3.0, "Ann: Jonas lives in Porto."),
            ("a", -2.0, "Mira: I moved to Porto."),
        ],
        _ => &[
            ("a", 2.0, "Mira: I moved to Porto."),
            ("b", 1.5, "Ann: Jonas lives in Porto."),
        ],
    };
    ranked(request, units, 0.5)
}

fn related(names: impl IntoIterator<Item = UnitId>) -> ToolledV1 {
    let told = names
        .into_iter()
        .map(|it| json!({"unit": it, "relation": "causes", "weight": 0.9, "text": "x"}));
    gave(json!({"related": told.collect::<Vec<Value>>()}))
}

#[tokio::test]
async fn it_stops_when_every_part_is_met() {
    let gateway = Gateway::new().await;
    gateway.serve::<PlanV1>(two_parts);
    gateway.start_router(sure);
    gateway.serve::<ToolV1>(|_| related(["a", "b", "c", "d"].map(unit)));
    gateway.start_reader();
    gateway.settled().await;
    let body = ask(&gateway, "explore", WHOLE).await;
    let steps = ["plan", "localise", "localise", "localise", "expand", "answer", "stop"];
    assert_eq!(path(&body), steps, "{body}");
    assert_eq!(about(&body, "stop"), "3 of 3 subgoals met");
    let mut found = gathered(&body);
    found.sort();
    let mut expected = vec![unit("a"), unit("b")];
    expected.sort();
    assert_eq!(found, expected, "what the relations led to was not needed");
    assert_eq!(body["degraded"], json!([]));
    assert_eq!((made(&body, "explore"), made(&body, "explore.expand")), (1, 1));
}

/// Everything is equally likely and nothing sure.
fn unsure(request: RouteV1) -> RoutedV1 {
    let names: Vec<String> = (0..60).map(|it| it.to_string()).collect();
    let units: Vec<(&str, f32, &str)> = names
        .iter()
        .map(|it| (it.as_str(), 0.5, "Ann: we met Rex there"))
        .collect();
    ranked(request, &units, 0.01)
}

#[tokio::test]
async fn without_an_end_it_asks_once_more_and_stops() {
    let gateway = Gateway::new().await;
    gateway.serve::<PlanV1>(|it| planned(&[&it.question], &[]));
    gateway.start_router(unsure);
    gateway.serve::<ToolV1>(|_| related((0..60).map(|it| unit(&it.to_string()))));
    gateway.start_reader();
    gateway.settled().await;
    let body = ask(&gateway, "explore", "Who was there?").await;
    assert_eq!(made(&body, "explore.expand"), 12 + 6);
    assert_eq!(made(&body, "explore.refine"), 1);
    assert_eq!(about(&body, "refine"), "Who was there? Rex", "it asks for whom it met");
    assert_eq!(about(&body, "stop"), "0 of 2 subgoals met");
    assert_eq!(gathered(&body).len(), 18);
    assert_eq!(body["degraded"], json!([]), "its own bounds are no fault");
}

/// Units that no subgoal knows are passed through, ever less willingly.
#[tokio::test]
async fn a_way_that_leads_nowhere_is_left() {
    let gateway = Gateway::new().await;
    gateway.serve::<PlanV1>(|it| planned(&[&it.question], &[]));
    gateway.start_router(|it| ranked(it, &[("a", 1.0, "Ann: hello")], 0.01));
    gateway.serve::<ToolV1>(|call| {
        let next = RecordId::derive(&space(), argument(&call, "unit"));
        related([UnitId::turn(next)])
    });
    gateway.start_reader();
    gateway.settled().await;
    let body = ask(&gateway, "explore", "hello").await;
    let steps = ["plan", "localise", "expand", "skip", "skip", "skip", "skip", "stop"];
    assert_eq!(path(&body), steps, "{body}");
    assert_eq!(about(&body, "skip"), "all that is left in the queue");
    assert_eq!(gathered(&body), [unit("a")]);
}
