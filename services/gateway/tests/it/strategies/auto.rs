use domain::anchor::{Anchors, AnswerKind, HopShape};
use domain::message::{PlanV1, PlannedV1, RouteV1, RoutedV1, ToolV1, ToolledV1};
use domain::time::TimeSpan;

use super::{about, ask, focused, made, planned};
use crate::harness::Gateway;

fn anchored(request: RouteV1) -> RoutedV1 {
    let mut anchors = Anchors::default();
    match request.question.as_str() {
        "What do Ann and Ben share?" => anchors.hops = HopShape::Multi,
        "What did Ann read in May?" => {
            anchors.window = Some(TimeSpan::instant("2026-05-01T00:00:00Z".parse().unwrap()))
        }
        "When in May did Ann read?" => {
            anchors.window = Some(TimeSpan::instant("2026-05-01T00:00:00Z".parse().unwrap()));
            anchors.answer = AnswerKind::When;
        }
        "Where does Ann live?" => anchors.subjects = vec!["Ann".into()],
        "Who plays at the Odeon?" => anchors.names = vec!["Odeon".into()],
        _ => {}
    }
    RoutedV1 {
        anchors,
        ..focused(request)
    }
}

fn parts(request: PlanV1) -> PlannedV1 {
    if request.question == "Who came, and who left early?" {
        planned(&[&request.question, "Who came?", "Who left early?"], &[])
    } else {
        planned(&[&request.question], &[])
    }
}

#[tokio::test]
async fn the_question_chooses() {
    let gateway = Gateway::new().await;
    gateway.serve::<PlanV1>(parts);
    gateway.start_router(anchored);
    gateway.serve::<ToolV1>(|_| ToolledV1::default());
    gateway.start_reader();
    gateway.settled().await;
    for (question, expected) in [
        ("What do Ann and Ben share?", "explore: gathers several facts"),
        ("What did Ann read in May?", "recollect: names a time"),
        ("Where does Ann live?", "recollect: asks for what lasts"),
        ("Tell me about the garden.", "navigate: asks about something as a whole"),
        ("Who plays at the Odeon?", "reconstruct: names something"),
        ("Who came, and who left early?", "explore: falls into several parts"),
        ("When in May did Ann read?", "route: one fact in one place"),
        ("What fell?", "route: one fact in one place"),
    ] {
        let body = ask(&gateway, "auto", question).await;
        assert_eq!(about(&body, "auto"), expected, "{question}");
        let (strategy, _) = expected.split_once(':').unwrap();
        assert_eq!(made(&body, strategy), 1, "{question}: {body}");
    }
}
