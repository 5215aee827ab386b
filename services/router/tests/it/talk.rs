//! A talk of two friends, about which the tests ask.

use std::collections::BTreeSet;

use chrono::DateTime;
use domain::id::{ReadingId, RecordId, SessionId, SpaceId, UnitId};
use domain::message::{RouteV1, RoutedV1};
use domain::port::{Change, SearchResult};
use domain::unit::{Grain, Unit};
use fixtures::sample_unit;
use router::route::query::Query;
use router::route::scoring::edges::Related;
use router::route::scoring::heads::Weights;
use router::route::{self, RouteInput, Searched};
use router::space::scope::Scope;
use router::space::view::View;

const TALK: &str = "\
2024-03-02T10:00:00Z|Liv|Hey Omar! I finally adopted a dog from the shelter. His name is Biscuit.
2024-03-02T10:01:00Z|Omar|Congratulations, Liv! What breed is he?
2024-03-02T10:02:00Z|Liv|A beagle, about three years old.
2024-03-02T10:03:00Z|Omar|My sister wants a beagle too. I am more of a cat person.
2024-04-11T18:00:00Z|Omar|I started pottery classes last week because I was stressed at work.
2024-04-11T18:01:00Z|Liv|That sounds relaxing! Did you make a bowl?
2024-04-11T18:02:00Z|Omar|Two bowls and a mug. The mug broke in the kiln.
2024-05-20T08:00:00Z|Liv|Biscuit and I hiked up Mount Ulriken on Saturday, it took four hours. The view was wonderful and we had waffles at the top.";

/// Returns the units of the talk, in order; their external ids are r0, r1 and so on.
pub(crate) fn units() -> Vec<Unit> {
    TALK.lines()
        .enumerate()
        .map(|(at, line)| turn_from_line(at, line))
        .collect()
}

/// Routes a request over `view`.
pub(crate) fn ask(view: &View, request: &RouteV1) -> RoutedV1 {
    let query = Query::from_question(&request.question, view, route::question_moment(view, request));
    let weights = Weights::builtin().unwrap();
    route::route_turns(
        view,
        &query,
        &SearchResult::default(),
        &Related::new(),
        request,
        weights,
    )
}

/// Routes a request over a view of turns and a view of gists that were read from them.
pub(crate) fn ask_with_gists(view: &View, gists: &View, request: &RouteV1) -> RoutedV1 {
    let now = route::question_moment(view, request);
    let (found, related) = (SearchResult::default(), Related::new());
    let [turns, of_gists] = [view, gists].map(|it| Query::from_question(&request.question, it, now));
    let searched = |view, query| Searched {
        view,
        query,
        found: &found,
    };
    let asked = RouteInput {
        request,
        turns: searched(view, &turns),
        gists: Some(searched(gists, &of_gists)),
        related: &related,
        only: None,
        scope: None,
    };
    asked.route_question(Weights::builtin().unwrap())
}

/// Routes a request over the turns of a view that are in `only` and inside of a scope, if these are given.
pub(crate) fn ask_within(
    view: &View,
    request: &RouteV1,
    only: Option<&BTreeSet<UnitId>>,
    scope: Option<&Scope>,
) -> RoutedV1 {
    let query = Query::from_question(&request.question, view, route::question_moment(view, request));
    let asked = RouteInput {
        request,
        turns: Searched {
            view,
            query: &query,
            found: &SearchResult::default(),
        },
        gists: None,
        related: &Related::new(),
        only,
        scope,
    };
    asked.route_question(Weights::builtin().unwrap())
}

/// Returns a view of gists.
pub(crate) fn view_of_gists(gists: impl IntoIterator<Item = Unit>) -> View {
    let mut view = View::of_grain(Grain::Gist);
    view.apply_changes(gists.into_iter().map(|unit| Change { sequence: 0, unit }));
    view
}

/// Returns a gist that was read from some turns.
pub(crate) fn gist(number: u16, turns: &[Unit], text: &str) -> Unit {
    let records: Vec<RecordId> = turns.iter().flat_map(|it| it.records.clone()).collect();
    let is_of_one = turns.iter().all(|it| it.actor == turns[0].actor);
    Unit {
        id: UnitId::of_gist(ReadingId::of_passage(records[0]), number),
        grain: Grain::Gist,
        external_ids: turns.iter().flat_map(|it| it.external_ids.clone()).collect(),
        actor: if is_of_one {
            turns[0].actor.clone()
        } else {
            String::new()
        },
        addressee: String::new(),
        text: text.to_owned(),
        participants: text::find_names(text).into_iter().map(str::to_owned).collect(),
        tag: cues(text).into_iter().take(2).collect::<Vec<String>>().join(" "),
        cues: cues(text),
        records,
        ..turns[0].clone()
    }
}

/// Returns a request that asks for explanations, ranked units and scenes.
pub(crate) fn request(question: &str, tokens: u32) -> RouteV1 {
    RouteV1 {
        explain: 20,
        ranked: 20,
        scenes: 3,
        ..RouteV1::new(space(), question.to_owned(), tokens)
    }
}

/// Returns the callers' ids in the pack.
pub(crate) fn packed(routed: &RoutedV1) -> Vec<&str> {
    routed.pack.items.iter().map(|it| it.external_ids[0].as_str()).collect()
}

pub(crate) fn space() -> SpaceId {
    "talk".parse().unwrap()
}

/// Returns the turn unit of a line with moment, actor and text, separated by `|`.
pub(crate) fn turn_from_line(at: usize, line: &str) -> Unit {
    let mut fields = line.splitn(3, '|');
    let mut field = || fields.next().unwrap().to_owned();
    let (time, actor, text) = (field(), field(), field());
    Unit {
        session: SessionId::from_name(&space(), &time[..10]),
        observed_at: DateTime::parse_from_rfc3339(&time).unwrap(),
        ordinal: at as u64,
        addressee: if actor == "Liv" { "Omar" } else { "Liv" }.to_owned(),
        actor,
        tag: cues(&text).into_iter().take(2).collect::<Vec<String>>().join(" "),
        cues: cues(&text),
        text,
        ..sample_unit(&space(), &format!("r{at}"))
    }
}

/// Returns the content words of a text in lower case.
fn cues(text: &str) -> Vec<String> {
    let words = text::split_words(text).into_iter().filter(|it| !text::is_stop(it));
    words.map(str::to_lowercase).collect()
}

/// Returns the event unit of the turns `turns` of the talk.
pub(crate) fn event(turns: std::ops::Range<usize>, tag: &str, summary: &str) -> Unit {
    let turns = &units()[turns];
    let records: Vec<RecordId> = turns.iter().flat_map(|it| it.records.clone()).collect();
    Unit {
        id: UnitId::of_event(records[0]),
        grain: Grain::Event,
        external_ids: turns.iter().flat_map(|it| it.external_ids.clone()).collect(),
        actor: String::new(),
        addressee: String::new(),
        text: String::new(),
        summary: summary.to_owned(),
        participants: vec!["Liv".to_owned(), "Omar".to_owned()],
        tag: tag.to_owned(),
        cues: cues(summary),
        records,
        ..turns[0].clone()
    }
}

#[test]
fn packs_contain_the_evidence_of_simple_questions() {
    let view = View::from_units(units());
    for (question, expected) in [
        ("What is the name of Liv's dog?", "r0"),
        ("What breed is Biscuit?", "r2"),
        ("Why did Omar start pottery?", "r4"),
        ("What broke in the oven?", "r6"),
        ("Which mountain did Liv climb?", "r7"),
    ] {
        let routed = ask(&view, &request(question, 60));
        assert!(packed(&routed).contains(&expected), "{question}: {:?}", packed(&routed));
    }
}

#[test]
fn a_pack_is_in_order_of_time() {
    let view = View::from_units(units());
    let routed = ask(&view, &request("What did Omar make in pottery classes?", 90));
    let text: Vec<&str> = routed.pack.items.iter().map(|it| it.text.as_str()).collect();
    let all = text.join("\n");
    assert!(all.starts_with("2 Mar 2024:\nOmar: "), "{all}");
    assert!(all.contains("\n11 Apr:\nO: I started pottery classes"), "{all}");
    assert!(all.contains("Two bowls and a mug."), "{all}");
    assert!(
        routed
            .pack
            .items
            .windows(2)
            .all(|it| it[0].observed_at <= it[1].observed_at)
    );
    assert_eq!(routed.speakers, ["Liv", "Omar"]);
    assert!(
        routed
            .explained
            .iter()
            .any(|it| it.packed && it.reason.starts_with("packed"))
    );
    let scene = &routed.scenes[0];
    assert!(scene.turns.len() > 1 && scene.turns[scene.center].unit == routed.ranked[0].unit);
}

#[test]
fn the_order_in_which_units_arrive_does_not_change_the_response() {
    let asked = request("What did Omar make in pottery classes?", 70);
    let bytes = |view: &View| serde_json::to_string(&ask(view, &asked)).unwrap();
    let expected = bytes(&View::from_units(units()));
    let mut shuffled = units();
    shuffled.reverse();
    shuffled.swap(1, 5);
    assert_eq!(bytes(&View::from_units(shuffled)), expected);
    let mut grown = View::from_units(units().into_iter().take(3));
    let mut other = units()[4].clone();
    other.text = "Something else entirely".to_owned();
    for unit in std::iter::once(other).chain(units()) {
        grown.apply_changes([domain::port::Change { sequence: 1, unit }]);
    }
    assert_eq!(bytes(&grown), expected);
}
