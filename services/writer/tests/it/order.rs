//! Tests that any order and number of deliveries leaves the same data in the stores.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;

use domain::id::{RecordId, SessionId, SpaceId, UnitId};
use domain::message::{RecordsAcceptedV1, UnitsWrittenV1};
use domain::port::{Point, Search};
use domain::record::Record;
use fixtures::wait_until;
use host::Context;
use proptest::prelude::*;

use crate::{call, record, space, start};

/// Returns a conversation between two people with silences, an aside by a third person, and the run of an agent.
pub(crate) fn history() -> Vec<Record> {
    let lines = [
        "Did you bake bread this weekend?",
        "Yes, a sourdough loaf yesterday.",
        "I love fresh bread.",
        "But rye bread is better!",
        "By the way, how is the football team?",
        "We won on 1 May 2023.",
        "That's why I am happy.",
        "And the cup?",
        "Because of the rain they moved it to next week.",
        "Anyway, my laptop broke.",
    ];
    let talk = (0..40).map(|it: usize| record("talk", it as u64, ["Ana", "Tom"][it % 2], lines[it * 7 % 10]));
    let aside = (40..60).map(|it: usize| record("talk", it as u64, ["Bo", "Ana", "Tom"][it % 3], lines[it * 3 % 10]));
    let run = (0..12).map(|it| {
        call(
            it,
            "take",
            r#"{"object": "brass key"}"#,
            "You take the brass key. You are in the hall.",
        )
    });
    let mut out: Vec<Record> = talk.chain(aside).chain(run).collect();
    for late in &mut out[20..] {
        late.observed_at += chrono::TimeDelta::hours(5);
    }
    out
}

/// Writes the batches in order and returns the final contents of the stores as text.
fn stored(name: &str, batches: &[Vec<Record>]) -> String {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::remove_dir_all(&dir).ok();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let out = runtime.block_on(async {
        let context = Context::embedded_with_defaults(&dir).await.unwrap();
        context
            .backends
            .records
            .create_space(&space(), start().to_utc())
            .await
            .unwrap();
        let service = tokio::spawn(writer::run(context.clone()));
        for (number, records) in batches.iter().enumerate() {
            let batch = RecordsAcceptedV1 {
                space: space(),
                batch: format!("{number}"),
                created: None,
                records: records.clone(),
                curations: Vec::new(),
            };
            context.publish_message(&batch).await.unwrap();
        }
        settled(&context).await;
        let out = dump(&context, batches).await;
        context.shutdown.cancel();
        service.await.unwrap().unwrap();
        out
    });
    std::fs::remove_dir_all(&dir).ok();
    out
}

/// Waits until everything is written, and asserts that no batch was given up.
pub(crate) async fn settled(context: &Context) {
    idle(context).await;
    assert_eq!(context.backends.dead_letters.count().await.unwrap(), 0);
}

/// Waits until no message is waiting to be written.
pub(crate) async fn idle(context: &Context) {
    use domain::message::Message;
    let bus = &context.backends.bus;
    let open = async || {
        bus.backlog(RecordsAcceptedV1::SUBJECT, RecordsAcceptedV1::GROUP)
            .await
            .unwrap()
            + bus.backlog(UnitsWrittenV1::SUBJECT, "segmenter").await.unwrap()
    };
    wait_until("nothing is left to write", async || open().await == 0).await;
}

pub(crate) async fn dump(context: &Context, batches: &[Vec<Record>]) -> String {
    let backends = &context.backends;
    let mut out = String::new();
    let changes = backends.graph.changes(&space(), 0, 10_000).await.unwrap();
    let active = changes
        .into_iter()
        .map(|it| it.unit)
        .filter(|it| it.status == domain::unit::Status::Active);
    let mut units: Vec<_> = active.collect();
    units.sort_by_key(|it| it.id);
    let ids: Vec<UnitId> = units.iter().map(|it| it.id).collect();
    for unit in units {
        writeln!(out, "{unit:?}").unwrap();
    }
    for relation in backends.graph.relations(&space(), &ids, 10_000).await.unwrap() {
        writeln!(out, "{relation:?}").unwrap();
    }
    let search = Search {
        words: Some(text::meaning::sparse_vectors::stem_vector("sourdough bread")),
        limit: 100,
        ..Search::default()
    };
    let mut hits = backends.index.search(&space(), &search).await.unwrap().words;
    hits.sort_by_key(|it| (it.unit, it.part));
    writeln!(
        out,
        "{} points, {hits:?}",
        backends.index.count(&space()).await.unwrap()
    )
    .unwrap();
    let sessions: BTreeSet<SessionId> = batches.iter().flatten().map(|it| it.session).collect();
    for session in sessions {
        let first = batches.iter().flatten().find(|it| it.session == session).unwrap().id;
        let records = backends
            .records
            .session(&space(), session, first, 1000, 1000)
            .await
            .unwrap();
        writeln!(out, "{:?}", records.iter().map(|it| it.id).collect::<Vec<_>>()).unwrap();
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_order_and_repetition_leaves_the_same_store(
        order in Just((0..history().len()).collect::<Vec<_>>()).prop_shuffle(),
        size in 1_usize..30,
        twice in any::<prop::sample::Index>(),
    ) {
        let records = history();
        let mut batches: Vec<Vec<Record>> =
            order.chunks(size).map(|it| it.iter().map(|&at| records[at].clone()).collect()).collect();
        batches.push(batches[twice.index(batches.len())].clone());
        let whole = stored("whole", std::slice::from_ref(&records));
        prop_assert!(whole.contains("PartOf") && whole.contains("FollowsUp"));
        similar_asserts(&whole, &stored("shuffled", &batches))?;
    }
}

/// Fails at the first line that differs.
pub(crate) fn similar_asserts(expected: &str, found: &str) -> Result<(), TestCaseError> {
    for (expected, found) in expected.lines().zip(found.lines()) {
        prop_assert_eq!(expected, found);
    }
    prop_assert_eq!(expected.lines().count(), found.lines().count());
    Ok(())
}

#[tokio::test]
async fn a_deleted_space_stays_deleted() {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("deleted");
    std::fs::remove_dir_all(&dir).ok();
    let context = Context::embedded_with_defaults(&dir).await.unwrap();
    let gone: SpaceId = "gone".parse().unwrap();
    context
        .backends
        .records
        .create_space(&gone, start().to_utc())
        .await
        .unwrap();
    let batch = RecordsAcceptedV1 {
        space: gone.clone(),
        batch: "1".to_owned(),
        created: None,
        records: history(),
        curations: Vec::new(),
    };
    context.publish_message(&batch).await.unwrap();
    context.backends.records.delete_space(&gone).await.unwrap();
    let service = tokio::spawn(writer::run(context.clone()));
    settled(&context).await;
    assert_eq!(context.backends.index.count(&gone).await.unwrap(), 0);
    assert!(context.backends.records.space(&gone).await.unwrap().is_none());
    assert!(context.backends.graph.changes(&gone, 0, 10).await.unwrap().is_empty());
    context.shutdown.cancel();
    service.await.unwrap().unwrap();
}

/// The name of a deleted space may be given to another one while an old batch is dropped. The index of other stores, in
/// which the space exists, stands for that moment: the points of the new space stay.
#[tokio::test]
async fn an_old_batch_erases_no_points_of_a_later_space() {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("later");
    std::fs::remove_dir_all(&dir).ok();
    let later = Context::embedded_with_defaults(&dir.join("new")).await.unwrap();
    let now = start().to_utc() + chrono::Duration::seconds(1);
    later.backends.records.create_space(&space(), now).await.unwrap();
    let point = Point {
        unit: UnitId::of_turn(history()[0].id),
        part: 0,
        dense: vec![0.0; later.backends.embedder.dimension()],
        words: vec![(1, 1.0)],
        pieces: Vec::new(),
        observed_at: 0,
    };
    later.backends.index.put(&space(), &[point], &[]).await.unwrap();
    let mut context = Context::embedded_with_defaults(&dir.join("old")).await.unwrap();
    context.backends.index = Arc::clone(&later.backends.index);
    let batch = RecordsAcceptedV1 {
        space: space(),
        batch: "1".to_owned(),
        created: Some(start().to_utc()),
        records: history(),
        curations: Vec::new(),
    };
    context.publish_message(&batch).await.unwrap();
    let service = tokio::spawn(writer::run(context.clone()));
    settled(&context).await;
    assert_eq!(later.backends.index.count(&space()).await.unwrap(), 1);
    context.shutdown.cancel();
    service.await.unwrap().unwrap();
}

/// A space that was created again accepts new records, and none that were accepted under its name before.
#[tokio::test]
async fn a_space_created_again_takes_no_records_of_the_former_one() {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("anew");
    std::fs::remove_dir_all(&dir).ok();
    let context = Context::embedded_with_defaults(&dir).await.unwrap();
    let backends = &context.backends;
    let (before, now) = (start().to_utc(), start().to_utc() + chrono::Duration::seconds(1));
    let batch = |name: &str, created, records: &[Record]| RecordsAcceptedV1 {
        space: space(),
        batch: name.to_owned(),
        created: Some(created),
        records: records.to_vec(),
        curations: Vec::new(),
    };
    let records = history();
    let (old, new) = records.split_at(10);
    backends.records.create_space(&space(), before).await.unwrap();
    context.publish_message(&batch("1", before, old)).await.unwrap();
    backends.records.delete_space(&space()).await.unwrap();
    backends.records.create_space(&space(), now).await.unwrap();
    context.publish_message(&batch("2", now, new)).await.unwrap();
    let service = tokio::spawn(writer::run(context.clone()));
    settled(&context).await;
    let info = backends.records.space(&space()).await.unwrap().unwrap();
    assert_eq!(info.records, new.len() as u64);
    let ids: Vec<RecordId> = old.iter().map(|it| it.id).collect();
    assert_eq!(backends.records.get(&space(), &ids).await.unwrap(), []);
    context.shutdown.cancel();
    service.await.unwrap().unwrap();
    drop(context);
    std::fs::remove_dir_all(&dir).ok();
}

/// The writer can announce its work although the queue is full of messages that it still has to write.
#[tokio::test]
async fn a_full_queue_is_emptied() {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("full");
    std::fs::remove_dir_all(&dir).ok();
    let settings = host::Settings::from_toml("[backends]\nqueue_frames_max = 3", "test").unwrap();
    let context = Context::embedded_with(&dir, settings).await.unwrap();
    let records = &context.backends.records;
    records.create_space(&space(), start().to_utc()).await.unwrap();
    let mut batches = history()
        .chunks(10)
        .map(<[Record]>::to_vec)
        .collect::<Vec<_>>()
        .into_iter();
    let mut accepted = 0;
    loop {
        let batch = RecordsAcceptedV1 {
            space: space(),
            batch: format!("{accepted}"),
            created: None,
            records: batches.next().unwrap(),
            curations: Vec::new(),
        };
        if let Err(error) = context.publish_message(&batch).await {
            assert_eq!(domain::Classify::kind(&error), domain::ErrorKind::Exhausted);
            break;
        }
        accepted += 1;
    }
    assert_eq!(accepted, 3);
    let service = tokio::spawn(writer::run(context.clone()));
    settled(&context).await;
    assert_eq!(records.space(&space()).await.unwrap().unwrap().records, 30);
    context.shutdown.cancel();
    service.await.unwrap().unwrap();
    drop(context);
    std::fs::remove_dir_all(&dir).ok();
}
