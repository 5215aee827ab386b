//! Tests of merges between two accounts of one event.

use std::sync::Arc;

use chrono::TimeDelta;
use clusterer::{Acts, ChangedObjects, Events};
use domain::id::{RecordId, SessionId, UnitId};
use domain::record::Modality;
use domain::relation::RelationKind;
use domain::unit::{Grain, Status, Unit};
use proptest::prelude::*;

use crate::held::{Held, parting};
use crate::{space, unit};

/// Returns an event of two records, observed `days` after the first one.
fn event(number: usize, days: i64, text: &str) -> Unit {
    let mut event = unit(number, "", text);
    let records = [0, 1].map(|it| RecordId::from_external_id(&space(), &format!("{number}.{it}")));
    event.id = UnitId::of_event(records[0]);
    event.grain = Grain::Event;
    event.session = SessionId::from_name(&space(), &number.to_string());
    event.records = records.to_vec();
    event.observed_at += TimeDelta::days(days);
    event.summary = format!("[1 January 1970] Ana, Tom\nAna: {text}");
    event.participants.extend(["Ana".to_owned(), "Tom".to_owned()]);
    event.times = text::time::find_times(text, event.observed_at)
        .into_iter()
        .map(|it| it.span)
        .collect();
    event.cues = text::stem_words(text);
    event.tag = text::split_words(text)[0].to_owned();
    event
}

fn vector(unit: &Unit) -> Arc<[f32]> {
    text::EmbeddingTable::builtin().embed_text(&unit.summary).into()
}

fn apply_units(units: &[Unit], acts: &Acts) -> (Events, Held) {
    let (mut events, mut held) = (Events::default(), Held::default());
    units.iter().for_each(|it| events.apply_unit(it, Some(&vector(it))));
    held.take(events.take_changes(acts));
    (events, held)
}

const WEDDING: &str = "We danced at the wedding of Julia in Oslo on 5 June 1970.";
const AGAIN: &str = "So we danced at the wedding of Julia in Oslo on 5 June 1970!";

#[test]
fn two_accounts_of_one_event_are_merged_and_keep_all_records() {
    let units = [event(1, 0, WEDDING), event(2, 40, AGAIN)];
    let held = apply_units(&units, &Acts::default()).1;
    let merges = held.merges();
    assert_eq!(merges.len(), 1);
    let merge = &merges[0];
    let [kept, merged] = [&units[0], &units[1]].map(|it| held.standing(it.id).unwrap());
    assert_eq!((kept.into, kept.absorbed.as_slice()), (None, &[merge.id][..]));
    assert_eq!((merged.into, merged.absorbed.len()), (Some(merge.id), 0));
    assert_eq!(merge.since, Some(units[1].observed_at.to_utc()));
    assert_eq!((merge.kept, merge.merged), (units[0].id.uuid(), units[1].id.uuid()));
    assert_eq!(merge.records, units[1].records);
    assert!(
        merge.same_event && merge.has_overlap && merge.similarity > 0.9 && !merge.undone,
        "{merge:?}"
    );
    assert_eq!(merge.relation_type, Some(RelationKind::SameAs));
    assert!(
        merge.reason.contains("julia") && merge.reason.contains("times overlap"),
        "{}",
        merge.reason
    );
}

#[test]
fn accounts_that_differ_in_essentials_are_different_events() {
    for (other, days, related) in [
        (
            "We danced at the wedding of Julia in Oslo on 9 June 1970.",
            40,
            Some(RelationKind::FollowsUp),
        ),
        ("We danced at the wedding of Marta in Oslo on 5 June 1970.", 40, None),
        (
            "We never danced at the wedding of Julia in Oslo on 5 June 1970.",
            40,
            None,
        ),
        ("We danced at the wedding of Julia in Rome on 5 June 1970.", 40, None),
    ] {
        let mut units = [event(1, 0, WEDDING), event(2, days, other)];
        units[0].location = "Oslo".to_owned();
        units[1].location = if other.contains("Rome") { "Rome" } else { "Oslo" }.to_owned();
        let held = apply_units(&units, &Acts::default()).1;
        let merges = held.merges();
        assert!(merges.iter().all(|it| !it.same_event), "{other}: {merges:?}");
        assert!(units.iter().all(|it| held.standing(it.id).is_none()), "{other}");
        assert_eq!(
            merges.first().and_then(|it| it.relation_type),
            related,
            "{other}: {merges:?}"
        );
    }
}

#[test]
fn a_daily_activity_is_not_one_event() {
    let walk = |number, days| event(number, days, "We walked with Rex around the lake.");
    let same = |days| {
        let merges = apply_units(&[walk(1, 0), walk(2, days)], &Acts::default()).1.merges();
        merges.iter().any(|it| it.same_event)
    };
    assert!(same(0));
    assert!(!same(7));
    let greeting = |number| event(number, 0, "Good morning, how are you?");
    assert!(
        apply_units(&[greeting(1), greeting(2)], &Acts::default())
            .1
            .merges()
            .is_empty()
    );
}

#[test]
fn steps_of_a_run_are_never_merged() {
    let step = |number: usize| Unit {
        modality: Modality::Action,
        step: u32::try_from(number).ok(),
        ..event(number, 0, "open the gate near Oslo")
    };
    let account = |number: usize| event(number, 0, "open the gate near Oslo");
    let is_merged = |units: [Unit; 2]| {
        let merges = apply_units(&units, &Acts::default()).1.merges();
        merges.iter().any(|it| it.same_event)
    };
    assert!(!is_merged([step(1), step(2)]));
    assert!(is_merged([account(1), account(2)]), "the same words in a talk");
}

#[test]
fn a_merge_is_undone_by_a_curation() {
    let units = [event(1, 0, WEDDING), event(2, 40, AGAIN), event(3, 50, WEDDING)];
    let (mut events, mut held) = apply_units(&units, &Acts::default());
    let before = held.clone();
    assert!(held.merges().iter().all(|it| it.kept == units[0].id.uuid()));
    let second = held
        .merges()
        .into_iter()
        .find(|it| it.merged == units[1].id.uuid())
        .unwrap();
    let acts = parting(second.id);
    held.take(events.take_changes(&acts));
    let undone = held.merges().into_iter().find(|it| it.id == second.id).unwrap();
    assert!(undone.undone && undone.undone_at == Some(chrono::DateTime::UNIX_EPOCH));
    let [first, then] = [0, 1].map(|it| held.standing(units[it].id).unwrap());
    assert!(first.absorbed.contains(&second.id) && then.into == Some(second.id));
    assert_eq!(held, apply_units(&units, &acts).1);
    held.take(events.take_changes(&Acts::default()));
    assert_eq!(held, before);
}

#[test]
fn separated_events_stay_separate_when_an_older_account_arrives() {
    let [second, third] = [event(2, 40, AGAIN), event(3, 50, WEDDING)];
    // One older account is similar to the third event, the other one to the second.
    for text in [WEDDING, AGAIN] {
        let older = event(1, 0, text);
        let (mut events, mut held) = apply_units(&[second.clone(), third.clone()], &Acts::default());
        let merge = held
            .merges()
            .into_iter()
            .find(|it| it.merged == third.id.uuid())
            .unwrap();
        let acts = parting(merge.id);
        held.take(events.take_changes(&acts));
        events.apply_unit(&older, Some(&vector(&older)));
        held.take(events.take_changes(&acts));
        let mut found: Vec<_> = held.merges().iter().map(|it| (it.kept, it.merged, it.undone)).collect();
        let mut expected = [
            (older.id.uuid(), second.id.uuid(), false),
            (second.id.uuid(), third.id.uuid(), true),
        ];
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{text}");
        // The same holds in any order of arrival.
        let units = [third.clone(), older.clone(), second.clone()];
        assert_eq!(apply_units(&units, &acts).1, held);
        let (mut events, mut late) = apply_units(&units, &Acts::default());
        late.take(events.take_changes(&acts));
        assert_eq!(late, held);
        late.take(events.take_changes(&Acts::default()));
        assert_eq!(late, apply_units(&units, &Acts::default()).1);
    }
}

#[test]
fn a_merged_event_unit_is_still_judged() {
    let units = [event(1, 0, WEDDING), event(2, 40, AGAIN)];
    let (mut events, held) = apply_units(&units, &Acts::default());
    let merged = Unit {
        status: Status::Merged,
        ..units[1].clone()
    };
    events.apply_unit(&merged, Some(&vector(&merged)));
    assert_eq!(events.take_changes(&Acts::default()), ChangedObjects::default());
    assert_eq!(held.merges().len(), 1);
}

/// Returns accounts of a few events in close succession, and many that are only similar.
fn history() -> Vec<Unit> {
    let texts = [
        WEDDING,
        AGAIN,
        "We walked with Rex around the lake.",
        "So we walked with Rex around the lake!",
        "We danced at the wedding of Julia in Oslo on 9 June 1970.",
        "Good morning, how are you?",
    ];
    (0..30)
        .map(|it: usize| event(it, i64::try_from(it).unwrap() / 3, texts[it * 7 % 6]))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_order_of_events_does_not_matter(
        units in Just(history()).prop_shuffle(),
        again in any::<prop::sample::Index>(),
        removed in prop::collection::vec(any::<prop::sample::Index>(), 0..5),
        rounds in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let none = Acts::default();
        let (_, whole) = apply_units(&history(), &none);
        prop_assert!(whole.merges().iter().any(|it| it.same_event));
        let (mut events, mut held) = (Events::default(), Held::default());
        let rounds: Vec<usize> = rounds.iter().map(|it| it.index(units.len())).collect();
        for (at, unit) in units.iter().enumerate() {
            events.apply_unit(unit, Some(&vector(unit)));
            if rounds.contains(&at) {
                held.take(events.take_changes(&none));
            }
        }
        let again = again.get(&units);
        events.apply_unit(again, Some(&vector(again)));
        held.take(events.take_changes(&none));
        prop_assert_eq!(&held, &whole);
        let removed: Vec<&Unit> = removed.iter().map(|it| it.get(&units)).collect();
        for unit in &removed {
            events.apply_unit(&Unit { status: Status::Archived, summary: String::new(), ..(*unit).clone() }, None);
        }
        held.take(events.take_changes(&none));
        let rest: Vec<Unit> = units.iter().filter(|it| removed.iter().all(|removed| removed.id != it.id)).cloned().collect();
        prop_assert_eq!(held, apply_units(&rest, &none).1);
    }
}
