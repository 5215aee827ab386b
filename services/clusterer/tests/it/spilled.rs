//! A memory that moves everything to a file after each round derives the same as one that stays in memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::DateTime;
use clusterer::{Acts, ChangedObjects, Memory, SpillFile};
use domain::curation::{Act, Curation};
use domain::derived::{Derived, DerivedKind};
use domain::id::{CurationId, FactId, MergeId};
use domain::unit::{Grain, Unit};

use crate::world::{dated, event, shuffled, turn, vector, withdrawn};
use crate::{space, unit};

/// Number of pairs of a turn and an event. Some lists of a space have more than a thousand entries then.
const PAIRS: usize = 700;

/// Returns a turn that states a fact.
fn statement(number: usize) -> Unit {
    let place = ["Oslo", "Bergen", "Turin", "Graz"][number / 5 % 4];
    let text = match number % 9 {
        0 => format!("I moved to {place}."),
        1 => format!("I bought a red bike number {number}."),
        2 => format!("My sister Ana{} lives in {place}.", number % 7),
        3 => format!("I love song{number}."),
        4 => "I don't like jazz.".to_owned(),
        5 => "I like jazz.".to_owned(),
        6 => format!("I work as a nurse in {place}."),
        7 => "No, it was Lisbon.".to_owned(),
        _ => format!("Ben, have you met Kim{} in {place}?", number % 90),
    };
    dated(unit(10_000 + number, ["Ines", "Joar"][number % 2], &text), number)
}

struct Pair {
    kept: Memory,
    spilled: Memory,
    file: Arc<SpillFile>,
}

impl Pair {
    /// Applies units to both memories, compares everything that they derive, and spills one of them.
    fn feed(&mut self, units: &[Unit], acts: &Acts) -> ChangedObjects {
        let [kept, spilled] = [&mut self.kept, &mut self.spilled].map(|memory| {
            for unit in units {
                let vector = (unit.grain == Grain::Event && !unit.summary.is_empty()).then(|| vector(unit));
                memory.apply_unit(unit, vector.as_ref());
            }
            let pairs = memory.event_pairs_to_look_up();
            let (labels, people) = (memory.unlooked_labels(), memory.unlooked_people(&space()));
            memory.apply_readings(&pairs, &[]);
            memory.take_in_labels(&labels, &[]);
            memory.take_in_people(&people, &[]);
            let changed = memory.take_changes(&space(), acts, &BTreeMap::new());
            (
                pairs,
                labels,
                people,
                changed,
                memory.event_questions(9),
                memory.people_questions(&space(), 9),
            )
        });
        assert_eq!(spilled, kept);
        // What was used since the first call is spilled by the second.
        (0..2).for_each(|_| self.spilled.spill_unused(&self.file));
        kept.3
    }
}

#[test]
fn a_spilled_memory_derives_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let file = Arc::new(SpillFile::create_in(folder.path(), [3; 32]).unwrap());
    let mut pair = Pair {
        kept: Memory::default(),
        spilled: Memory::default(),
        file: Arc::clone(&file),
    };
    let mut units: Vec<Unit> = (0..PAIRS).flat_map(|it| [turn(it), event(it), statement(it)]).collect();
    // Some units arrive late, and in any order.
    let late = units.split_off(units.len() - 300);
    units.splice(600..600, shuffled(&late, 5));
    let none = Acts::default();
    let mut reported = Vec::new();
    for batch in units.chunks(60) {
        reported.extend(pair.feed(batch, &none).put);
    }
    assert!(file.used_bytes() > 500_000, "{} bytes", file.used_bytes());
    let acts = Acts::from_curations(&acts_about(&reported, &units));
    pair.feed(&[], &acts);
    let gone: Vec<Unit> = units.iter().step_by(11).map(withdrawn).collect();
    for batch in gone.chunks(50) {
        pair.feed(batch, &acts);
    }
    let changed: Vec<Unit> = units
        .iter()
        .skip(3)
        .step_by(17)
        .zip(0..)
        .map(|(it, number)| Unit {
            text: statement(number).text,
            ..it.clone()
        })
        .collect();
    for batch in changed.chunks(40) {
        pair.feed(batch, &none);
    }
    let rest: Vec<Unit> = units.iter().map(withdrawn).collect();
    for batch in rest.chunks(200) {
        pair.feed(batch, &none);
    }
    assert_eq!(pair.spilled.count_units(), 0);
    assert!(!file.is_damaged());
}

/// Returns decisions about a unit, a fact and a merge.
fn acts_about(reported: &[Derived], units: &[Unit]) -> Vec<Curation> {
    let is_of = |it: &&Derived, kind: DerivedKind| it.id().kind == kind;
    let facts = reported.iter().filter(|it| is_of(it, DerivedKind::Fact));
    let facts = facts.map(|it| Act::RetireFact {
        fact: FactId::from_uuid(it.id().id),
    });
    let merges = reported.iter().filter(|it| is_of(it, DerivedKind::Merge));
    let merges = merges.map(|it| Act::UndoMerge {
        merge: MergeId::from_uuid(it.id().id),
    });
    let forgotten = units.iter().step_by(400).map(|it| Act::ForgetUnit { unit: it.id });
    let acts = facts.step_by(90).chain(merges.step_by(40)).chain(forgotten);
    let curation = |(number, act): (i64, Act)| Curation {
        id: CurationId::from_external_id(&space(), &number.to_string()),
        at: DateTime::from_timestamp(1_900_000_000 + number, 0).unwrap(),
        by: String::new(),
        act,
        reason: String::new(),
    };
    (0..).zip(acts).map(curation).collect()
}
