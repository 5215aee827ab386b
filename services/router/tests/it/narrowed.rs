//! Filters in spaces that are too large for all turns to be candidates: the wanted turn is found even if the index
//! holds no hit inside of the filter.

use domain::unit::Unit;
use router::space::view::View;

use crate::talk::{ask, packed, request, turn_from_line};

/// Returns many days of talk about the garden, and a few lines in a separate session.
fn garden() -> View {
    let day = |at: usize| {
        format!(
            "20{:02}-{:02}-{:02}T10:00:00Z",
            10 + at / 336,
            1 + at / 28 % 12,
            1 + at % 28
        )
    };
    let talk = (0..1_700).map(|at| {
        let actor = if at % 10 == 0 { "Omar" } else { "Liv" };
        turn_from_line(at, &format!("{}|{actor}|I watered row {at} of the garden.", day(at)))
    });
    let special = ["The spare key hangs behind the mirror.", "Do not tell anybody."].iter();
    let special = special
        .enumerate()
        .map(|(at, text)| turn_from_line(5_000 + at, &format!("2040-01-01T10:0{at}:00Z|Liv|{text}")));
    View::from_units(talk.chain(special).collect::<Vec<Unit>>())
}

#[test]
fn all_turns_inside_of_a_narrow_filter_are_candidates() {
    let view = garden();
    let mut asked = request("Where is the spare one for the door?", 200);
    asked.filter.sessions = vec!["2040-01-01".to_owned()];
    let routed = ask(&view, &asked);
    assert_eq!((routed.units, routed.candidates), (2, 2));
    assert!(packed(&routed).contains(&"r5000"), "{:?}", routed.pack);
    asked.filter.sessions.clear();
    asked.filter.actors = vec!["Omar".to_owned()];
    assert_eq!(ask(&view, &asked).candidates, 170);
}

#[test]
fn turns_with_the_words_of_the_question_are_found_inside_of_a_wide_filter() {
    let mut asked = request("Which spare key hangs behind a mirror?", 200);
    asked.filter.actors = vec!["Liv".to_owned()];
    let routed = ask(&garden(), &asked);
    assert!(routed.units > 1_500);
    assert!(packed(&routed).contains(&"r5000"), "{:?}", routed.pack);
}
