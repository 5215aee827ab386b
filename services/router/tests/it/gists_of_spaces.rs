//! Gists in a router that reads a space from the stores, and decisions about them.

use domain::curation::{Act, Curation};
use domain::evidence::Amendment;
use domain::id::{CurationId, FactId, UnitId};
use domain::message::RouteV1;
use domain::port::Position;
use domain::unit::Unit;
use host::Context;
use router::space::memory::Memory;
use router::space::view::{Marks, View};
use router::{Config, Router};

use crate::derived::{all_units, derived};
use crate::gists::{gists, shown, turn};
use crate::stores::{moment, put};
use crate::talk::{ask_with_gists, request, space, units, view_of_gists};

async fn opened(dir: &tempfile::TempDir, gists: &[Unit]) -> (Context, Router) {
    let ctx = Context::embedded_with_defaults(dir.path()).await.unwrap();
    ctx.backends.records.create_space(&space(), moment(0)).await.unwrap();
    put(&ctx, &units()).await;
    put(&ctx, gists).await;
    let router = Router::new(ctx.backends.clone(), Config::default()).unwrap();
    (ctx, router)
}

fn wanting_gists(question: &str, tokens: u32) -> RouteV1 {
    RouteV1 {
        gists: true,
        ..request(question, tokens)
    }
}

#[tokio::test]
async fn gists_are_used_only_if_the_request_allows_them() {
    let [with, without] = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let (_with, router) = opened(&with, &gists()).await;
    let (_without, plain) = opened(&without, &[]).await;
    let question = "Which mountain did Liv climb?";
    let routed = router.route_question(wanting_gists(question, 60)).await.unwrap();
    assert!(shown(&routed).contains(&gists()[0].id), "{:?}", routed.pack.items);
    let item = routed.pack.items.iter().find(|it| it.unit == gists()[0].id).unwrap();
    assert!(!item.channels.is_empty(), "the index finds it: {item:?}");
    let bytes = async |router: &Router, asked: RouteV1| {
        let mut routed = router.route_question(asked).await.unwrap();
        routed.steps.clear();
        serde_json::to_string(&routed).unwrap()
    };
    let turns = bytes(&router, request(question, 60)).await;
    assert_eq!(turns, bytes(&plain, request(question, 60)).await, "not wanted");
    assert_eq!(
        turns,
        bytes(&plain, wanting_gists(question, 60)).await,
        "there are none"
    );
}

#[tokio::test]
async fn gists_follow_the_changes_of_their_space() {
    let dir = tempfile::tempdir().unwrap();
    let (ctx, router) = opened(&dir, &[]).await;
    let shows = async || {
        let routed = router
            .route_question(wanting_gists("Which mountain did Liv climb?", 60))
            .await
            .unwrap();
        shown(&routed).contains(&gists()[0].id)
    };
    assert!(!shows().await);
    put(&ctx, &gists()).await;
    assert!(shows().await);
    let emptied: Vec<Unit> = gists().iter().map(Unit::without_content).collect();
    ctx.backends.graph.put_units(&space(), &emptied, &[]).await.unwrap();
    assert!(!shows().await);
    put(&ctx, &gists()).await;
    assert!(shows().await);
    ctx.backends.graph.put_units(&space(), &[], &[turn(7)]).await.unwrap();
    assert!(!shows().await, "its turn was erased");
}

#[tokio::test]
async fn a_forgotten_turn_excludes_its_gists() {
    let dir = tempfile::tempdir().unwrap();
    let (ctx, router) = opened(&dir, &gists()).await;
    let seen = async || {
        // The gists are selected, so that every gist is packed that may be evidence.
        let asked = RouteV1 {
            selected: gists().iter().map(|it| it.id).collect(),
            ..wanting_gists("What breed is Biscuit, the dog of Liv?", 300)
        };
        let routed = router.route_question(asked).await.unwrap();
        let seen: Vec<UnitId> = routed.ranked.iter().map(|it| it.unit).chain(shown(&routed)).collect();
        gists().iter().map(|it| seen.contains(&it.id)).collect::<Vec<bool>>()
    };
    let decide = async |number: usize, act: Act| {
        let curation = Curation {
            id: CurationId::from_external_id(&space(), &number.to_string()),
            at: moment(number as i64),
            by: String::new(),
            act,
            reason: String::new(),
        };
        let records = &ctx.backends.records;
        records.put_curations(&space(), Position(1), &[curation]).await.unwrap();
    };
    assert_eq!(seen().await, [true, true, true]);
    decide(1, Act::ForgetUnit { unit: turn(1) }).await;
    assert_eq!(seen().await, [true, false, true]);
    let curation = CurationId::from_external_id(&space(), "1");
    decide(2, Act::Undo { curation }).await;
    assert_eq!(seen().await, [true, true, true]);
    decide(3, Act::ForgetUnit { unit: gists()[0].id }).await;
    assert_eq!(seen().await, [false, true, true]);
    let asked = wanting_gists("Which mountain did Liv climb?", 300);
    assert!(
        shown(&router.route_question(asked).await.unwrap()).contains(&turn(7)),
        "its turn is still evidence"
    );
}

#[tokio::test]
async fn a_selected_gist_is_replaced_by_its_turns_if_gists_are_not_used() {
    let dir = tempfile::tempdir().unwrap();
    let (_ctx, router) = opened(&dir, &gists()).await;
    let pottery = gists()[2].id;
    let select = |asked: RouteV1| RouteV1 {
        selected: vec![pottery],
        ..asked
    };
    let as_turns = router
        .route_question(select(request("What breed is Biscuit?", 200)))
        .await
        .unwrap();
    assert!(
        [4, 5, 6].iter().all(|it| shown(&as_turns).contains(&turn(*it))),
        "{:?}",
        shown(&as_turns)
    );
    let as_gist = router
        .route_question(select(wanting_gists("What breed is Biscuit?", 200)))
        .await
        .unwrap();
    assert!(shown(&as_gist).contains(&pottery) && ![4, 5, 6].iter().any(|it| shown(&as_gist).contains(&turn(*it))));
}

#[test]
fn a_memory_finds_gists_by_their_turns() {
    let mut memory = Memory::from_units_and_derived(units().into_iter().chain(gists()), []);
    let [hike, dog, _] = [0, 1, 2].map(|it| gists()[it].id);
    assert_eq!(memory.gists_of(turn(1)).collect::<Vec<_>>(), [dog]);
    assert_eq!(memory.first_turns_of_units(&[hike, turn(0)]), [turn(7), turn(0)]);
    assert_eq!(memory.first_turns_and_gists(&[hike, turn(0)]), [hike, turn(0)]);
    assert!(memory.known_at(None).has_unit(hike) && memory.known_at(None).find_gist(hike).is_some());
    memory.take_units(&[units()[7].without_content()]);
    assert!(!memory.known_at(None).has_unit(hike) && memory.known_at(None).has_unit(dog));
    let before = memory.size_in_bytes();
    memory.take_units(&gists().iter().map(Unit::without_content).collect::<Vec<_>>());
    assert!(!memory.known_at(None).has_unit(dog) && memory.size_in_bytes() < before);
}

#[test]
fn a_correction_is_noted_after_the_gist() {
    let mut gists_view = view_of_gists(gists());
    let at = moment(0);
    let amended = |unit| Marks {
        amended: [(
            unit,
            vec![vec![Amendment {
                was: "Ulriken".to_owned(),
                now: Some("Fl\u{f8}yen".to_owned()),
                at,
            }]],
        )]
        .into(),
        ..Marks::default()
    };
    gists_view.set_marks(amended(gists()[0].id));
    let routed = ask_with_gists(
        &View::from_units(units()),
        &gists_view,
        &RouteV1 {
            selected: vec![gists()[0].id],
            ..request("Which mountain did Liv climb?", 80)
        },
    );
    let item = routed.pack.items.iter().find(|it| it.unit == gists()[0].id).unwrap();
    assert!(
        item.text.contains("[corrected since: \"Ulriken\" is \"Fl\u{f8}yen\"]"),
        "{item:?}"
    );
    assert!(routed.pack.tokens <= 80);
}

#[test]
fn corrections_apply_to_gists_that_contain_the_corrected_value() {
    let mut memory = Memory::from_units_and_derived(all_units().into_iter().chain(gists()), derived());
    let correct = |turn_number: usize, subject: &str, predicate: &str, object: &str| Curation {
        id: CurationId::from_external_id(&space(), object),
        at: moment(0),
        by: String::new(),
        act: Act::CorrectFact {
            fact: FactId::from_statement(turn(turn_number), subject, predicate, object),
            object: "something else".to_owned(),
        },
        reason: String::new(),
    };
    memory.apply_curations(&[
        correct(0, "Liv", "has", "a dog named Biscuit"),
        correct(7, "Omar", "lives in", "Oslo"),
    ]);
    let amended: Vec<&UnitId> = memory.gist_marks().amended.keys().collect();
    assert_eq!(amended, [&gists()[1].id], "the gist of turn 7 says nothing of Oslo");
    assert_eq!(memory.marks().amended.len(), 2);
}

#[test]
fn a_fact_that_was_corrected_twice_has_the_value_of_each_moment() {
    let mut memory = Memory::from_units_and_derived(all_units(), derived());
    let correct = |second: i64, fact: FactId, object: &str| Curation {
        id: CurationId::from_external_id(&space(), object),
        at: moment(second),
        by: String::new(),
        act: Act::CorrectFact {
            fact,
            object: object.to_owned(),
        },
        reason: String::new(),
    };
    let stated = FactId::from_statement(turn(0), "Liv", "has", "a dog named Biscuit");
    let first = correct(10, stated, "a dog named Cookie");
    let second = correct(20, FactId::of_correction(stated, first.id), "a dog named Cracker");
    memory.apply_curations(&[second, first]);
    let mut view = View::from_units(units());
    view.set_marks(memory.marks().clone());
    for (as_of, expected) in [
        (Some(9), None),
        (Some(10), Some("a dog named Cookie")),
        (Some(19), Some("a dog named Cookie")),
        (Some(20), Some("a dog named Cracker")),
        (None, Some("a dog named Cracker")),
    ] {
        let as_of = as_of.map(|it| moment(it).fixed_offset());
        let amendments: Vec<&Amendment> = view.amendments_of_unit(turn(0), as_of).collect();
        let values: Vec<Option<&str>> = amendments.iter().map(|it| it.now.as_deref()).collect();
        let expected: Vec<Option<&str>> = expected.into_iter().map(Some).collect();
        assert_eq!(values, expected, "as of {as_of:?}");
        assert!(amendments.iter().all(|it| it.was == "a dog named Biscuit"));
    }
}
