//! Units that were selected to hold the answer are packed before all others.

use chrono::{DateTime, Utc};
use domain::id::UnitId;
use domain::message::RouteV1;
use router::route;
use router::space::view::View;

use crate::talk::{ask, packed, request, turn_from_line, units};

const ASKED: &str = "What breed is Biscuit?";

fn unit(view: &View, id: &str) -> UnitId {
    let turn = view.turns().iter().find(|it| it.unit.external_ids() == [id]);
    turn.unwrap().unit.id
}

#[test]
fn selected_units_are_packed_first_in_their_order() {
    let view = View::from_units(units());
    let tokens = 60;
    let plain = ask(&view, &request(ASKED, tokens));
    assert!(
        !packed(&plain).contains(&"r6") && packed(&plain).contains(&"r2"),
        "{:?}",
        packed(&plain)
    );
    let selected = RouteV1 {
        selected: ["r6", "r5"].map(|it| unit(&view, it)).into(),
        ..request(ASKED, tokens)
    };
    let routed = ask(&view, &selected);
    assert!(
        ["r5", "r6"].iter().all(|it| packed(&routed).contains(it)),
        "{:?}",
        packed(&routed)
    );
    assert!(routed.pack.tokens <= tokens);
    // There is only room for one of them.
    let little = RouteV1 { tokens: 30, ..selected };
    assert_eq!(packed(&ask(&view, &little)), ["r6"]);
}

/// A repeated statement may be one of several things that are counted, so a selection of both is kept.
#[test]
fn selected_repeats_are_kept() {
    const TALK: [&str; 3] = [
        "2024-05-01T09:00:00Z|Ines|I watered the big lemon tree on the terrace.",
        "2024-05-02T09:00:00Z|Ines|I watered the big lemon tree on the terrace!",
        "2024-05-03T09:00:00Z|Piet|The weather was bad all week.",
    ];
    let view = View::from_units(TALK.iter().enumerate().map(|(at, line)| turn_from_line(at, line)));
    let asked = request("Which tree did Ines water?", 400);
    let repeats = |shown: &[&str]| shown.iter().filter(|it| **it != "r2").count();
    assert_eq!(repeats(&packed(&ask(&view, &asked))), 1);
    let selected = RouteV1 {
        selected: ["r0", "r1"].map(|it| unit(&view, it)).into(),
        ..asked
    };
    assert_eq!(repeats(&packed(&ask(&view, &selected))), 2);
}

#[test]
fn the_moment_of_a_question_is_asked_at_then_as_of_then_the_clock() {
    let view = View::from_units(units());
    let time = |text: &str| DateTime::parse_from_rfc3339(text).unwrap();
    let clock: DateTime<Utc> = "2024-09-01T12:00:00Z".parse().unwrap();
    let at = |asked: &RouteV1| route::question_moment(&view, asked).to_rfc3339();
    let plain = request(ASKED, 60);
    assert_eq!(at(&plain), "2024-05-20T08:00:00+00:00", "the latest record");
    let at_gateway = RouteV1 {
        clock: Some(clock),
        ..plain
    };
    assert_eq!(at(&at_gateway), "2024-09-01T12:00:00+00:00");
    let earlier = RouteV1 {
        as_of: Some(time("2024-04-01T12:00:00+02:00")),
        ..at_gateway
    };
    assert_eq!(at(&earlier), "2024-04-01T12:00:00+02:00");
    let stated = RouteV1 {
        asked_at: Some(time("2024-03-05T12:00:00-05:00")),
        ..earlier
    };
    assert_eq!(at(&stated), "2024-03-05T12:00:00-05:00");
    let abroad = View::from_units([turn_from_line(
        0,
        "2024-05-20T08:00:00+09:00|Liv|Good morning from Kyoto.",
    )]);
    let asked = RouteV1 {
        clock: Some(clock),
        ..request(ASKED, 60)
    };
    let now = route::question_moment(&abroad, &asked).to_rfc3339();
    assert_eq!(now, "2024-09-01T21:00:00+09:00", "the zone of the latest record");
}
