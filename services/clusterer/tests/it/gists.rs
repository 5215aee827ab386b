//! Tests of facts that a language model read, folded with those of the rules.

use chrono::{DateTime, FixedOffset, TimeDelta};
use clusterer::{Acts, Entities, Facts};
use domain::curation::{Act, Curation};
use domain::derived::Derived;
use domain::fact::{Aspect, Fact, Origin, Stated};
use domain::id::{CurationId, ReadingId, UnitId};
use domain::unit::{Grain, Unit};

use crate::held::Held;
use crate::{space, unit};

fn at(number: usize) -> DateTime<FixedOffset> {
    DateTime::UNIX_EPOCH.fixed_offset() + TimeDelta::days(i64::try_from(number).unwrap())
}

/// Returns a turn on its own day.
fn turn(number: usize, actor: &str, text: &str) -> Unit {
    Unit {
        observed_at: at(number),
        ..unit(number, actor, text)
    }
}

/// Returns a gist read from a turn, which states where someone lives.
pub(crate) fn gist(turn: &Unit, subject: &str, home: &str) -> Unit {
    let record = turn.records[0];
    let stated = Stated {
        record,
        observed_at: turn.observed_at,
        told_by: turn.actor.clone(),
        subject: subject.to_owned(),
        predicate: "lives in".to_owned(),
        object: home.to_owned(),
        aspect: Aspect::Place,
        positive: true,
        since: None,
        until: None,
        ended: false,
        confidence: 0.9,
    };
    Unit {
        id: UnitId::of_gist(ReadingId::of_passage(record), 0),
        grain: Grain::Gist,
        text: format!("{subject} lives in {home}."),
        version: None,
        stated: vec![stated],
        ..turn.clone()
    }
}

/// Facts of a space, and the contents of a store.
#[derive(Default)]
struct Memory {
    entities: Entities,
    facts: Facts,
    held: Held,
}

impl Memory {
    fn take(&mut self, units: &[Unit], acts: &Acts) {
        for unit in units {
            self.entities.apply_unit(unit);
            self.facts.apply_unit(unit);
        }
        self.entities.take_changes(&space(), acts);
        self.held.take(self.facts.take_changes(&self.entities, acts));
    }

    fn facts(&self) -> Vec<&Fact> {
        let facts = self.held.0.values();
        let facts = facts.filter_map(|it| if let Derived::Fact(it) = it { Some(it) } else { None });
        let mut facts: Vec<&Fact> = facts.collect();
        facts.sort_by_key(|it| it.recorded_at);
        facts
    }
}

#[test]
fn a_fact_of_a_gist_names_the_turn_it_was_read_from() {
    let mut memory = Memory::default();
    let source = turn(1, "Ann", "Home is wherever the loft is, and that is Porto for now.");
    memory.take(&[source.clone(), gist(&source, "Ann", "Porto")], &Acts::default());
    let facts = memory.facts();
    assert_eq!(facts.len(), 1, "{facts:?}");
    let fact = facts[0];
    assert_eq!((fact.subject.as_str(), fact.object.as_str()), ("Ann", "Porto"));
    assert_eq!(
        (fact.origin, fact.source, fact.told_by.as_str()),
        (Origin::Model, source.id, "Ann")
    );
    assert_eq!(fact.recorded_at, source.observed_at.to_utc());
}

#[test]
fn facts_by_rule_and_by_model_close_and_repeat_each_other() {
    let mut memory = Memory::default();
    let oslo = turn(1, "Ann", "I live in Oslo.");
    let porto = turn(2, "Ann", "Home is Porto now, since Tuesday.");
    let again = turn(3, "Ann", "I live in Porto.");
    let units = [
        oslo.clone(),
        gist(&oslo, "Ann", "Oslo"),
        porto.clone(),
        gist(&porto, "Ann", "Porto"),
        again,
    ];
    memory.take(&units, &Acts::default());
    let homes: Vec<(&str, Origin, bool)> = memory
        .facts()
        .iter()
        .map(|it| (it.object.as_str(), it.origin, it.valid_until.is_some()))
        .collect();
    assert_eq!(homes, [("Oslo", Origin::Rule, true), ("Porto", Origin::Model, false)]);
}

#[test]
fn forgetting_a_turn_forgets_the_facts_that_a_model_read_from_it() {
    let mut memory = Memory::default();
    let source = turn(1, "Ann", "Home is Porto for now.");
    let units = [source.clone(), gist(&source, "Ann", "Porto")];
    memory.take(&units, &Acts::default());
    assert!(!memory.facts()[0].withdrawn);
    let forget = Curation {
        id: CurationId::from_external_id(&space(), "1"),
        at: at(9).to_utc(),
        by: String::new(),
        act: Act::ForgetUnit { unit: source.id },
        reason: String::new(),
    };
    memory.take(&[], &Acts::from_curations(&[forget]));
    assert!(memory.facts()[0].withdrawn, "{:?}", memory.facts());
    memory.take(&[], &Acts::default());
    assert!(!memory.facts()[0].withdrawn);
}

#[test]
fn facts_disappear_with_their_gist() {
    let mut memory = Memory::default();
    let source = turn(1, "Ben", "Ann is in Porto these days.");
    let gist = gist(&source, "Ann", "Porto");
    memory.take(&[source, gist.clone()], &Acts::default());
    assert_eq!(memory.facts().len(), 1);
    memory.take(&[gist.without_content()], &Acts::default());
    assert_eq!(memory.facts(), Vec::<&Fact>::new());
}
