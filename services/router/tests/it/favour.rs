//! Decisions of people and the focus of strategies: forgotten, pinned and focused units.

use domain::curation::{Act, Curation};
use domain::id::{CurationId, RecordId, UnitId};
use domain::message::{RouteV1, RoutedV1};
use domain::port::Position;
use host::Context;
use router::{Config, Router};

use crate::derived::{all_units, derived, event_at, turn};
use crate::stores::{moment, put};
use crate::talk::{packed, request, space};

const ASKED: &str = "What did Omar make in pottery classes?";

async fn opened(dir: &tempfile::TempDir) -> (Context, Router) {
    let ctx = Context::embedded_with_defaults(dir.path()).await.unwrap();
    ctx.backends.records.create_space(&space(), moment(0)).await.unwrap();
    put(&ctx, &all_units()).await;
    let router = Router::new(ctx.backends.clone(), Config::default()).unwrap();
    (ctx, router)
}

/// Returns the result of a route as JSON, without the times of the steps and the topics of ranked units.
async fn bytes(router: &Router, asked: &RouteV1) -> String {
    let mut routed = router.route_question(asked.clone()).await.unwrap();
    routed.steps.clear();
    routed.ranked.iter_mut().for_each(|it| it.topic = None);
    serde_json::to_string(&routed).unwrap()
}

async fn decide(ctx: &Context, number: usize, act: Act) {
    let curation = Curation {
        id: CurationId::from_external_id(&space(), &number.to_string()),
        at: moment(number as i64),
        by: String::new(),
        act,
        reason: String::new(),
    };
    ctx.backends
        .records
        .put_curations(&space(), Position(1), &[curation])
        .await
        .unwrap();
}

fn rank(routed: &RoutedV1, unit: UnitId) -> Option<usize> {
    routed.ranked.iter().position(|it| it.unit == unit)
}

#[tokio::test]
async fn derived_objects_do_not_change_a_pack() {
    let dir = tempfile::tempdir().unwrap();
    let (ctx, router) = opened(&dir).await;
    let asked = request(ASKED, 60);
    let before = bytes(&router, &asked).await;
    ctx.backends.graph.put_derived(&space(), &derived(), &[]).await.unwrap();
    assert_eq!(bytes(&router, &asked).await, before);
    let routed = router.route_question(asked.clone()).await.unwrap();
    assert!(routed.ranked.iter().any(|it| it.topic.is_some()), "{:?}", routed.ranked);
    let nobody = UnitId::of_turn(RecordId::from_external_id(&space(), "nobody"));
    let unknown = RouteV1 {
        focus: vec![nobody],
        ..asked.clone()
    };
    assert_eq!(bytes(&router, &unknown).await, before);
    let other = Router::new(ctx.backends.clone(), Config::default()).unwrap();
    assert_eq!(bytes(&other, &asked).await, before);
}

fn centers(routed: &RoutedV1) -> Vec<UnitId> {
    routed.scenes.iter().map(|it| it.turns[it.center].unit).collect()
}

#[tokio::test]
async fn turns_whose_facts_answer_the_question_get_a_scene() {
    let dir = tempfile::tempdir().unwrap();
    let (ctx, router) = opened(&dir).await;
    let asked = RouteV1 {
        scenes: 1,
        ..request("Where does Omar live now?", 60)
    };
    assert_eq!(router.route_question(asked.clone()).await.unwrap().scenes.len(), 1);
    ctx.backends.graph.put_derived(&space(), &derived(), &[]).await.unwrap();
    let scene_centers = centers(&router.route_question(asked.clone()).await.unwrap());
    assert!(
        scene_centers.contains(&turn(7)) && scene_centers.contains(&turn(4)),
        "{scene_centers:?}"
    );
    let earlier = RouteV1 {
        as_of: Some("2024-05-01T00:00:00Z".parse().unwrap()),
        ..asked.clone()
    };
    let scene_centers = centers(&router.route_question(earlier).await.unwrap());
    assert!(
        !scene_centers.contains(&turn(7)) && scene_centers.contains(&turn(4)),
        "{scene_centers:?}"
    );
    let other = RouteV1 {
        question: "Where does Liv live now?".to_owned(),
        ..asked
    };
    assert_eq!(router.route_question(other).await.unwrap().scenes.len(), 1);
}

#[tokio::test]
async fn forgotten_units_are_not_evidence() {
    let dir = tempfile::tempdir().unwrap();
    let (ctx, router) = opened(&dir).await;
    let asked = request(ASKED, 200);
    let before = bytes(&router, &asked).await;
    decide(&ctx, 1, Act::ForgetUnit { unit: turn(6) }).await;
    let routed = router.route_question(asked.clone()).await.unwrap();
    assert_eq!(routed.units, 7);
    assert!(!packed(&routed).contains(&"r6") && rank(&routed, turn(6)).is_none());
    assert!(
        routed
            .scenes
            .iter()
            .flat_map(|it| &it.turns)
            .all(|it| it.unit != turn(6))
    );
    let wanted = RouteV1 {
        focus: vec![turn(6)],
        ..asked.clone()
    };
    assert!(rank(&router.route_question(wanted).await.unwrap(), turn(6)).is_none());
    decide(&ctx, 2, Act::ForgetUnit { unit: event_at(4) }).await;
    assert_eq!(router.route_question(asked.clone()).await.unwrap().units, 5);
    for (number, act) in [(3, 1), (4, 2)] {
        let curation = CurationId::from_external_id(&space(), &act.to_string());
        decide(&ctx, number, Act::Undo { curation }).await;
    }
    assert_eq!(bytes(&router, &asked).await, before);
}

#[tokio::test]
async fn pinned_and_focused_units_rank_before_their_equals() {
    let dir = tempfile::tempdir().unwrap();
    let (ctx, router) = opened(&dir).await;
    let asked = request(ASKED, 60);
    let before = router.route_question(asked.clone()).await.unwrap();
    let support = |routed: &RoutedV1, number: usize| routed.ranked[rank(routed, turn(number)).unwrap()].score;
    decide(&ctx, 1, Act::PinUnit { unit: turn(6) }).await;
    decide(&ctx, 2, Act::PinUnit { unit: turn(1) }).await;
    let pinned = router.route_question(asked.clone()).await.unwrap();
    let gain = |number: usize| support(&pinned, number) - support(&before, number);
    assert!(
        (gain(6) - 0.5).abs() < 1e-4 && gain(2).abs() < 1e-4,
        "{} {}",
        gain(6),
        gain(2)
    );
    assert!(
        pinned
            .explained
            .iter()
            .any(|it| it.reason.contains("ranked higher by 0.50"))
    );
    let focused = RouteV1 {
        focus: vec![turn(0), event_at(4)],
        ..asked
    };
    let focused = router.route_question(focused).await.unwrap();
    let gain = |number: usize| support(&focused, number) - support(&pinned, number);
    assert!((gain(0) - 1.5).abs() < 1e-4 && gain(4) > 0.7 && gain(5) > 0.7 && gain(2).abs() < 1e-4);
    assert!(gain(4) < gain(0) && gain(5) < gain(4));
}
