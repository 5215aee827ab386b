//! The names of the speakers in a reply.

use std::collections::BTreeSet;

use domain::id::UnitId;
use router::space::view::{Marks, View};

use crate::derived::turn;
use crate::talk::{ask, ask_within, request, units};

/// The turns of Omar.
const OF_OMAR: [usize; 4] = [1, 3, 4, 6];

#[test]
fn a_speaker_without_a_turn_that_may_be_shown_is_not_named() {
    let mut view = View::from_units(units());
    let asked = request("Who said what?", 100);
    let mut speakers_without = |turns: &[usize]| {
        view.set_marks(Marks {
            forgotten: turns.iter().map(|it| turn(*it)).collect(),
            ..Marks::default()
        });
        ask(&view, &asked).speakers
    };
    assert_eq!(speakers_without(&OF_OMAR), ["Liv"]);
    assert_eq!(speakers_without(&OF_OMAR[1..]), ["Liv", "Omar"], "one turn is left");
    assert_eq!(speakers_without(&[]), ["Liv", "Omar"]);
}

#[test]
fn a_speaker_whose_turns_the_index_does_not_hold_is_not_named() {
    let view = View::from_units(units());
    let asked = request("Who said what?", 100);
    let speakers_of = |only: &BTreeSet<UnitId>| ask_within(&view, &asked, Some(only), None).speakers;
    assert_eq!(speakers_of(&[turn(0), turn(2)].into()), ["Liv"]);
    assert_eq!(speakers_of(&[turn(2), turn(6)].into()), ["Liv", "Omar"]);
}

#[test]
fn the_filter_of_a_request_does_not_change_the_speakers_of_a_space_with_forgotten_turns() {
    let mut view = View::from_units(units());
    let mut asked = request("Who said what?", 100);
    asked.filter.actors = vec!["Omar".to_owned()];
    let before = ask(&view, &asked).speakers;
    view.set_marks(Marks {
        forgotten: [turn(7)].into(),
        ..Marks::default()
    });
    assert_eq!(before, ["Liv", "Omar"]);
    assert_eq!(ask(&view, &asked).speakers, before);
}
