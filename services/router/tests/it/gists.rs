//! A gist and the turns from which it was read are one piece of evidence. The pack shows one of the two forms,
//! depending on its price.

use domain::id::UnitId;
use domain::message::{RouteV1, RoutedV1};
use domain::unit::Unit;
use router::space::view::View;

use crate::talk::{ask, ask_with_gists, gist, packed, request, units, view_of_gists};

const HIKE: &str = "Liv hiked up Mount Ulriken with her dog Biscuit on 18 May 2024.";
const DOG: &str = "Liv adopted Biscuit, a beagle of about three years, from the shelter by 2 March 2024.";
const POTTERY: &str = "Omar made two bowls and a mug in pottery classes in April 2024.";

/// Returns gists of the talk: one of the last turn, one of the first three, and one of the three turns about pottery.
pub(crate) fn gists() -> Vec<Unit> {
    let all = units();
    vec![
        gist(0, &all[7..8], HIKE),
        gist(0, &all[0..3], DOG),
        gist(0, &all[4..7], POTTERY),
    ]
}

fn asked(question: &str, tokens: u32) -> RoutedV1 {
    ask_with_gists(
        &View::from_units(units()),
        &view_of_gists(gists()),
        &request(question, tokens),
    )
}

pub(crate) fn shown(routed: &RoutedV1) -> Vec<UnitId> {
    routed.pack.items.iter().map(|it| it.unit).collect()
}

pub(crate) fn turn(number: usize) -> UnitId {
    units()[number].id
}

#[test]
fn a_gist_is_packed_instead_of_its_longer_turn() {
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
    let turns = ask(&View::from_units(crate::talk::units()), &request(question, 60));
    assert!(shown(&turns).contains(&turn(7)));
    assert!(routed.pack.tokens < turns.pack.tokens || shown(&routed).len() > shown(&turns).len());
}

#[test]
fn a_short_turn_is_packed_instead_of_a_longer_gist() {
    let all = units();
    let long = "In a talk with Omar on 2 March 2024, after he had congratulated her and asked what breed the dog Biscuit is, Liv said \
        that Biscuit is a beagle and about three years old.";
    let gists = view_of_gists([gist(0, &all[2..3], long)]);
    let routed = ask_with_gists(
        &View::from_units(units()),
        &gists,
        &request("What breed is Biscuit?", 50),
    );
    assert!(shown(&routed).contains(&turn(2)), "{:?}", routed.pack.items);
    assert!(!shown(&routed).contains(&gists.turns()[0].unit.id));
}

#[test]
fn a_turn_and_its_gist_are_never_packed_together() {
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
                let mut turns = gist.records.iter().map(|it| UnitId::of_turn(*it));
                assert!(!turns.all(|it| units.contains(&it)), "{question} {tokens}: {units:?}");
            }
        }
    }
    // With room for everything, the pack shows everything once: each gist or its turns, and the turn without a gist.
    let all = asked("What did Liv and Omar do?", 2_000);
    let external: Vec<&String> = all.pack.items.iter().flat_map(|it| &it.external_ids).collect();
    for id in ["r0", "r2", "r3", "r4", "r6", "r7"] {
        assert!(external.iter().any(|it| *it == id), "{id}: {external:?}");
    }
    let reasons = all
        .explained
        .iter()
        .filter(|it| it.reason.contains("another line states the same"));
    assert!(reasons.count() > 0, "{:?}", all.explained);
}

#[test]
fn several_gists_of_one_turn_may_be_packed() {
    let all = units();
    let of_one = [
        gist(0, &all[7..8], HIKE),
        gist(1, &all[7..8], "Liv had waffles at the top of Mount Ulriken."),
    ];
    let ids = of_one.each_ref().map(|it| it.id);
    let asked = RouteV1 {
        selected: ids.to_vec(),
        ..request("What did Liv do on Mount Ulriken?", 300)
    };
    let routed = ask_with_gists(&View::from_units(units()), &view_of_gists(of_one), &asked);
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
    let few = ask_with_gists(&View::from_units(units()), &view_of_gists(gists()), &few);
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
    let (view, gists_view) = (View::from_units(units()), view_of_gists(gists()));
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
    let routed = ask_with_gists(&View::from_units(units()), &gists, &asked);
    assert_eq!(shown(&routed)[..2], [all[0].id, gists.turns()[0].unit.id]);
    assert!(packed(&routed).windows(2).all(|it| it[0] <= it[1]));
}

#[test]
fn a_gist_is_not_evidence_before_its_last_turn() {
    let (view, gists_view) = (View::from_units(units()), view_of_gists(gists()));
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
fn filters_apply_to_gists_like_turns() {
    let (view, gists_view) = (View::from_units(units()), view_of_gists(gists()));
    let seen = |change: &dyn Fn(&mut RouteV1)| {
        let mut asked = request("What did Liv and Omar do with Biscuit, bowls and pottery?", 500);
        change(&mut asked);
        let routed = ask_with_gists(&view, &gists_view, &asked);
        let seen: Vec<UnitId> = routed.ranked.iter().map(|it| it.unit).chain(shown(&routed)).collect();
        gists().iter().map(|it| seen.contains(&it.id)).collect::<Vec<bool>>()
    };
    assert_eq!(seen(&|_| {}), [true, true, true]);
    // Only the gist of a turn that Liv alone said has her as its speaker.
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
fn a_gist_of_a_turn_that_does_not_exist_is_not_evidence() {
    let there = |count: usize| {
        let view = View::from_units(units().into_iter().take(count));
        let asked = request("Which mountain did Liv climb?", 300);
        let routed = ask_with_gists(&view, &view_of_gists(gists()), &asked);
        shown(&routed).contains(&gists()[0].id)
    };
    assert!(there(8));
    assert!(!there(7));
}

#[test]
fn equal_gists_in_another_order_give_equal_bytes() {
    let asked = request("What did Omar make in pottery classes?", 90);
    let view = View::from_units(units());
    let bytes = |gists: Vec<Unit>| {
        let routed = ask_with_gists(&view, &view_of_gists(gists), &asked);
        serde_json::to_string(&routed).unwrap()
    };
    let mut shuffled = gists();
    shuffled.reverse();
    assert_eq!(bytes(shuffled), bytes(gists()));
    // In a space without gists, the result is the same as for a request without gists.
    assert_eq!(bytes(Vec::new()), serde_json::to_string(&ask(&view, &asked)).unwrap());
}

#[test]
fn a_pack_stops_when_turns_and_gists_hold_enough_probability() {
    let whole = asked("Which mountain did Liv climb?", 400).pack;
    let some = RouteV1 {
        enough: 0.5,
        ..request("Which mountain did Liv climb?", 400)
    };
    let some = ask_with_gists(&View::from_units(units()), &view_of_gists(gists()), &some).pack;
    assert!(!some.items.is_empty() && some.items.len() < whole.items.len());
    assert!(
        some.items
            .iter()
            .all(|it| whole.items.iter().any(|other| other.unit == it.unit))
    );
}
