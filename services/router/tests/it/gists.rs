//! A gist and the turns that it was read in are one piece of evidence: the pack shows one of the two forms, by its price.

use domain::curation::{Act, Curation};
use domain::evidence::Amendment;
use domain::id::{CurationId, FactId, UnitId};
use domain::message::{RouteV1, RoutedV1};
use domain::port::Position;
use domain::unit::Unit;
use host::Context;
use router::memory::Memory;
use router::view::{Marks, View};
use router::{Config, Router};

use crate::derived::{all_units, derived};
use crate::stores::{moment, put};
use crate::talk::{ask, ask_with_gists, gist, packed, request, space, units, view_of_gists};

const HIKE: &str = "Liv hiked up Mount Ulriken with her dog Biscuit on 18 May 2024.";
const DOG: &str = "Liv adopted Biscuit, a beagle of about three years, from the shelter by 2 March 2024.";
const POTTERY: &str = "Omar made two bowls and a mug in pottery classes in April 2024.";

/// Gists of the talk: one of the last turn, one of the first three, one of what two said about pottery.
pub(crate) fn gists() -> Vec<Unit> {
    let all = units();
    vec![
        gist(0, &all[7..8], HIKE),
        gist(0, &all[0..3], DOG),
        gist(0, &all[4..7], POTTERY),
    ]
}

fn asked(question: &str, tokens: u32) -> RoutedV1 {
    ask_with_gists(&View::of(units()), &view_of_gists(gists()), &request(question, tokens))
}

fn shown(routed: &RoutedV1) -> Vec<UnitId> {
    routed.pack.items.iter().map(|it| it.unit).collect()
}

fn turn(number: usize) -> UnitId {
    units()[number].id
}

#[test]
fn gist_is_packed_instead_of_its_longer_turn() {
    let question = "Which mountain did Liv climb?";
    let routed = asked(question, 60);
    let (units, hike) = (shown(&routed), &gists()[0]);
    assert!(units.contains(&hike.id) && !units.contains(&turn(7)), "{units:?}");
    let item = routed.pack.items.iter().find(|it| it.unit == hike.id).unwrap();
    assert_eq!(item.records, hike.records);
    assert_eq!(
        (item.external_ids.join(" ").as_str(), item.actor.as_str()),
        ("r7", "Liv")
    );
    let line = item.text.rsplit('\n').next().unwrap();
    assert_eq!(line, HIKE, "no label: the names are in the text");
    // Without gists the turn itself is packed.
    let turns = ask(&View::of(crate::talk::units()), &request(question, 60));
    assert!(shown(&turns).contains(&turn(7)));
    assert!(routed.pack.tokens < turns.pack.tokens || shown(&routed).len() > shown(&turns).len());
}

#[test]
fn short_turn_is_packed_instead_of_a_longer_gist() {
    let all = units();
    let long = "In a talk with Omar on 2 March 2024, after he had congratulated her and asked what breed the dog Biscuit is, Liv said \
        that Biscuit is a beagle and about three years old.";
    let gists = view_of_gists([gist(0, &all[2..3], long)]);
    let routed = ask_with_gists(&View::of(units()), &gists, &request("What breed is Biscuit?", 50));
    assert!(shown(&routed).contains(&turn(2)), "{:?}", routed.pack.items);
    assert!(!shown(&routed).contains(&gists.turns()[0].unit.id));
}

#[test]
fn turn_and_its_gist_are_never_packed_together() {
    for question in [
        "Which mountain did Liv climb?",
        "What did Omar make?",
        "What breed is Biscuit?",
    ] {
        for tokens in [30, 60, 120, 256, 2_000] {
            let routed = asked(question, tokens);
            assert!(routed.pack.tokens <= tokens);
            let units = shown(&routed);
            for gist in gists().iter().filter(|it| units.contains(&it.id)) {
                let mut turns = gist.records.iter().map(|it| UnitId::turn(*it));
                assert!(!turns.all(|it| units.contains(&it)), "{question} {tokens}: {units:?}");
            }
        }
    }
    // With room for all, the pack shows everything once: each gist or its turns, and the turn without a gist.
    let all = asked("What did Liv and Omar do?", 2_000);
    let external: Vec<&String> = all.pack.items.iter().flat_map(|it| &it.external_ids).collect();
    for id in ["r0", "r2", "r3", "r4", "r6", "r7"] {
        assert!(external.iter().any(|it| *it == id), "{id}: {external:?}");
    }
    let reasons = all
        .explained
        .iter()
        .filter(|it| it.reason.contains("another line says the same"));
    assert!(reasons.count() > 0, "{:?}", all.explained);
}

#[test]
fn several_gists_of_one_turn_are_packed() {
    let all = units();
    let of_one = [
        gist(0, &all[7..8], HIKE),
        gist(1, &all[7..8], "Liv had waffles at the top of Mount Ulriken."),
    ];
    let ids = of_one.each_ref().map(|it| it.id);
    let asked = request("What did Liv do on Mount Ulriken?", 300);
    let routed = ask_with_gists(&View::of(units()), &view_of_gists(of_one), &asked);
    assert!(
        ids.iter().all(|it| shown(&routed).contains(it)),
        "{:?}",
        routed.pack.items
    );
}

#[test]
fn ranked_units_name_each_piece_of_evidence_once() {
    let routed = asked("Which mountain did Liv climb with Biscuit?", 60);
    let ranked: Vec<UnitId> = routed.ranked.iter().map(|it| it.unit).collect();
    let rank = |unit: UnitId| ranked.iter().position(|it| *it == unit);
    assert!(rank(gists()[0].id).is_some() && rank(turn(7)).is_none(), "{ranked:?}");
    assert!(rank(turn(3)).is_some(), "a turn without a gist: {ranked:?}");
    assert!(
        routed.ranked[0].text.starts_with("[20 May 2024]: Liv hiked"),
        "{:?}",
        routed.ranked[0]
    );
    let few = RouteV1 {
        ranked: 1,
        ..request("Which mountain did Liv climb with Biscuit?", 60)
    };
    let few = ask_with_gists(&View::of(units()), &view_of_gists(gists()), &few);
    assert_eq!(few.ranked, routed.ranked[..1]);
}

#[test]
fn scenes_are_turns_and_count_as_packed_by_their_gist() {
    let routed = asked("Which mountain did Liv climb?", 40);
    assert!(shown(&routed).contains(&gists()[0].id));
    let scene = routed
        .scenes
        .iter()
        .find(|it| it.turns[it.center].unit == turn(7))
        .unwrap();
    assert!(scene.packed);
    let other = routed.scenes.iter().find(|it| !it.packed).unwrap();
    assert!(!shown(&routed).contains(&other.turns[other.center].unit));
}

#[test]
fn selected_gists_and_turns_are_packed_in_the_form_that_was_selected() {
    let (view, gists_view) = (View::of(units()), view_of_gists(gists()));
    let select = |selected: Vec<UnitId>, tokens: u32| {
        let asked = RouteV1 {
            selected,
            ..request("What breed is Biscuit?", tokens)
        };
        shown(&ask_with_gists(&view, &gists_view, &asked))
    };
    let [hike, _, pottery] = [0, 1, 2].map(|it| gists()[it].id);
    assert_eq!(select(vec![pottery], 28), [pottery]);
    let both = select(vec![hike, turn(6)], 70);
    assert!(both.contains(&hike) && both.contains(&turn(6)), "{both:?}");
    let as_turn = select(vec![turn(7)], 300);
    assert!(as_turn.contains(&turn(7)) && !as_turn.contains(&hike), "{as_turn:?}");
    let as_gist = select(vec![hike], 300);
    assert!(as_gist.contains(&hike) && !as_gist.contains(&turn(7)), "{as_gist:?}");
}

#[test]
fn lines_of_one_moment_show_the_turn_first() {
    let all = units();
    let gists = view_of_gists([gist(0, &all[0..3], DOG)]);
    let asked = RouteV1 {
        selected: vec![gists.turns()[0].unit.id, all[0].id],
        ..request("What breed is Biscuit?", 300)
    };
    let routed = ask_with_gists(&View::of(units()), &gists, &asked);
    assert_eq!(shown(&routed)[..2], [all[0].id, gists.turns()[0].unit.id]);
    assert!(packed(&routed).windows(2).all(|it| it[0] <= it[1]));
}

#[test]
fn gist_is_no_evidence_before_its_last_turn_was_said() {
    let (view, gists_view) = (View::of(units()), view_of_gists(gists()));
    let at = |as_of: &str| {
        let asked = RouteV1 {
            as_of: Some(as_of.parse().unwrap()),
            ..request("What breed is Biscuit, the dog?", 300)
        };
        let routed = ask_with_gists(&view, &gists_view, &asked);
        let seen = routed.ranked.iter().map(|it| it.unit).chain(shown(&routed));
        (seen.collect::<Vec<UnitId>>(), routed.units)
    };
    let dog = gists()[1].id;
    let (seen, units) = at("2024-03-02T10:01:00Z");
    assert!(!seen.contains(&dog) && seen.contains(&turn(0)), "{seen:?}");
    assert_eq!(units, 2);
    let (seen, units) = at("2024-03-02T10:02:00Z");
    assert!(seen.contains(&dog), "{seen:?}");
    assert_eq!(units, 4, "three turns and the gist");
}

#[test]
fn filters_apply_to_gists_as_to_turns() {
    let (view, gists_view) = (View::of(units()), view_of_gists(gists()));
    let seen = |change: &dyn Fn(&mut RouteV1)| {
        let mut asked = request("What did Liv and Omar do with Biscuit, bowls and pottery?", 500);
        change(&mut asked);
        let routed = ask_with_gists(&view, &gists_view, &asked);
        let seen: Vec<UnitId> = routed.ranked.iter().map(|it| it.unit).chain(shown(&routed)).collect();
        gists().iter().map(|it| seen.contains(&it.id)).collect::<Vec<bool>>()
    };
    assert_eq!(seen(&|_| {}), [true, true, true]);
    // Only the gist of what Liv alone said is hers.
    assert_eq!(
        seen(&|it| it.filter.actors = vec!["liv".to_owned()]),
        [true, false, false]
    );
    assert_eq!(
        seen(&|it| it.filter.sessions = vec!["2024-04-11".to_owned()]),
        [false, false, true]
    );
    let time = |it: &str| Some(it.parse().unwrap());
    assert_eq!(
        seen(&|it| it.filter.from = time("2024-03-02T10:01:00Z")),
        [true, false, true]
    );
    assert_eq!(
        seen(&|it| it.filter.until = time("2024-03-02T10:02:00Z")),
        [false, false, false]
    );
    assert_eq!(
        seen(&|it| it.filter.until = time("2024-03-02T10:02:01Z")),
        [false, true, false]
    );
}

#[test]
fn gist_of_a_turn_that_is_gone_is_no_evidence() {
    let there = |count: usize| {
        let view = View::of(units().into_iter().take(count));
        let asked = request("Which mountain did Liv climb?", 300);
        let routed = ask_with_gists(&view, &view_of_gists(gists()), &asked);
        shown(&routed).contains(&gists()[0].id)
    };
    assert!(there(8));
    assert!(!there(7));
}

#[test]
fn equal_gists_give_equal_bytes() {
    let asked = request("What did Omar make in pottery classes?", 90);
    let view = View::of(units());
    let bytes = |gists: Vec<Unit>| {
        let routed = ask_with_gists(&view, &view_of_gists(gists), &asked);
        serde_json::to_string(&routed).unwrap()
    };
    let mut shuffled = gists();
    shuffled.reverse();
    assert_eq!(bytes(shuffled), bytes(gists()));
    // A space without gists is asked as if none were wanted.
    assert_eq!(bytes(Vec::new()), serde_json::to_string(&ask(&view, &asked)).unwrap());
}

#[test]
fn pack_stops_when_turns_and_gists_hold_enough() {
    let whole = asked("Which mountain did Liv climb?", 400).pack;
    let some = RouteV1 {
        enough: 0.5,
        ..request("Which mountain did Liv climb?", 400)
    };
    let some = ask_with_gists(&View::of(units()), &view_of_gists(gists()), &some).pack;
    assert!(!some.items.is_empty() && some.items.len() < whole.items.len());
    assert!(
        some.items
            .iter()
            .all(|it| whole.items.iter().any(|other| other.unit == it.unit))
    );
}

async fn opened(dir: &tempfile::TempDir, gists: &[Unit]) -> (Context, Router) {
    let ctx = Context::embedded(dir.path()).await.unwrap();
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
async fn gists_are_used_where_they_are_wanted() {
    let [with, without] = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let (_with, router) = opened(&with, &gists()).await;
    let (_without, plain) = opened(&without, &[]).await;
    let question = "Which mountain did Liv climb?";
    let routed = router.route(wanting_gists(question, 60)).await.unwrap();
    assert!(shown(&routed).contains(&gists()[0].id), "{:?}", routed.pack.items);
    let item = routed.pack.items.iter().find(|it| it.unit == gists()[0].id).unwrap();
    assert!(!item.channels.is_empty(), "the index finds it: {item:?}");
    let bytes = async |router: &Router, asked: RouteV1| {
        let mut routed = router.route(asked).await.unwrap();
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
async fn gists_come_and_go_with_their_space() {
    let dir = tempfile::tempdir().unwrap();
    let (ctx, router) = opened(&dir, &[]).await;
    let shows = async || {
        let routed = router
            .route(wanting_gists("Which mountain did Liv climb?", 60))
            .await
            .unwrap();
        shown(&routed).contains(&gists()[0].id)
    };
    assert!(!shows().await);
    put(&ctx, &gists()).await;
    assert!(shows().await);
    let emptied: Vec<Unit> = gists().iter().map(Unit::emptied).collect();
    ctx.backends.graph.put_units(&space(), &emptied, &[]).await.unwrap();
    assert!(!shows().await);
    put(&ctx, &gists()).await;
    assert!(shows().await);
    ctx.backends.graph.put_units(&space(), &[], &[turn(7)]).await.unwrap();
    assert!(!shows().await, "its turn was erased");
}

#[tokio::test]
async fn forgotten_turn_shuts_its_gists_out() {
    let dir = tempfile::tempdir().unwrap();
    let (ctx, router) = opened(&dir, &gists()).await;
    let seen = async || {
        let routed = router
            .route(wanting_gists("What breed is Biscuit, the dog of Liv?", 300))
            .await
            .unwrap();
        let seen: Vec<UnitId> = routed.ranked.iter().map(|it| it.unit).chain(shown(&routed)).collect();
        gists().iter().map(|it| seen.contains(&it.id)).collect::<Vec<bool>>()
    };
    let decide = async |number: usize, act: Act| {
        let curation = Curation {
            id: CurationId::derive(&space(), &number.to_string()),
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
    let curation = CurationId::derive(&space(), "1");
    decide(2, Act::Undo { curation }).await;
    assert_eq!(seen().await, [true, true, true]);
    decide(3, Act::ForgetUnit { unit: gists()[0].id }).await;
    assert_eq!(seen().await, [false, true, true]);
    let asked = wanting_gists("Which mountain did Liv climb?", 300);
    assert!(
        shown(&router.route(asked).await.unwrap()).contains(&turn(7)),
        "its turn is still evidence"
    );
}

#[tokio::test]
async fn selected_gist_stands_for_its_turns_where_gists_are_not_used() {
    let dir = tempfile::tempdir().unwrap();
    let (_ctx, router) = opened(&dir, &gists()).await;
    let pottery = gists()[2].id;
    let select = |asked: RouteV1| RouteV1 {
        selected: vec![pottery],
        ..asked
    };
    let as_turns = router
        .route(select(request("What breed is Biscuit?", 200)))
        .await
        .unwrap();
    assert!(
        [4, 5, 6].iter().all(|it| shown(&as_turns).contains(&turn(*it))),
        "{:?}",
        shown(&as_turns)
    );
    let as_gist = router
        .route(select(wanting_gists("What breed is Biscuit?", 200)))
        .await
        .unwrap();
    assert!(shown(&as_gist).contains(&pottery) && ![4, 5, 6].iter().any(|it| shown(&as_gist).contains(&turn(*it))));
}

#[test]
fn memory_knows_gists_with_their_turns() {
    let mut memory = Memory::of(units().into_iter().chain(gists()), []);
    let [hike, dog, _] = [0, 1, 2].map(|it| gists()[it].id);
    assert_eq!(memory.gists_of(turn(1)).collect::<Vec<_>>(), [dog]);
    assert_eq!(memory.turns(&[hike, turn(0)]), [turn(7), turn(0)]);
    assert_eq!(memory.turns_and_gists(&[hike, turn(0)]), [hike, turn(0)]);
    assert!(memory.at(None).has(hike) && memory.at(None).gist(hike).is_some());
    memory.take_units(&[units()[7].emptied()]);
    assert!(!memory.at(None).has(hike) && memory.at(None).has(dog));
    let before = memory.bytes();
    memory.take_units(&gists().iter().map(Unit::emptied).collect::<Vec<_>>());
    assert!(!memory.at(None).has(dog) && memory.bytes() < before);
}

#[test]
fn correction_of_a_turn_is_noted_behind_its_gist() {
    let mut gists_view = view_of_gists(gists());
    let at = moment(0);
    let amended = |unit| Marks {
        amended: [(
            unit,
            vec![Amendment {
                was: "Ulriken".to_owned(),
                now: Some("Fl\u{f8}yen".to_owned()),
                at,
            }],
        )]
        .into(),
        ..Marks::default()
    };
    gists_view.mark(amended(gists()[0].id));
    let routed = ask_with_gists(
        &View::of(units()),
        &gists_view,
        &request("Which mountain did Liv climb?", 80),
    );
    let item = routed.pack.items.iter().find(|it| it.unit == gists()[0].id).unwrap();
    assert!(
        item.text.contains("[corrected since: \"Ulriken\" is \"Fl\u{f8}yen\"]"),
        "{item:?}"
    );
    assert!(routed.pack.tokens <= 80);
}

#[test]
fn corrections_go_with_the_gists_that_tell_what_was_corrected() {
    let mut memory = Memory::of(all_units().into_iter().chain(gists()), derived());
    let correct = |turn_number: usize, subject: &str, predicate: &str, object: &str| Curation {
        id: CurationId::derive(&space(), object),
        at: moment(0),
        by: String::new(),
        act: Act::CorrectFact {
            fact: FactId::derive(turn(turn_number), subject, predicate, object),
            object: "something else".to_owned(),
        },
        reason: String::new(),
    };
    memory.decide(&[
        correct(0, "Liv", "has", "a dog named Biscuit"),
        correct(7, "Omar", "lives in", "Oslo"),
    ]);
    let amended: Vec<&UnitId> = memory.gist_marks().amended.keys().collect();
    assert_eq!(amended, [&gists()[1].id], "the gist of turn 7 says nothing of Oslo");
    assert_eq!(memory.marks().amended.len(), 2);
}
