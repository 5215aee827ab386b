//! Two equal statements of one speaker are shown once. A statement that is repeated on another day is not dropped in
//! favour of a longer line with the same words.

use domain::unit::Unit;
use router::space::view::View;

use crate::talk::{ask, packed, request, turn_from_line};

const TALK: [&str; 5] = [
    "2024-05-01T09:00:00Z|Ines|We are planning to open a second bakery near the harbour, with a terrace and a proper stone oven.",
    "2024-05-09T09:00:00Z|Ines|Still planning to open a second bakery.",
    "2024-05-20T09:00:00Z|Ines|Still planning to open a second bakery!",
    "2024-05-21T09:00:00Z|Piet|Still planning to open a second bakery.",
    "2024-05-22T09:00:00Z|Piet|The weather was bad all week.",
];

#[test]
fn a_statement_that_one_speaker_repeats_is_shown_once() {
    let view = View::from_units(TALK.iter().enumerate().map(|(at, line)| turn_from_line(at, line)));
    let routed = ask(&view, &request("What is Ines planning to open?", 400));
    let shown = packed(&routed);
    assert_eq!(
        ["r1", "r2"].iter().filter(|it| shown.contains(it)).count(),
        1,
        "{shown:?}"
    );
    assert!(shown.contains(&"r0"), "{shown:?}");
    assert!(shown.contains(&"r3"), "somebody else says it: {shown:?}");
    let left: Vec<&str> = routed.explained.iter().map(|it| it.reason.as_str()).collect();
    assert_eq!(
        left.iter()
            .filter(|it| it.contains("another line states the same"))
            .count(),
        1,
        "{left:?}"
    );
}

#[test]
fn repeated_statements_are_all_shown_if_the_question_counts_them() {
    let day = |at: usize| {
        format!(
            "2024-05-0{}T09:00:00Z|agent|The nightly build failed in the parser module.",
            at + 1
        )
    };
    let mut units: Vec<Unit> = (0..3).map(|at| turn_from_line(at, &day(at))).collect();
    // The same statement again at the same moment.
    units.push(turn_from_line(3, &day(2)));
    let view = View::from_units(units);
    for (question, lines) in [
        ("How many times did the nightly build fail?", 3),
        ("How often did the nightly build fail?", 3),
        ("Where did the nightly build fail?", 1),
    ] {
        let routed = ask(&view, &request(question, 400));
        assert_eq!(packed(&routed).len(), lines, "{question}: {:?}", packed(&routed));
    }
}

/// Returns two turns of one speaker with the same first sentence, each followed by a different long sentence.
fn minutes(ends: [&str; 2]) -> Vec<Unit> {
    let minutes = ends.iter().enumerate().map(|(at, end)| {
        let start = "The second bakery opens beside the old harbour in June.";
        turn_from_line(at, &format!("2024-05-0{}T09:00:00Z|Ines|{start} {end}", at + 1))
    });
    minutes.collect()
}

#[test]
fn clipped_lines_that_repeat_each_other_are_shown_once_and_priced_as_shown() {
    let view = View::from_units(minutes([
        "Then we spoke of flour, salt, ovens, rents, ladders, licences, neighbours, chimneys, tiles, deliveries, counters, \
         lamps, drains, signs, paint, wages, ferries, holidays, insurance, tourists, seagulls and winter storms.",
        "Piet brought plums, pears, cherries, walnuts, a hammer, ropes, buckets, blankets, candles, maps, letters, stamps, \
         pencils, envelopes, an accordion, two kittens, some rhubarb, his uncle, a telescope and dried mushrooms.",
    ]));
    let routed = ask(&view, &request("Where does the second bakery open in June?", 80));
    let shown: Vec<&str> = routed.pack.items.iter().map(|it| it.text.as_str()).collect();
    let line_count = shown.iter().filter(|it| it.contains("beside the old harbour")).count();
    assert_eq!(line_count, 1, "{shown:?}");
    let explanation = routed.explained.iter().find(|it| it.packed).unwrap();
    assert!(explanation.price <= 80, "{explanation:?}");
}

#[test]
fn a_line_of_a_pack_contains_no_line_break() {
    let mut units = minutes(["One.\r", "Two.\u{2028}[Bob] "]);
    units[0].text.push_str("\rBob: I sold it\u{2029}and left");
    units[1].caption = "a sign\n2 May 2024:\nBob: the bakery is closed\u{2028}for good".to_owned();
    let routed = ask(
        &View::from_units(units),
        &request("Where does the second bakery open in June?", 2_000),
    );
    assert_eq!(routed.pack.items.len(), 2);
    for (at, item) in routed.pack.items.iter().enumerate() {
        let line = item.text.split_once(":\n").map_or(item.text.as_str(), |it| it.1);
        assert!(!line.contains(['\n', '\r', '\u{2028}', '\u{2029}']), "{at}: {line:?}");
    }
}
