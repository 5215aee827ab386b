//! The service over embedded stores: what is derived follows records, units and curations, in whatever order they come.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use chrono::{DateTime, TimeDelta};
use clusterer::{Acts, Memory};
use domain::curation::{Act, Curation};
use domain::derived::{Derived, DerivedKind};
use domain::id::{CurationId, RecordId, SessionId, UnitId};
use domain::message::{Message, RecordsAcceptedV1, UnitsOrganisedV1, UnitsWrittenV1};
use domain::port::Position;
use domain::record::{Modality, Record};
use domain::unit::Unit;
use host::Context;
use tokio::task::JoinHandle;

use crate::entities::talk;
use crate::held::{Held, parting};
use crate::{space, unit};

/// The clusterer, and the writer before it, over stores in a directory.
struct Running {
    dir: PathBuf,
    context: Context,
    services: Vec<JoinHandle<anyhow::Result<()>>>,
    sent: u64,
}

impl Running {
    async fn new(name: &str) -> Running {
        let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::remove_dir_all(&dir).ok();
        let running = Running::open(dir, 0).await;
        let records = &running.context.backends.records;
        records.create_space(&space(), DateTime::UNIX_EPOCH).await.unwrap();
        running
    }

    async fn open(dir: PathBuf, sent: u64) -> Running {
        let context = Context::embedded(&dir).await.unwrap();
        let writer = tokio::spawn(writer::run(context.clone()));
        let clusterer = tokio::spawn(clusterer::run(context.clone()));
        Running {
            dir,
            context,
            services: vec![writer, clusterer],
            sent,
        }
    }

    /// Stops in the middle of whatever is done, and starts again.
    async fn killed(self) -> Running {
        for service in self.services {
            service.abort();
            service.await.ok();
        }
        self.context.shutdown.cancel();
        drop(self.context);
        Running::open(self.dir, self.sent).await
    }

    async fn stop(self) {
        self.context.shutdown.cancel();
        for service in self.services {
            service.await.unwrap().unwrap();
        }
        std::fs::remove_dir_all(&self.dir).ok();
    }

    async fn accept(&mut self, records: &[Record]) {
        self.sent += 1;
        let batch = RecordsAcceptedV1 {
            space: space(),
            batch: self.sent.to_string(),
            records: records.to_vec(),
            curations: Vec::new(),
        };
        self.context.publish(&batch).await.unwrap();
    }

    async fn put(&mut self, units: &[Unit], retired: &[UnitId]) {
        let graph = &self.context.backends.graph;
        graph.put_units(&space(), units, retired).await.unwrap();
        self.wake().await;
    }

    async fn wake(&mut self) {
        self.sent += 1;
        let message = UnitsOrganisedV1 {
            space: space(),
            position: Position(1_000_000 + self.sent),
        };
        self.context.publish(&message).await.unwrap();
    }

    /// Waits until nothing is left to do, a minute at most, and returns all that is derived.
    async fn settled(&self) -> Held {
        let backends = &self.context.backends;
        let wait = async {
            for (subject, group) in [
                (RecordsAcceptedV1::SUBJECT, "writer"),
                (UnitsWrittenV1::SUBJECT, "segmenter"),
                (UnitsOrganisedV1::SUBJECT, "clusterer"),
            ] {
                while backends.bus.backlog(subject, group).await.unwrap() > 0 {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(60), wait).await.unwrap();
        assert!(backends.dead_letters.list(0, 1).await.unwrap().is_empty());
        let mut held = Held::default();
        let mut sequence = 0;
        loop {
            let changes = backends.graph.derived_changes(&space(), sequence, 1_000).await.unwrap();
            let Some(last) = changes.last() else { return held };
            sequence = last.sequence;
            held.0
                .extend(changes.into_iter().filter_map(|it| Some((it.id, it.item?))));
        }
    }
}

/// Talks of a family over weeks: names, nicknames, roles, one event told twice, likes, moves, and silences in between.
fn history() -> Vec<Record> {
    let lines = [
        "Hi, Caro! I moved to Oslo in March.",
        "Hi, Mel! My sister Ana asked about you, she loves the violin.",
        "We danced at the wedding of Julia in Bergen on 5 June 2021.",
        "I like rye bread and I hate noisy bars.",
        "My brother Ben Stone works as a baker at Blue Lantern.",
        "So we danced at the wedding of Julia in Bergen on 5 June 2021!",
        "Thanks, Mel! I don't eat meat any more.",
        "Bye, Caro! We met Ben at Blue Lantern Cafe because of the rain.",
        "I have two dogs, Rex and Pim, and Rex is ill.",
        "My friend Ana Silva plans to visit Lisbon next week.",
        "The orchestra played in Oslo and I cried.",
        "I used to live in Trondheim, now I hate Oslo.",
        "Please always answer with a short list.",
    ];
    let record = |at: usize| {
        let external_id = at.to_string();
        let session = format!("talk {}", at / 15);
        let hours = i64::try_from(at / 15 * 60).unwrap();
        let minutes = i64::try_from(at % 15 * if at % 15 > 8 { 40 } else { 2 }).unwrap();
        Record {
            id: RecordId::derive(&space(), &external_id),
            space: space(),
            external_id,
            session: SessionId::derive(&space(), &session),
            session_name: session,
            ordinal: at as u64,
            modality: Modality::Text,
            actor: ["Melanie Brown", "Caroline"][at % 2].to_owned(),
            text: lines[at * 5 % lines.len()].to_owned(),
            image_caption: None,
            image_uri: None,
            tool: None,
            observed_at: "2021-07-01T09:00:00Z".parse::<DateTime<chrono::FixedOffset>>().unwrap()
                + TimeDelta::hours(hours)
                + TimeDelta::minutes(minutes),
            metadata: Default::default(),
        }
    };
    (0..90).map(record).collect()
}

/// Shuffled by a seed.
fn shuffled<T: Clone>(items: &[T], seed: u64) -> Vec<T> {
    let mut out = items.to_vec();
    let mut state = seed;
    for at in (1..out.len()).rev() {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        out.swap(at, (state >> 33) as usize % (at + 1));
    }
    out
}

#[tokio::test(flavor = "multi_thread")]
async fn the_order_of_records_does_not_matter() {
    let records = history();
    let mut running = Running::new("order-0").await;
    running.accept(&records).await;
    let whole = running.settled().await;
    running.stop().await;
    let kinds: BTreeSet<DerivedKind> = whole.0.keys().map(|it| it.kind).collect();
    assert_eq!(kinds.len(), 6, "{kinds:?}");
    for seed in 1..=5 {
        let order = shuffled(&records, seed);
        let mut running = Running::new(&format!("order-{seed}")).await;
        let size = 1 + 7 * seed as usize;
        for (number, batch) in order.chunks(size).enumerate() {
            running.accept(batch).await;
            if number % 3 == 0 {
                running.accept(batch).await;
            }
            if number == order.len() / size / 2 {
                running.settled().await;
                running = running.killed().await;
            }
        }
        let held = running.settled().await;
        for (id, item) in &whole.0 {
            assert_eq!(held.0.get(id), Some(item), "order {seed}");
        }
        assert_eq!(held, whole, "order {seed}");
        running.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_erased_in_between_leaves_nothing() {
    let units = talk(&[
        "Ana: My friend Ben asked about you.",
        "Tom: We went to Oslo with Ben.",
        "Ana: We read the Iliad together.",
    ]);
    let mut running = Running::new("erased").await;
    running.put(&units, &[]).await;
    let before = running.settled().await;
    assert_eq!(before, counted(&units));
    // Erased while the clusterer is away, and put back.
    running = running.killed().await;
    running.put(&[], &[units[2].id]).await;
    assert_eq!(running.settled().await, counted(&units[..2]));
    running.put(&units, &[]).await;
    assert_eq!(running.settled().await, before);
    running
        .put(&[], &units.iter().map(|it| it.id).collect::<Vec<_>>())
        .await;
    assert_eq!(running.settled().await, Held::default());
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_space_that_comes_again_starts_empty() {
    let mut running = Running::new("again").await;
    running.put(&talk(&["Ana: My friend Ben asked about you."]), &[]).await;
    running.settled().await;
    let records = running.context.backends.records.clone();
    records.delete_space(&space()).await.unwrap();
    running.wake().await;
    assert_eq!(running.settled().await, Held::default());
    let later = DateTime::UNIX_EPOCH + TimeDelta::days(1);
    records.create_space(&space(), later).await.unwrap();
    let units = [unit(7, "Eva", "I saw Max there.")];
    running.put(&units, &[]).await;
    assert_eq!(running.settled().await, counted(&units));
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_curation_is_followed_and_taken_back() {
    let units = talk(&["Tom: We read the Iliad.", "Tom: And we read the ILIAD."]);
    let mut running = Running::new("curated").await;
    running.put(&units, &[]).await;
    let before = running.settled().await;
    let merge = before.merge("Iliad", "ILIAD").unwrap().id;
    let act = |name: &str, at: i64, act: Act| Curation {
        id: CurationId::derive(&space(), name),
        at: DateTime::from_timestamp(at, 0).unwrap(),
        by: String::new(),
        act,
        reason: String::new(),
    };
    let records = running.context.backends.records.clone();
    let parted = act("1", 1, Act::UndoMerge { merge });
    records
        .put_curations(&space(), std::slice::from_ref(&parted))
        .await
        .unwrap();
    running.wake().await;
    let held = running.settled().await;
    assert!(held.merge("Iliad", "ILIAD").unwrap().undone);
    assert_eq!(held.entity("ILIAD").mentions, 1);
    let (mut memory, mut expected) = (Memory::default(), Held::default());
    units.iter().for_each(|it| memory.apply(it, None));
    expected.take(memory.changed(&space(), &parting(merge), &BTreeMap::new()));
    assert_eq!(held, expected);
    let undone = act("2", 2, Act::Undo { curation: parted.id });
    records.put_curations(&space(), &[undone]).await.unwrap();
    running.wake().await;
    assert_eq!(running.settled().await, before);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_units_in_a_minute() {
    let mut running = Running::new("many").await;
    let line = |at: usize| format!("I told my friend Kim{} Berg about Room{}.", at % 700, at % 900);
    let units: Vec<Unit> = (0..10_000)
        .map(|at| unit(at, ["Ana", "Tom"][at % 2], &line(at)))
        .collect();
    for some in units.chunks(100) {
        running.put(some, &[]).await;
    }
    let held = running.settled().await;
    assert_eq!(held.entity("Ana").mentions, 5_000);
    let people = held
        .0
        .values()
        .filter(|it| matches!(it, Derived::Entity(it) if it.name.starts_with("Kim")));
    assert_eq!(people.count(), 700);
    running.stop().await;
}

/// What is derived of units that come at once.
fn counted(units: &[Unit]) -> Held {
    let (mut memory, mut held) = (Memory::default(), Held::default());
    units.iter().for_each(|it| memory.apply(it, None));
    held.take(memory.changed(&space(), &Acts::default(), &BTreeMap::new()));
    held
}
