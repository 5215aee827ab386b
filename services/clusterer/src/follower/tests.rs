//! Tests of a follower that computes a space in rounds, or cannot read back what it moved to a file.

use std::collections::BTreeMap;
use std::path::Path;

use chrono::{DateTime, TimeDelta};
use domain::derived::{Derived, DerivedId, DerivedKind};
use domain::id::SpaceId;
use domain::unit::Unit;
use fixtures::sample_unit;
use host::Context;

use super::*;
use crate::judgements::coreference::Question;

fn space() -> SpaceId {
    "s".parse().unwrap()
}

/// Returns a turn that states a fact about one of two speakers.
fn statement(number: i64) -> Unit {
    let place = ["Oslo", "Bergen", "Turin", "Graz"][number as usize / 2 % 4];
    let start = DateTime::from_timestamp(1_714_550_400, 0).unwrap();
    Unit {
        actor: ["Ines", "Joar"][number as usize % 2].to_owned(),
        text: format!("I moved to {place} with my friend Kim{number}."),
        observed_at: (start + TimeDelta::hours(number)).fixed_offset(),
        ..sample_unit(&space(), &number.to_string())
    }
}

/// Opens stores in a folder, and a follower that may keep `bytes_max` bytes in memory.
async fn open(folder: &Path, bytes_max: usize) -> (Context, Follower) {
    let context = Context::embedded_with_defaults(folder).await.unwrap();
    let records = &context.backends.records;
    records.create_space(&space(), DateTime::UNIX_EPOCH).await.unwrap();
    let follower = Follower::new(context.backends.clone(), 8, bytes_max, true);
    (context, follower)
}

async fn put(context: &Context, numbers: std::ops::Range<i64>) {
    let units: Vec<Unit> = numbers.map(statement).collect();
    context.backends.graph.put_units(&space(), &units, &[]).await.unwrap();
}

async fn stored(context: &Context) -> BTreeMap<DerivedId, Derived> {
    let (mut stored, mut sequence) = (BTreeMap::new(), 0);
    loop {
        let graph = &context.backends.graph;
        let changes = graph.derived_changes(&space(), sequence, 1_000).await.unwrap();
        let Some(last) = changes.last() else { return stored };
        sequence = last.sequence;
        stored.extend(changes.into_iter().filter_map(|it| Some((it.id, it.item?))));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_file_stores_nothing_and_the_space_is_computed_again() {
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let (context, follower) = open(folders[0].path(), 4_096).await;
    let (other, unspilled) = open(folders[1].path(), 1 << 30).await;
    put(&context, 0..200).await;
    follower.bring_up_to_date(&space()).await.unwrap();
    let before = stored(&context).await;
    let followed = follower.lock_spaces().remove_value(&space()).expect("it is in memory");
    let file = followed.spilled.clone().expect("it is spilled");
    follower.lock_spaces().insert_and_evict(space(), followed, 0);
    assert!(file.used_bytes() > 0);

    file.damage();
    let event = statement(0).id;
    let question = Question {
        later: event,
        earlier: vec![event],
    };
    follower.keep_questions(&space(), vec![OpenQuestion::Events(question)]);
    put(&context, 200..202).await;
    let outcome = follower.bring_up_to_date(&space()).await;
    assert!(matches!(outcome, Err(Error::Spilled)), "{outcome:?}");
    assert_eq!(stored(&context).await, before);
    assert!(!follower.has_open_questions(&space()));

    follower.bring_up_to_date(&space()).await.unwrap();
    put(&other, 0..202).await;
    unspilled.bring_up_to_date(&space()).await.unwrap();
    assert_eq!(stored(&context).await, stored(&other).await);
    assert!(file.is_damaged());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_space_that_is_computed_in_rounds_has_the_same_data() {
    const UNITS: i64 = 5_000;
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let (context, in_rounds) = open(folders[0].path(), 1 << 20).await;
    let (other, in_steps) = open(folders[1].path(), 1 << 30).await;
    assert!(UNITS as usize > 2 * BATCHES * AT_ONCE);
    put(&context, 0..UNITS).await;
    in_rounds.bring_up_to_date(&space()).await.unwrap();
    for start in (0..UNITS).step_by(1_250) {
        put(&other, start..start + 1_250).await;
        in_steps.bring_up_to_date(&space()).await.unwrap();
    }
    let expected = stored(&other).await;
    assert!(expected.keys().any(|it| it.kind == DerivedKind::Page));
    assert_eq!(stored(&context).await, expected);
}
