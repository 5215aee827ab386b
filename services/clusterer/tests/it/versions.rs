//! Tests of versions of records: the statements of a version are withdrawn when the next one arrives.

use chrono::{TimeDelta, Utc};
use clusterer::{Acts, Entities, Facts};
use domain::derived::Derived;
use domain::fact::Fact;
use domain::id::{RecordId, SpaceId, UnitId};
use domain::unit::Unit;
use domain::version::{Version, Versions};

use crate::gists::gist;
use crate::unit;

/// All orders of three units except their own.
const OTHER_ORDERS: [[usize; 3]; 5] = [[2, 1, 0], [1, 2, 0], [0, 2, 1], [2, 0, 1], [1, 0, 2]];

fn record(number: usize) -> RecordId {
    unit(number, "Ann", "x").records[0]
}

/// Returns turn `number` as a version of turn 1, observed as many days later as the version's number.
fn version(number: usize, version: u32, text: &str) -> Unit {
    let mut unit_version = unit(number, "Ann", text);
    unit_version.observed_at += TimeDelta::days(i64::from(version));
    unit_version.version = (version > 1).then(|| Version {
        of: record(1),
        number: version,
    });
    unit_version
}

fn talk() -> Vec<Unit> {
    vec![
        version(1, 1, "I live in Oslo."),
        version(2, 2, "I live in Bergen."),
        version(3, 3, "I live in Lisbon."),
    ]
}

fn facts(units: &[Unit]) -> Vec<Fact> {
    let space: SpaceId = "s".parse().unwrap();
    let (mut names, mut facts) = (Entities::default(), Facts::default());
    let acts = Acts::default();
    let mut facts_by_id: std::collections::BTreeMap<_, Fact> = std::collections::BTreeMap::new();
    for unit in units {
        names.apply_unit(unit);
        facts.apply_unit(unit);
        names.take_changes(&space, &acts);
        let changed = facts.take_changes(&names, &acts);
        for removed in changed.removed {
            facts_by_id.retain(|it: &domain::id::FactId, _| it.uuid() != removed.id);
        }
        for put in changed.put {
            if let Derived::Fact(fact) = put {
                facts_by_id.insert(fact.id, fact);
            }
        }
    }
    facts_by_id.into_values().collect()
}

fn told_now(facts: &[Fact]) -> Vec<&str> {
    facts
        .iter()
        .filter(|it| !it.withdrawn)
        .map(|it| it.object.as_str())
        .collect()
}

#[test]
fn facts_of_replaced_versions_are_withdrawn_in_any_order() {
    let all = facts(&talk());
    assert_eq!(told_now(&all), ["Lisbon"], "{all:?}");
    let before = talk()[2].observed_at.with_timezone(&Utc) - TimeDelta::hours(1);
    let then: Vec<String> = all
        .iter()
        .filter_map(|it| it.known_at(before))
        .filter(|it| !it.withdrawn)
        .map(|it| it.object)
        .collect();
    assert_eq!(then, ["Bergen"]);
    for order in OTHER_ORDERS {
        let units: Vec<Unit> = order.iter().map(|it| talk()[*it].clone()).collect();
        assert_eq!(facts(&units), all, "{order:?}");
    }
}

/// The third version says that it was observed soon after the first one.
#[test]
fn a_version_that_was_observed_before_earlier_ones_replaces_them_from_then_on() {
    let [first, second, mut third] = talk().try_into().unwrap();
    third.observed_at = first.observed_at + TimeDelta::hours(1);
    let units = [first, second, third];
    let replaced = |units: &[Unit]| {
        let mut versions = Versions::default();
        for unit in units {
            versions.apply_unit(unit);
        }
        [1, 2, 3].map(|it| versions.replaced_at(UnitId::of_turn(record(it))))
    };
    let at = |place: usize| Some(units[place].observed_at.to_utc());
    assert_eq!(replaced(&units[..2]), [at(1), None, None]);
    assert_eq!(replaced(&units), [at(2), at(2), None]);
    let all = facts(&units);
    assert_eq!(told_now(&all), ["Lisbon"], "{all:?}");
    for order in OTHER_ORDERS {
        let ordered: Vec<Unit> = order.iter().map(|it| units[*it].clone()).collect();
        assert_eq!(facts(&ordered), all, "{order:?}");
    }
    let [first, second, third] = units;
    let erased = third.without_content();
    let without_third = facts(&[first.clone(), second.clone()]);
    assert_eq!(facts(&[first, second, third, erased]), without_third);
}

#[test]
fn an_erased_version_is_succeeded_by_the_one_before() {
    let [first, second, third] = talk().try_into().unwrap();
    let units = [first.clone(), second, third.clone(), third.without_content()];
    assert_eq!(told_now(&facts(&units)), ["Bergen"]);
    let [_, second, third] = talk().try_into().unwrap();
    let units = [first, second.clone(), third, second.without_content()];
    assert_eq!(told_now(&facts(&units)), ["Lisbon"]);
}

/// The first version states nothing that the rules read, only something that a model read.
#[test]
fn facts_that_a_model_read_from_a_replaced_version_are_withdrawn_in_any_order() {
    let first = version(1, 1, "Home is wherever the loft is, and that is Porto for now.");
    let gist = gist(&first, "Ann", "Porto");
    let second = version(2, 2, "Good morning!");
    assert_eq!(facts(std::slice::from_ref(&first)), Vec::<Fact>::new());
    assert_eq!(told_now(&facts(&[first.clone(), gist.clone()])), ["Porto"]);

    let units = [first, gist, second];
    let all = facts(&units);
    assert_eq!((all.len(), told_now(&all)), (1, Vec::new()), "{all:?}");
    for order in OTHER_ORDERS {
        let ordered: Vec<Unit> = order.iter().map(|it| units[*it].clone()).collect();
        assert_eq!(facts(&ordered), all, "{order:?}");
    }
    let [first, gist, second] = units;
    let erased = second.without_content();
    assert_eq!(told_now(&facts(&[first, gist, second, erased])), ["Porto"]);
}

#[test]
fn versions_know_when_each_unit_and_its_parts_were_replaced() {
    let mut versions = Versions::default();
    for unit in talk() {
        versions.apply_unit(&unit);
    }
    let at = |place: usize| Some(talk()[place].observed_at.to_utc());
    let of = |number: usize| UnitId::of_turn(record(number));
    assert_eq!(versions.replaced_at(of(1)), at(1));
    assert_eq!(versions.replaced_at(UnitId::of_part(record(1), 9)), at(1));
    assert_eq!(
        (versions.replaced_at(of(2)), versions.replaced_at(of(3))),
        (at(2), None)
    );
    assert_eq!(versions.replaced_at(of(4)), None);
    for unit in talk() {
        versions.apply_unit(&unit.without_content());
    }
    assert_eq!(versions, Versions::default());
}
