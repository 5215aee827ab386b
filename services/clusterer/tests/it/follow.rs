//! Tests of the service with embedded stores: derived data follows units and curations.

use std::collections::BTreeMap;
use std::path::PathBuf;

use chrono::{DateTime, TimeDelta};
use clusterer::{Acts, Memory};
use domain::curation::{Act, Curation};
use domain::derived::{Derived, DerivedId, DerivedKind};
use domain::id::{CurationId, SpaceId, UnitId};
use domain::message::{Message, UnitsOrganisedV1};
use domain::port::Position;
use domain::unit::Unit;
use fixtures::wait_until;
use host::{Context, Settings};
use tokio::task::JoinHandle;

use crate::entities::talk;
use crate::held::Held;
use crate::{space, unit};

/// The clusterer with stores in a directory.
pub(crate) struct Running {
    dir: PathBuf,
    pub(crate) context: Context,
    settings: String,
    service: JoinHandle<anyhow::Result<()>>,
    sent: u64,
}

impl Running {
    async fn new(name: &str) -> Running {
        Running::new_with(name, "").await
    }

    /// Starts it in an empty directory with the space of the tests.
    pub(crate) async fn new_with(name: &str, settings: &str) -> Running {
        let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::remove_dir_all(&dir).ok();
        let running = Running::open_with(dir, 0, settings).await;
        let records = &running.context.backends.records;
        records.create_space(&space(), DateTime::UNIX_EPOCH).await.unwrap();
        running
    }

    async fn open_with(dir: PathBuf, sent: u64, settings: &str) -> Running {
        let parsed = Settings::from_toml(settings, "test").unwrap();
        let context = Context::embedded_with(&dir, parsed).await.unwrap();
        let service = tokio::spawn(clusterer::run(context.clone()));
        Running {
            dir,
            context,
            settings: settings.to_owned(),
            service,
            sent,
        }
    }

    /// Starts another clusterer with the same stores; it receives only the messages sent to it.
    async fn beside(&self, name: &str) -> Running {
        let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::remove_dir_all(&dir).ok();
        let mut context = Context::embedded_with_defaults(&dir).await.unwrap();
        context.backends.records = self.context.backends.records.clone();
        context.backends.graph = self.context.backends.graph.clone();
        let service = tokio::spawn(clusterer::run(context.clone()));
        Running {
            dir,
            context,
            settings: String::new(),
            service,
            sent: 0,
        }
    }

    /// Stops it in the middle of its work, and starts it again.
    pub(crate) async fn killed(self) -> Running {
        self.service.abort();
        self.service.await.ok();
        self.context.shutdown.cancel();
        drop(self.context);
        Running::open_with(self.dir, self.sent, &self.settings).await
    }

    pub(crate) async fn stop(self) {
        self.context.shutdown.cancel();
        self.service.await.unwrap().unwrap();
        std::fs::remove_dir_all(&self.dir).ok();
    }

    pub(crate) async fn put(&mut self, units: &[Unit], retired: &[UnitId]) {
        let graph = &self.context.backends.graph;
        graph.put_units(&space(), units, retired).await.unwrap();
        self.wake().await;
    }

    pub(crate) async fn wake(&mut self) {
        self.wake_in(space()).await;
    }

    pub(crate) async fn wake_in(&mut self, space: SpaceId) {
        self.sent += 1;
        let message = UnitsOrganisedV1 {
            space,
            position: Position(1_000_000 + self.sent),
            acts: false,
            reading: String::new(),
        };
        self.context.publish_message(&message).await.unwrap();
    }

    /// Waits until nothing is left to do, and returns all derived data.
    pub(crate) async fn settled(&self) -> Held {
        self.settled_in(space()).await
    }

    async fn settled_in(&self, space: SpaceId) -> Held {
        let backends = &self.context.backends;
        let backlog = async || backends.bus.backlog(UnitsOrganisedV1::SUBJECT, "clusterer").await;
        wait_until("the clusterer has no message left", async || {
            backlog().await.unwrap() == 0
        })
        .await;
        assert!(backends.dead_letters.list(0, 1).await.unwrap().is_empty());
        let mut held = Held::default();
        let mut sequence = 0;
        loop {
            let changes = backends.graph.derived_changes(&space, sequence, 1_000).await.unwrap();
            let Some(last) = changes.last() else { return held };
            sequence = last.sequence;
            held.0
                .extend(changes.into_iter().filter_map(|it| Some((it.id, it.item?))));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn data_derived_from_erased_units_disappears() {
    let units = talk(&[
        "Ana: My friend Ben asked about you.",
        "Tom: We went to Oslo with Ben.",
        "Ana: We read the Iliad together.",
    ]);
    let mut running = Running::new("erased").await;
    running.put(&units, &[]).await;
    let before = running.settled().await;
    assert_eq!(before, counted(&units));
    // Erased while the clusterer is stopped, and stored again.
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
async fn neither_of_two_clusterers_restores_erased_data() {
    let units = talk(&[
        "Ana: My friend Ben asked about you.",
        "Tom: We went to Oslo with Ben.",
        "Ana: We read the Iliad together.",
    ]);
    let mut one = Running::new("one").await;
    let mut other = one.beside("other").await;
    one.put(&units[..2], &[]).await;
    one.settled().await;
    other.wake().await;
    assert_eq!(other.settled().await, counted(&units[..2]));
    // In the end, nothing has changed for the other one.
    one.put(&units, &[]).await;
    assert_eq!(one.settled().await, counted(&units));
    other.put(&[], &[units[2].id]).await;
    assert_eq!(other.settled().await, counted(&units[..2]));
    // The first one still holds the erased unit in memory.
    other.put(&[], &[units[1].id]).await;
    assert_eq!(other.settled().await, counted(&units[..1]));
    one.put(&units[1..2], &[]).await;
    assert_eq!(one.settled().await, counted(&units[..2]));
    for it in 0..20 {
        let graph = one.context.backends.graph.clone();
        let (now, then) = if it % 2 == 0 {
            (&units[2..], &units[2..2])
        } else {
            (&units[2..2], &units[2..])
        };
        let removed: Vec<UnitId> = then.iter().map(|it| it.id).collect();
        graph.put_units(&space(), now, &removed).await.unwrap();
        tokio::join!(one.wake(), other.wake());
    }
    other.settled().await;
    assert_eq!(one.settled().await, counted(&units[..2]));
    other.stop().await;
    one.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn spaces_evicted_from_memory_give_the_same_result() {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("bounded");
    std::fs::remove_dir_all(&dir).ok();
    let mut running = Running::open_with(dir, 0, "[clusterer]\nmemory_mb = 0").await;
    let (records, graph) = (
        running.context.backends.records.clone(),
        running.context.backends.graph.clone(),
    );
    let units = talk(&[
        "Ana: My friend Ben asked about you.",
        "Tom: We went to Oslo with Ben.",
        "Ana: We read the Iliad together.",
        "Tom: And Ben read it too.",
    ]);
    let spaces = ["a", "b", "c"].map(|it| it.parse::<SpaceId>().unwrap());
    for space in &spaces {
        records.create_space(space, DateTime::UNIX_EPOCH).await.unwrap();
    }
    for unit in &units {
        for space in &spaces {
            graph.put_units(space, std::slice::from_ref(unit), &[]).await.unwrap();
            running.wake_in(space.clone()).await;
            running.settled_in(space.clone()).await;
        }
    }
    for space in spaces {
        let (mut memory, mut held) = (Memory::default(), Held::default());
        units.iter().for_each(|it| memory.apply_unit(it, None));
        assert_eq!(memory.count_units(), 4);
        held.take(memory.take_changes(&space, &Acts::default(), &BTreeMap::new()));
        assert_eq!(running.settled_in(space).await, held);
    }
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_space_created_again_starts_empty() {
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
async fn a_curation_takes_effect_and_can_be_taken_back() {
    let units = talk(&["Tom: We read the Iliad.", "Tom: And we read the ILIAD."]);
    let mut running = Running::new("curated").await;
    running.put(&units, &[]).await;
    let before = running.settled().await;
    let merge = before.merge("Iliad", "ILIAD").unwrap().id;
    let act = |name: &str, at: i64, act: Act| Curation {
        id: CurationId::from_external_id(&space(), name),
        at: DateTime::from_timestamp(at, 0).unwrap(),
        by: String::new(),
        act,
        reason: String::new(),
    };
    let records = running.context.backends.records.clone();
    let parted = act("1", 1, Act::UndoMerge { merge });
    records
        .put_curations(&space(), Position(1), std::slice::from_ref(&parted))
        .await
        .unwrap();
    running.wake().await;
    let held = running.settled().await;
    assert!(held.merge("Iliad", "ILIAD").unwrap().undone);
    assert_eq!(held.entity("ILIAD").mentions, 1);
    let (mut memory, mut expected) = (Memory::default(), Held::default());
    units.iter().for_each(|it| memory.apply_unit(it, None));
    expected.take(memory.take_changes(
        &space(),
        &Acts::from_curations(std::slice::from_ref(&parted)),
        &BTreeMap::new(),
    ));
    assert_eq!(held, expected);
    let undone = act("2", 2, Act::Undo { curation: parted.id });
    records.put_curations(&space(), Position(1), &[undone]).await.unwrap();
    running.wake().await;
    assert_eq!(running.settled().await, before);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_watermark_of_a_curation_is_reached_when_it_has_taken_effect() {
    let mut running = Running::new("marked").await;
    running
        .put(&talk(&["Tom: We read the Iliad.", "Tom: And we read the ILIAD."]), &[])
        .await;
    let merge = running.settled().await.merge("Iliad", "ILIAD").unwrap().id;
    let (records, graph) = (
        running.context.backends.records.clone(),
        running.context.backends.graph.clone(),
    );
    for number in 1..=20 {
        let (name, at) = (number.to_string(), DateTime::from_timestamp(number, 0).unwrap());
        let before = CurationId::from_external_id(&space(), &(number - 1).to_string());
        let act = match number % 2 {
            0 => Act::Undo { curation: before },
            _ => Act::UndoMerge { merge },
        };
        let id = CurationId::from_external_id(&space(), &name);
        let (by, reason) = (String::new(), String::new());
        let curation = Curation {
            id,
            at,
            by,
            act,
            reason,
        };
        records.put_curations(&space(), Position(1), &[curation]).await.unwrap();
        let position = Position(number.unsigned_abs());
        let message = UnitsOrganisedV1 {
            space: space(),
            position,
            acts: true,
            reading: String::new(),
        };
        running.context.publish_message(&message).await.unwrap();
        let is_marked = async || records.is_written(&space(), position).await.unwrap();
        wait_until("the act has taken effect", is_marked).await;
        let id = DerivedId {
            kind: DerivedKind::Merge,
            id: merge.uuid(),
        };
        let stored = graph.derived(&space(), &[id]).await.unwrap();
        let undone = matches!(&stored[..], [Derived::Merge(it)] if it.undone);
        assert_eq!(undone, number % 2 == 1, "act {number}");
    }
    let silent = UnitsOrganisedV1 {
        space: space(),
        position: Position(99),
        acts: false,
        reading: String::new(),
    };
    running.context.publish_message(&silent).await.unwrap();
    running.settled().await;
    assert!(
        !records.is_written(&space(), Position(99)).await.unwrap(),
        "that is for the writer to say"
    );
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_units_take_less_than_a_minute() {
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

/// Returns the data derived from units that arrive at once.
fn counted(units: &[Unit]) -> Held {
    let (mut memory, mut held) = (Memory::default(), Held::default());
    units.iter().for_each(|it| memory.apply_unit(it, None));
    held.take(memory.take_changes(&space(), &Acts::default(), &BTreeMap::new()));
    held
}
