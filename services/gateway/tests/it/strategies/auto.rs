use domain::anchor::{Anchors, HopShape};
use domain::message::{PlanV1, RouteV1, RoutedV1, ToolsV1, TurnV1, TurnedV1};

use super::{about, ask, focused, planned, spent};
use crate::harness::Gateway;

const MANY: &str = "What do Ann and Ben share?";

fn anchored(request: RouteV1) -> RoutedV1 {
    let mut anchors = Anchors::default();
    if request.question == MANY {
        anchors.hops = HopShape::Multi;
    }
    RoutedV1 {
        anchors,
        ..focused(request)
    }
}

#[tokio::test]
async fn the_question_and_its_budget_determine_the_strategy() {
    let gateway = Gateway::new().await;
    gateway.serve::<PlanV1>(|it| planned(&[&it.question], 1));
    gateway.serve::<ToolsV1>(|_| Vec::new());
    gateway.serve::<TurnV1>(|_| TurnedV1 {
        spent: spent(1),
        ..TurnedV1::default()
    });
    gateway.start_router(anchored);
    gateway.start_reader();
    gateway.settled().await;
    for (question, calls, expected) in [
        (
            MANY,
            4,
            "explore: the question needs several facts, and a model may search for them",
        ),
        (
            MANY,
            3,
            "route: the question needs several facts, but there are too few model calls to search for them",
        ),
        (
            MANY,
            0,
            "route: the question needs several facts, but there are too few model calls to search for them",
        ),
        ("What fell?", 9, "route: the question needs one fact"),
    ] {
        let body = ask(&gateway, "auto", calls, question).await;
        assert_eq!(about(&body, "auto"), expected, "{question} {calls}");
        let looked = body["cost"]["roles"]["decide"]["calls"] == 1;
        assert_eq!(looked, expected.starts_with("explore"), "{body}");
    }
}
