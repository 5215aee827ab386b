//! Compares the lists of a space with lists that are computed from scratch.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use chrono::TimeDelta;
use proptest::prelude::*;

use super::*;
use crate::judgements::example::sample_event;
use crate::pages::inputs::buckets::bucket::Month;

const NAMES: [&str; 3] = ["Ann", "Bea", "Cem"];
const UNITS: u32 = 160;

/// The inputs of an index, and the lists of a thing computed from them.
#[derive(Default)]
struct Reference {
    units: BTreeMap<UnitId, Unit>,
    topics: BTreeMap<UnitId, TopicId>,
    merged: BTreeSet<UnitId>,
}

impl Reference {
    fn lists_of(&self, about: &About) -> (Vec<Rank>, Vec<TimeAndId>) {
        let (mut ranks, mut times) = (BTreeSet::new(), BTreeSet::new());
        let counted = self.units.values().filter(|it| !self.merged.contains(&it.id));
        for unit in counted.filter(|it| self.things_of(it).contains(about)) {
            let at = unit.observed_at.to_utc();
            times.insert((at, unit.id));
            let line = lines::select_best_sentence(unit).filter(|it| it.score >= lines::SCORE_MIN);
            ranks.extend(line.map(|it| (Reverse(it.score), at, unit.id)));
        }
        (ranks.into_iter().collect(), times.into_iter().collect())
    }

    fn things_of(&self, unit: &Unit) -> Vec<About> {
        if unit.grain != Grain::Event {
            let names = names_of_unit(unit).into_iter();
            return names.map(|it| About::Name(it.1)).collect();
        }
        let topic = self.topics.get(&unit.id).copied().map(About::Topic);
        let month = About::Month(Month::from_date(&unit.observed_at));
        topic.into_iter().chain([month]).collect()
    }

    fn newest_time(&self) -> Option<DateTime<Utc>> {
        self.units.values().map(|it| it.observed_at.to_utc()).max()
    }
}

/// Returns one of several states of a unit. One unit in three is an event, and many have the same time and score.
fn unit_in_state(number: u32, state: u32) -> Unit {
    let sample = sample_event(number, "");
    let is_event = number.is_multiple_of(3);
    let name = |at: u32| NAMES[at as usize % NAMES.len()].to_owned();
    let days = TimeDelta::days(i64::from((number + 20 * state) % 80));
    let boats = "Ann and Bea counted 12 boats and 3 ferries near the harbour of Bergen";
    Unit {
        id: if is_event {
            sample.id
        } else {
            UnitId::of_turn(sample.records[0])
        },
        grain: if is_event { Grain::Event } else { Grain::Turn },
        observed_at: (DateTime::UNIX_EPOCH + days).fixed_offset(),
        actor: name(number),
        participants: vec![name(number + state)],
        text: boats.split_inclusive(' ').take(3 + 3 * state as usize).collect(),
        ..sample
    }
}

fn topic(number: u32) -> TopicId {
    TopicId::from_founding_unit(sample_event(number, "").id)
}

fn lists_of(index: &ContentIndex, about: &About) -> (Vec<Rank>, Vec<TimeAndId>) {
    let bucket = index.find_bucket(about);
    let ranks = bucket.into_iter().flat_map(|it| index.ranks_of_lines(it));
    let times = bucket.into_iter().flat_map(|it| index.times_of_bucket(it));
    (ranks.collect(), times.collect())
}

fn all_things() -> Vec<About> {
    let names = NAMES.iter().map(|it| About::Name(Name::from_written(it)));
    let topics = (0..2).map(|it| About::Topic(topic(it)));
    let months = (0..3).map(|it| DateTime::UNIX_EPOCH + TimeDelta::days(40 * it));
    let months = months.map(|it| About::Month(Month::from_date(&it)));
    names.chain(topics).chain(months).collect()
}

fn apply_change(index: &mut ContentIndex, reference: &mut Reference, [number, state, action]: [u32; 3]) {
    let unit = unit_in_state(number, state);
    let merge = MergeId::from_uuid(Default::default());
    match action {
        0 => {
            index.apply_unit(&Unit {
                status: Status::Archived,
                ..unit.clone()
            });
            reference.units.remove(&unit.id);
        }
        1 => {
            index.set_topic_of_event(unit.id, Some(topic(state % 2)));
            reference.topics.insert(unit.id, topic(state % 2));
        }
        2 => {
            index.set_topic_of_event(unit.id, None);
            reference.topics.remove(&unit.id);
        }
        3 => {
            index.update_merge(unit.id, merge, state == 0);
            reference.merged.remove(&unit.id);
            reference.merged.extend((state == 0).then_some(unit.id));
        }
        _ => {
            index.apply_unit(&unit);
            reference.units.insert(unit.id, unit);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn lists_follow_all_changes_of_units(
        changes in prop::collection::vec([0..UNITS, 0_u32..4, 0_u32..12], 0..900),
    ) {
        let (mut index, mut reference) = (ContentIndex::default(), Reference::default());
        for change in changes {
            apply_change(&mut index, &mut reference, change);
        }
        prop_assert_eq!(index.newest_time(), reference.newest_time());
        for about in all_things() {
            let expected = reference.lists_of(&about);
            if let Some(bucket) = index.find_bucket(&about) {
                prop_assert!(expected.0.iter().all(|it| index.has_line(bucket, *it)));
            }
            prop_assert_eq!((&about, lists_of(&index, &about)), (&about, expected));
        }
        (0..UNITS).for_each(|it| apply_change(&mut index, &mut reference, [it, 0, 0]));
        prop_assert!(all_things().iter().all(|it| index.find_bucket(it).is_none()));
    }
}
