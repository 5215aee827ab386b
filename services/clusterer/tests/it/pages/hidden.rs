//! Tests of pages with forgotten units and with versions of records that were replaced.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, TimeDelta};
use clusterer::{Acts, ChangedObjects, Memory};
use domain::curation::{Act, Curation};
use domain::derived::Derived;
use domain::id::{CurationId, UnitId};
use domain::page::{Dimension, Page};
use domain::topic::Topic;
use domain::unit::{Grain, Unit};
use domain::version::Version;

use super::{World, facts, lines, units};
use crate::held::Held;
use crate::space;
use crate::world::{event, shuffled, turn, vector, withdrawn};

const FIRST: &str = "I sold 7 jars of my heather honey to them yesterday.";
const PART: &str = "The other 23 jars of clover honey are stored behind the barn.";
const SECOND: &str = "I keep 12 jars of linden honey for Joar.";

/// Returns turn `number`: Ines says a text, without an addressee.
fn spoken(number: usize, text: &str) -> Unit {
    Unit {
        actor: "Ines".to_owned(),
        addressee: String::new(),
        text: text.to_owned(),
        ..turn(number)
    }
}

/// Returns turn `number` as a version of the record of turn 0.
fn version(number: usize, version: u32, text: &str) -> Unit {
    Unit {
        version: Some(Version {
            of: turn(0).records[0],
            number: version,
        }),
        ..spoken(number, text)
    }
}

/// Returns the event of turn 0 alone.
fn event_of_first() -> Unit {
    Unit {
        text: format!("Ines: {FIRST}"),
        ..event(0)
    }
}

fn pages(world: &World) -> impl Iterator<Item = &Page> {
    let stored = world.stored.values();
    stored.filter_map(|it| if let Derived::Page(it) = it { Some(it) } else { None })
}

/// Returns the units that any page quotes.
fn quoted_units(world: &World) -> BTreeSet<UnitId> {
    let sections = pages(world).flat_map(|it| &it.sections);
    let quotes = sections.flat_map(|it| &it.lines).filter(|it| it.fact.is_none());
    quotes.map(|it| it.unit).collect()
}

fn forget(world: &mut World, units: &[UnitId]) {
    world.pages.set_forgotten(units.iter().copied());
    world.feed(&[], &[]);
}

fn curation(number: i64, act: Act) -> Curation {
    Curation {
        id: CurationId::from_external_id(&space(), &number.to_string()),
        at: DateTime::from_timestamp(number, 0).unwrap(),
        by: String::new(),
        act,
        reason: String::new(),
    }
}

#[test]
fn forgotten_turns_and_their_events_are_not_quoted() {
    let mut world = World::default();
    world.feed(&units(), &facts());
    let (before, quoted) = (world.stored.clone(), quoted_units(&world));
    let number = (0..70).find(|it| quoted.contains(&event(*it).id)).unwrap();
    forget(&mut world, &[turn(number).id]);
    let left = quoted_units(&world);
    assert!(!left.contains(&event(number).id) && left.len() > 6, "{left:?}");
    let number = (0..70).find(|it| quoted.contains(&turn(*it).id)).unwrap();
    forget(&mut world, &[turn(number).id]);
    let left = quoted_units(&world);
    assert!(!left.contains(&turn(number).id) && left.len() > 6, "{left:?}");
    forget(&mut world, &[]);
    assert_eq!(world.stored, before);
}

#[test]
fn an_event_with_a_forgotten_part_of_a_long_record_is_not_quoted() {
    let mut world = World::default();
    let part = Unit {
        id: UnitId::of_part(turn(0).records[0], 1),
        ..spoken(0, PART)
    };
    let part_id = part.id;
    world.feed(&[spoken(0, FIRST), part, event_of_first(), turn(1), turn(2)], &[]);
    let are_quoted = |world: &World| {
        let quoted = quoted_units(world);
        [event(0).id, turn(0).id, part_id].map(|it| quoted.contains(&it))
    };
    assert_eq!(are_quoted(&world), [true, true, true]);
    forget(&mut world, &[part_id]);
    assert_eq!(are_quoted(&world), [false, true, false]);
    forget(&mut world, &[]);
    assert_eq!(are_quoted(&world), [true, true, true]);
}

#[test]
fn replaced_versions_are_quoted_as_of_earlier_moments_only() {
    let mut world = World::default();
    let part = Unit {
        id: UnitId::of_part(turn(0).records[0], 1),
        ..spoken(0, PART)
    };
    world.feed(&[spoken(0, FIRST), part, event_of_first(), turn(1), turn(2)], &[]);
    let [first, part, second] = [FIRST, PART, SECOND].map(|it| format!("Ines: {it}"));
    let quotes = |page: &Page| [&first, &part, &second].map(|it| lines(page).contains(&it.as_str()));
    let ines = |world: &World| world.page(Dimension::Figure, "Ines").clone();
    let may = |world: &World| world.page(Dimension::Event, "May 2024").clone();
    assert_eq!(quotes(&ines(&world)), [true, true, false]);
    assert_eq!(quotes(&may(&world)), [true, false, false]);
    let replacing = version(3, 2, SECOND);
    world.feed(std::slice::from_ref(&replacing), &[]);
    assert_eq!(quotes(&ines(&world)), [false, false, true]);
    assert_eq!(may(&world).without_former_lines(), None, "nothing is left on it");
    let earlier = replacing.observed_at.to_utc() - TimeDelta::hours(1);
    assert_eq!(quotes(&ines(&world).known_at(earlier).unwrap()), [true, true, false]);
    assert_eq!(quotes(&may(&world).known_at(earlier).unwrap()), [true, false, false]);
    // A forgotten version is not even shown as of an earlier moment.
    forget(&mut world, &[turn(0).id]);
    assert_eq!(quotes(&ines(&world).known_at(earlier).unwrap()), [false, true, false]);
    assert_eq!(may(&world).known_at(earlier), None);
    forget(&mut world, &[]);
    world.feed(&[withdrawn(&replacing)], &[]);
    assert_eq!(
        quotes(&ines(&world)),
        [true, true, false],
        "the later version was erased"
    );
    assert_eq!(quotes(&may(&world)), [true, false, false]);
}

#[test]
fn many_replaced_versions_do_not_crowd_other_units_out_of_a_page() {
    let mut world = World::default();
    world.feed(&[spoken(0, FIRST), spoken(1, PART)], &[]);
    let versions: Vec<Unit> = (2..90)
        .map(|it| {
            version(
                it,
                u32::try_from(it).unwrap(),
                &format!("{FIRST} It was batch {it} for Edda in Bergen."),
            )
        })
        .collect();
    world.feed(&versions, &[]);
    let page = world.page(Dimension::Figure, "Ines");
    let events = &page.sections[0];
    assert!(
        lines(page).contains(&format!("Ines: {PART}").as_str()),
        "{:?}",
        lines(page)
    );
    assert_eq!((events.lines.len(), events.former.len()), (2, 12));
}

#[test]
fn hidden_units_are_not_counted_among_the_lines_left_out() {
    let mut world = World::default();
    let text = |it: usize| format!("I sold {it} jars of my heather honey to Edda in Bergen yesterday.");
    let turns: Vec<Unit> = (0..=60).map(|it| spoken(it, &text(it))).collect();
    world.feed(&turns, &[]);
    let left_out = |world: &World| world.page(Dimension::Figure, "Ines").sections[0].left_out;
    assert_eq!(left_out(&world), 61 - 12);
    // Of the 21 versions of turn 0, only the last one is left; most of the others come after the best lines.
    let versions = (61..=80).map(|it| version(it, u32::try_from(it).unwrap(), &text(it)));
    world.feed(&versions.collect::<Vec<Unit>>(), &[]);
    assert_eq!(left_out(&world), 61 - 12);
}

#[test]
fn pages_with_versions_depend_only_on_the_set_of_units() {
    // Eleven turns of Ines are later versions of her first one.
    let as_version = |(index, unit): (usize, Unit)| {
        let place = index / 4;
        if unit.grain == Grain::Turn && index.is_multiple_of(4) && (2..13).contains(&place) {
            version(index / 2, u32::try_from(place).unwrap(), &unit.text)
        } else {
            unit
        }
    };
    let all: Vec<Unit> = units().into_iter().enumerate().map(as_version).collect();
    assert_eq!(all.iter().filter(|it| it.version.is_some()).count(), 11);
    let (gone, kept): (Vec<Unit>, Vec<Unit>) = all.iter().cloned().partition(|it| it.ordinal % 5 == 2);
    assert!(gone.iter().any(|it| it.version.is_some()));
    let gone: Vec<Unit> = gone.iter().map(withdrawn).collect();
    let pages_of = |units: &[Unit]| {
        let mut world = World::default();
        world.feed(units, &facts());
        world.stored
    };
    let (whole, without) = (pages_of(&all), pages_of(&kept));
    for seed in 1..=5 {
        let mut world = World::default();
        let order = shuffled(&all, seed);
        order.chunks(3 + 8 * seed as usize).for_each(|it| world.feed(it, &[]));
        world.feed(&[], &facts());
        assert_eq!(world.stored, whole, "order {seed}");
        shuffled(&gone, seed).chunks(4).for_each(|it| world.feed(it, &[]));
        assert_eq!(world.stored, without, "order {seed}, some removed");
    }
}

#[test]
fn a_models_summary_of_a_topic_is_shown_although_an_event_of_the_topic_is_forgotten() {
    const SUMMARY: &str = "They look after a beehive.";
    let mut world = World::default();
    world.feed(&units(), &[]);
    let topics = world.stored.values();
    let mut topics = topics.filter_map(|it| if let Derived::Topic(it) = it { Some(it) } else { None });
    let topic = topics.next().unwrap().clone();
    let number = (0..70)
        .find(|it| world.topic_of_event(event(*it).id) == topic.id)
        .unwrap();
    let id = topic.id;
    world.pages.apply_changes(&ChangedObjects {
        put: vec![Derived::Topic(Topic {
            summary: Some(SUMMARY.to_owned()),
            ..topic
        })],
        removed: Vec::new(),
    });
    world.feed(&[], &[]);
    assert!(world.topic_page(id).summary.starts_with(SUMMARY));
    // The topics drop the summary if the model was shown the event. This summary may have been made without it.
    forget(&mut world, &[turn(number).id]);
    assert!(world.topic_page(id).summary.starts_with(SUMMARY));
}

#[test]
fn forgetting_an_event_forgets_its_turns_and_their_facts() {
    let said = spoken(0, "I live in Bergen. I keep 7 hens and 2 goats behind the house.");
    let happened = Unit {
        text: format!("Ines: {}", said.text),
        ..event(0)
    };
    let (mut memory, mut held) = (Memory::default(), Held::default());
    for unit in [&said, &turn(1), &turn(2), &happened] {
        memory.apply_unit(unit, Some(&vector(unit)));
    }
    // Returns whether a fact of the turn is current, and whether a page quotes it.
    let mut fact_and_quote_after = |acts: &[Curation]| -> (bool, bool) {
        let (pairs, topics) = (memory.event_pairs_to_look_up(), memory.unlooked_labels());
        memory.apply_readings(&pairs, &[]);
        memory.take_in_labels(&topics, &[]);
        let acts = Acts::from_curations(acts);
        held.take(memory.take_changes(&space(), &acts, &BTreeMap::new()));
        let facts = held.0.values();
        let mut facts = facts.filter_map(|it| if let Derived::Fact(it) = it { Some(it) } else { None });
        let pages = held.0.values();
        let pages = pages.filter_map(|it| if let Derived::Page(it) = it { Some(it) } else { None });
        let mut texts = pages.flat_map(lines);
        (
            facts.any(|it| it.source == said.id && !it.withdrawn),
            texts.any(|it| it.contains("7 hens")),
        )
    };
    assert_eq!(fact_and_quote_after(&[]), (true, true));
    let forgotten = curation(1, Act::ForgetUnit { unit: happened.id });
    assert_eq!(fact_and_quote_after(std::slice::from_ref(&forgotten)), (false, false));
    let pinned = curation(2, Act::PinUnit { unit: happened.id });
    assert_eq!(
        fact_and_quote_after(&[forgotten, pinned]),
        (true, true),
        "of two acts, the later one counts"
    );
}
