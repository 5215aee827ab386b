//! Compares the units of a section of events with units that are selected by what hides each of them.

use domain::id::{MergeId, ReadingId, RecordId};
use domain::unit::{Grain, Status, Unit};
use domain::version::Version;
use proptest::prelude::*;

use super::*;
use crate::judgements::example::sample_event;
use crate::pages::inputs::buckets::bucket::{About, Month};
use crate::pages::inputs::names::Name;
use crate::space::spill_file::SpillFile;

const NAMES: [&str; 3] = ["Ann", "Bea", "Cem"];
const UNITS: u32 = 240;

fn record(number: u32) -> RecordId {
    sample_event(number, "").records[0]
}

/// Returns one of several states of a unit. Units of successive numbers are an event of two records, the first turn unit
/// of a record, a further turn unit of it, and a gist of it. One record in two may be a version of another one.
fn unit_in_state(number: u32, state: u32) -> Unit {
    let turn = number - number % 4 + 1;
    let (grain, id, records) = match number % 4 {
        0 => {
            let id = UnitId::of_event(record(number));
            (Grain::Event, id, vec![record(turn), record(turn + 4)])
        }
        1 => (Grain::Turn, UnitId::of_turn(record(turn)), vec![record(turn)]),
        2 => (Grain::Turn, UnitId::of_part(record(turn), 1), vec![record(turn)]),
        _ => {
            let id = UnitId::of_gist(ReadingId::of_passage(record(number)), 0);
            (Grain::Gist, id, vec![record(turn)])
        }
    };
    let version = Version {
        of: record(number % 16 / 8 * 8 + 1),
        number,
    };
    let name = |at: u32| NAMES[at as usize % NAMES.len()].to_owned();
    let days = TimeDelta::days(i64::from((number + 20 * state) % 80));
    let boats = "Ann and Bea counted 12 boats and 3 ferries near the harbour of Bergen";
    Unit {
        id,
        grain,
        records,
        observed_at: (DateTime::UNIX_EPOCH + days).fixed_offset(),
        actor: name(number),
        participants: vec![name(number + state)],
        text: boats.split_inclusive(' ').take(3 + 3 * state as usize).collect(),
        version: Some(version).filter(|_| number % 8 == 5 && state > 1),
        ..sample_event(number, "")
    }
}

/// Applies one of several changes, most often a state of a unit.
fn apply_change(inputs: &mut PageInputs, forgotten: &mut BTreeSet<UnitId>, [number, state, action]: [u32; 3]) {
    let unit = unit_in_state(number, state);
    let mut forget = |unit: UnitId, forgotten: &mut BTreeSet<UnitId>| {
        if !forgotten.remove(&unit) {
            forgotten.insert(unit);
        }
        inputs.set_forgotten(forgotten.iter().copied());
    };
    match action {
        0 => forget(unit.id, forgotten),
        // There is no unit for this part.
        1 => forget(UnitId::of_part(record(number), 9), forgotten),
        2 => inputs.apply_unit(&unit.without_content()),
        3 => inputs.apply_unit(&Unit {
            status: Status::Archived,
            ..unit
        }),
        4 => {
            let merge = MergeId::from_uuid(Default::default());
            inputs.contents.update_merge(unit.id, merge, state == 0);
        }
        _ => inputs.apply_unit(&unit),
    }
}

/// Returns the candidates of a bucket, with a check of each unit.
fn ranks_with_checks(inputs: &PageInputs, bucket: &Bucket) -> EventRanks {
    let ranked: Vec<Rank> = inputs.contents.ranks_of_lines(bucket).collect();
    let mut ranks = EventRanks {
        all: ranked.iter().filter(|it| inputs.may_show_unit(it.2)).count(),
        ..EventRanks::default()
    };
    for rank in ranked {
        if ranks.shown.len() == LOOKED_AT {
            break;
        }
        match inputs.may_show_unit(rank.2) {
            true => ranks.shown.push(rank),
            false => ranks.hidden.push(rank),
        }
    }
    ranks.hidden.sort_unstable_by_key(|it| (Reverse(it.1), it.2));
    ranks
}

fn all_buckets(inputs: &PageInputs) -> Vec<&Bucket> {
    let names = NAMES.iter().map(|it| About::Name(Name::from_written(it)));
    let months = (0..3).map(|it| DateTime::UNIX_EPOCH + TimeDelta::days(40 * it));
    let months = months.map(|it| About::Month(Month::from_date(&it)));
    let abouts: Vec<About> = names.chain(months).collect();
    abouts.iter().filter_map(|it| inputs.contents.find_bucket(it)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn candidates_are_the_same_as_with_a_check_of_each_unit(
        start in 0_u32..4,
        changes in prop::collection::vec([0..UNITS, 0_u32..4, 0_u32..8], 0..300),
    ) {
        let (mut inputs, mut forgotten) = (PageInputs::default(), BTreeSet::new());
        (0..UNITS).for_each(|it| inputs.apply_unit(&unit_in_state(it, start)));
        let ids: Vec<UnitId> = (0..UNITS).map(|it| unit_in_state(it, 0).id).collect();
        for (step, change) in changes.into_iter().enumerate() {
            apply_change(&mut inputs, &mut forgotten, change);
            if step > 5 && step % 30 != 0 {
                continue;
            }
            for bucket in all_buckets(&inputs) {
                prop_assert_eq!(inputs.rank_events(&[bucket]), ranks_with_checks(&inputs, bucket));
            }
            for id in &ids {
                let is_known = inputs.contents.units.get(*id).is_some();
                let is_hidden = is_known && !inputs.may_show_unit(*id);
                prop_assert_eq!(inputs.hidden_units.contains(id), is_hidden);
            }
        }
        inputs.set_forgotten(std::iter::empty());
        (0..UNITS).for_each(|it| inputs.apply_unit(&unit_in_state(it, 0).without_content()));
        prop_assert!(inputs.hidden_units.is_empty());
    }
}

#[test]
fn hidden_units_are_counted_without_reading_old_units_back() {
    let (_folder, file) = SpillFile::create_for_test();
    let mut inputs = PageInputs::default();
    (0..UNITS).for_each(|it| inputs.apply_unit(&unit_in_state(it, 1)));
    // The event, and a part of the second record of the event.
    inputs.set_forgotten([0, 6].map(|it| unit_in_state(it, 1).id).into_iter());
    let lengths: Vec<usize> = all_buckets(&inputs).iter().map(|it| it.lines.len()).collect();
    let enough = 16 * inputs.hidden_units.len();
    assert!(lengths.iter().any(|it| *it > enough) && lengths.iter().any(|it| *it < enough));
    let expected: Vec<EventRanks> = all_buckets(&inputs)
        .into_iter()
        .map(|it| ranks_with_checks(&inputs, it))
        .collect();
    assert!(expected.iter().any(|it| !it.hidden.is_empty()));
    // What was used since the first call is spilled by the second.
    (0..2).for_each(|_| inputs.spill_unused(&file));
    file.damage();
    let buckets = all_buckets(&inputs).into_iter();
    assert!(buckets.map(|it| inputs.rank_events(&[it])).eq(expected));
    assert!(!file.is_damaged());
    let bucket = all_buckets(&inputs)[0];
    assert!(inputs.contents.lines_of_bucket(bucket).next().is_none() && file.is_damaged());
}
