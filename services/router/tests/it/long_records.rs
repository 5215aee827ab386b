//! Records with a long text, which is divided into several turn units.

use std::collections::BTreeSet;

use domain::curation::Act;
use domain::id::UnitId;
use domain::unit::Unit;
use router::space::memory::Memory;
use router::space::view::View;

use crate::decided::act;
use crate::derived::{all_units, derived, event_at, turn};
use crate::talk::{ask, request, units};

/// Returns a further turn unit of the record of turn 6, which belongs to the event of turns 4 to 6.
fn second_part() -> Unit {
    let unit = units()[6].clone();
    Unit {
        id: UnitId::of_part(unit.records[0], 1),
        text: "Afterwards I painted one of the bowls with a cobalt glaze.".to_owned(),
        ..unit
    }
}

fn memory_with_second_part() -> Memory {
    Memory::from_units_and_derived(all_units().into_iter().chain([second_part()]), derived())
}

/// Returns all turn units of the event of turns 4 to 6.
fn turns_of_event() -> BTreeSet<UnitId> {
    BTreeSet::from([turn(4), turn(5), turn(6), second_part().id])
}

#[test]
fn an_event_holds_all_parts_of_its_records() {
    let memory = memory_with_second_part();
    let turns: Vec<UnitId> = memory.all_turns_of(event_at(4)).collect();
    assert_eq!(turns, [turn(4), turn(5), turn(6), second_part().id]);
    let others: Vec<UnitId> = memory.all_turns_of(event_at(0)).collect();
    assert_eq!(others, [turn(0), turn(1), turn(2), turn(3)]);
}

#[test]
fn a_chosen_event_stands_for_the_first_turn_of_each_of_its_records() {
    let memory = memory_with_second_part();
    let first: Vec<UnitId> = memory.first_turns_of(event_at(4)).collect();
    assert_eq!(first, [turn(4), turn(5), turn(6)]);
    let chosen = [event_at(4), second_part().id, turn(0)];
    let expected = [turn(4), turn(5), turn(6), second_part().id, turn(0)];
    assert_eq!(memory.first_turns_of_units(&chosen), expected);
    assert_eq!(memory.first_turns_and_gists(&chosen), expected);
}

#[test]
fn an_act_about_an_event_applies_to_all_parts_of_its_records() {
    let mut memory = memory_with_second_part();
    memory.apply_curations(&[act(1, Act::PinUnit { unit: event_at(4) })]);
    assert_eq!(memory.marks().pinned, turns_of_event());
    assert!(memory.is_pinned(second_part().id) && !memory.is_pinned(turn(0)));
    memory.apply_curations(&[act(1, Act::ForgetUnit { unit: event_at(4) })]);
    assert_eq!(memory.marks().forgotten, turns_of_event());
    assert!(memory.is_forgotten(second_part().id) && !memory.is_forgotten(turn(0)));
    memory.take_units([&second_part().without_content()]);
    assert!(!memory.marks().forgotten.contains(&second_part().id), "it is gone");
    memory.take_units([&second_part()]);
    assert_eq!(memory.marks().forgotten, turns_of_event(), "the act came first");
    memory.apply_curations(&[]);
    assert!(memory.marks().forgotten.is_empty() && memory.marks().pinned.is_empty());
}

#[test]
fn an_event_is_forgotten_with_any_part_of_its_records() {
    let mut memory = memory_with_second_part();
    assert!(!memory.is_forgotten(event_at(4)));
    let forget = Act::ForgetUnit { unit: second_part().id };
    memory.apply_curations(&[act(1, forget)]);
    assert!(memory.is_forgotten(event_at(4)) && !memory.is_forgotten(event_at(0)));
    assert_eq!(memory.marks().forgotten, BTreeSet::from([second_part().id]));
}

#[test]
fn no_part_of_a_forgotten_event_is_packed() {
    let mut view = View::from_units(units().into_iter().chain([second_part()]));
    let asked = request("Which glaze did Omar paint a bowl with?", 200);
    let packed = |view: &View| -> BTreeSet<UnitId> {
        let routed = ask(view, &asked);
        routed.pack.items.iter().map(|it| it.unit).collect()
    };
    assert!(packed(&view).contains(&second_part().id));
    let mut memory = memory_with_second_part();
    memory.apply_curations(&[act(1, Act::ForgetUnit { unit: event_at(4) })]);
    view.set_marks(memory.marks().clone());
    assert!(packed(&view).is_disjoint(&turns_of_event()));
    assert!(!packed(&view).is_empty(), "other turns are still packed");
}
