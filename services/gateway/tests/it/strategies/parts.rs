//! Strategies without a language model: the route of the question, with a focus on the results of its parts.

use domain::message::{PlanV1, RouteV1, RoutedV1};
use serde_json::json;

use super::{ask, gathered, path, planned, ranked, unit};
use crate::harness::Gateway;

const WHOLE: &str = "Who lives where Mira moved?";
const FIRST: &str = "Where did Mira move?";
const SECOND: &str = "Who lives there?";

fn found(request: RouteV1) -> RoutedV1 {
    let units: &[(&str, f32, &str)] = match request.question.as_str() {
        FIRST => &[("a", 3.0, "Mira: I moved to Porto."), ("b", 2.0, "Ann: In May.")],
        SECOND => &[
            ("c", 3.0, "Ann: Jonas lives in Porto."),
            ("a", -2.0, "Mira: I moved to Porto."),
        ],
        _ => &[("d", 2.0, "Ann: Hello.")],
    };
    ranked(request, units, 0.5)
}

#[tokio::test]
async fn the_results_of_the_parts_are_in_focus() {
    let gateway = Gateway::new().await;
    gateway.serve::<PlanV1>(|it| match it.question.as_str() {
        WHOLE => planned(&[WHOLE, FIRST, SECOND], 0),
        whole => planned(&[whole], 0),
    });
    gateway.start_router(found);
    gateway.start_reader();
    gateway.settled().await;
    // The single allowed call is the one that answers.
    for (strategy, calls) in [("explore", 0), ("reconstruct", 1), ("recollect", 0), ("navigate", 1)] {
        let body = ask(&gateway, strategy, calls, WHOLE).await;
        assert_eq!(path(&body), ["plan", "part", "part"], "{body}");
        assert_eq!(
            gathered(&body),
            ["a", "c", "b"].map(unit),
            "the best of each part first"
        );
        assert_eq!(body["degraded"], json!([]));
        let body = ask(&gateway, strategy, calls, "Who is Mira?").await;
        assert_eq!(
            (path(&body), gathered(&body).len()),
            (vec!["plan"], 0),
            "one part: {body}"
        );
    }
}

#[tokio::test]
async fn without_a_plan_the_question_is_one_part() {
    let gateway = Gateway::new().await;
    gateway.start_router(found);
    gateway.start_reader();
    gateway.settled().await;
    let body = ask(&gateway, "explore", 0, WHOLE).await;
    let expected = "plan: the reader cannot be reached; the question is one part";
    assert_eq!(body["degraded"], json!([expected]), "{body}");
}
