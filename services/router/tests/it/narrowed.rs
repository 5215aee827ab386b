//! Filters in spaces that are too great to be scored as a whole: what is asked for is found whatever the index holds of it.

use domain::unit::Unit;
use router::view::View;

use crate::talk::{ask, packed, request, said};

/// Many days of talk about the garden, and a few lines of a session of its own.
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
        said(at, &format!("{}|{actor}|I watered row {at} of the garden.", day(at)))
    });
    let special = ["The spare key hangs behind the mirror.", "Do not tell anybody."].iter();
    let special = special
        .enumerate()
        .map(|(at, text)| said(5_000 + at, &format!("2040-01-01T10:0{at}:00Z|Liv|{text}")));
    View::of(talk.chain(special).collect::<Vec<Unit>>())
}

#[test]
fn a_filter_that_leaves_little_leaves_all_of_that() {
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
fn a_filter_that_leaves_much_leaves_what_holds_the_words() {
    let mut asked = request("Which spare key hangs behind a mirror?", 200);
    asked.filter.actors = vec!["Liv".to_owned()];
    let routed = ask(&garden(), &asked);
    assert!(routed.units > 1_500);
    assert!(packed(&routed).contains(&"r5000"), "{:?}", routed.pack);
}
