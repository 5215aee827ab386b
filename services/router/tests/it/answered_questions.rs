//! The question that a turn of a scene answers. The writer copies it from an earlier turn, so it is shown only if that
//! turn may be shown.

use std::collections::BTreeSet;

use domain::filter::Filter;
use domain::id::UnitId;
use domain::message::{RouteV1, RoutedV1};
use domain::record::{Modality, Version};
use domain::unit::{Grain, Unit};
use router::space::memory::Memory;
use router::space::scope::Scope;
use router::space::view::{Marks, View};
use serde_json::{Value, json};

use crate::derived::turn;
use crate::talk::{ask, ask_within, request, turn_from_line, units};

/// The question of turn 1, which turn 2 answers.
const BREED: &str = "What breed is he?";
/// The question of turn 5, which turn 6 answers.
const BOWL: &str = "Did you make a bowl?";

/// Returns the talk, with the two questions that the writer finds in it.
fn answering_units() -> Vec<Unit> {
    let mut all = units();
    all[2].question = BREED.to_owned();
    all[6].question = BOWL.to_owned();
    all
}

/// Returns a request for the scenes of all turns.
fn scenes_of_all() -> RouteV1 {
    RouteV1 {
        scenes: 20,
        ..request("What did Omar make in pottery classes?", 200)
    }
}

/// Returns the question that all scenes show with a turn.
fn shown_question(routed: &RoutedV1, unit: UnitId) -> String {
    let turns = routed.scenes.iter().flat_map(|it| &it.turns);
    let questions: BTreeSet<&String> = turns.filter(|it| it.unit == unit).map(|it| &it.question).collect();
    assert_eq!(questions.len(), 1, "{questions:?} with {unit}");
    questions.into_iter().cloned().collect()
}

/// Returns the questions that are shown with turns 2 and 6.
fn shown_questions(view: &View, request: &RouteV1) -> [String; 2] {
    let routed = ask(view, request);
    [2, 6].map(|it| shown_question(&routed, turn(it)))
}

#[test]
fn a_question_is_shown_with_its_answer() {
    let view = View::from_units(answering_units());
    let mut asked = scenes_of_all();
    assert_eq!(shown_questions(&view, &asked), [BREED, BOWL]);
    // It belongs to the answer, although its actor is another one.
    asked.filter.actors = vec!["Omar".to_owned()];
    assert_eq!(shown_question(&ask(&view, &asked), turn(6)), BOWL);
}

#[test]
fn the_question_of_a_forgotten_turn_is_not_shown() {
    let mut view = View::from_units(answering_units());
    view.set_marks(Marks {
        forgotten: [turn(5)].into(),
        ..Marks::default()
    });
    assert_eq!(shown_questions(&view, &scenes_of_all()), [BREED, ""]);
}

#[test]
fn the_question_of_an_erased_turn_is_not_shown() {
    let units = answering_units().into_iter().filter(|it| it.id != turn(5));
    assert_eq!(shown_questions(&View::from_units(units), &scenes_of_all()), [BREED, ""]);
}

#[test]
fn the_question_of_a_replaced_turn_is_not_shown() {
    let line = "2024-04-12T09:00:00Z|Liv|That sounds relaxing! Did you make a vase?";
    let later_version = Unit {
        version: Some(Version {
            of: units()[5].records[0],
            number: 2,
        }),
        ..turn_from_line(50, line)
    };
    let units: Vec<Unit> = answering_units().into_iter().chain([later_version]).collect();
    let memory = Memory::from_units_and_derived(units.clone(), []);
    let mut view = View::from_units(units);
    view.set_marks(memory.marks().clone());
    let mut asked = scenes_of_all();
    assert_eq!(shown_questions(&view, &asked), [BREED, ""]);
    asked.as_of = Some(answering_units()[6].observed_at);
    assert_eq!(shown_questions(&view, &asked), [BREED, BOWL], "it was not replaced yet");
}

#[test]
fn only_the_turn_that_asks_decides_about_the_question() {
    let later = turn_from_line(50, "2024-04-11T18:01:30Z|Liv|I could never do that.");
    let mut view = View::from_units(answering_units().into_iter().chain([later.clone()]));
    for (forgotten, expected) in [(later.id, BOWL), (turn(5), "")] {
        view.set_marks(Marks {
            forgotten: [forgotten].into(),
            ..Marks::default()
        });
        assert_eq!(shown_questions(&view, &scenes_of_all()), [BREED, expected]);
    }
}

#[test]
fn a_question_outside_of_the_filter_is_not_shown() {
    let mut units = answering_units();
    units[5].modality = Modality::Visual;
    units[6].tags = vec!["crafts".to_owned()];
    let [asking, answering] = [units[5].observed_at, units[6].observed_at];
    let view = View::from_units(units);
    let shown = |filter: &dyn Fn(&mut RouteV1)| {
        let mut asked = scenes_of_all();
        filter(&mut asked);
        shown_question(&ask(&view, &asked), turn(6))
    };
    assert_eq!(shown(&|it| it.filter.from = Some(answering)), "");
    assert_eq!(shown(&|it| it.filter.from = Some(asking)), BOWL);
    assert_eq!(shown(&|it| it.filter.modalities = vec![Modality::Text]), "");
    let both = vec![Modality::Text, Modality::Visual];
    assert_eq!(shown(&|it| it.filter.modalities = both.clone()), BOWL);

    let shown_in_scope = |labels: Value| {
        let labels: Filter = serde_json::from_value(labels).unwrap();
        let scope = Scope::from_filter(&view, &View::of_grain(Grain::Gist), &labels);
        shown_question(&ask_within(&view, &scenes_of_all(), None, scope.as_ref()), turn(6))
    };
    assert_eq!(shown_in_scope(json!({"tags": {"any": ["crafts"]}})), "");
    assert_eq!(shown_in_scope(json!({"tags": {"none": ["travel"]}})), BOWL);
}

#[test]
fn the_question_of_a_turn_that_the_index_does_not_hold_is_not_shown() {
    let view = View::from_units(answering_units());
    let shown = |turns: &[usize]| {
        let only = turns.iter().map(|it| turn(*it)).collect();
        shown_question(&ask_within(&view, &scenes_of_all(), Some(&only), None), turn(6))
    };
    assert_eq!(shown(&[4, 6]), "");
    assert_eq!(shown(&[4, 5, 6]), BOWL);
}
