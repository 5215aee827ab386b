//! Writer and clusterer over embedded stores: the derived objects do not depend on the order of the records.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use chrono::{DateTime, TimeDelta, Utc};
use domain::curation::{Act, Curation};
use domain::derived::{Derived, DerivedId, DerivedKind};
use domain::id::{CurationId, SessionId, SpaceId};
use domain::message::{Message, RecordsAcceptedV1, UnitsOrganisedV1, UnitsWrittenV1};
use domain::record::Record;
use fixtures::{sample_record, wait_until};
use host::Context;
use tokio::task::JoinHandle;

/// All derived objects of the space.
type Held = BTreeMap<DerivedId, Derived>;

fn space() -> SpaceId {
    "family".parse().unwrap()
}

/// The writer and the clusterer over stores in a directory.
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
        let context = Context::embedded_with_defaults(&dir).await.unwrap();
        let writer = tokio::spawn(writer::run(context.clone()));
        let clusterer = tokio::spawn(clusterer::run(context.clone()));
        Running {
            dir,
            context,
            services: vec![writer, clusterer],
            sent,
        }
    }

    /// Aborts the services in the middle of their work, and starts them again.
    async fn kill_and_reopen(self) -> Running {
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
        self.accept_with(records, &[]).await;
    }

    async fn accept_with(&mut self, records: &[Record], acts: &[Curation]) {
        self.sent += 1;
        let batch = RecordsAcceptedV1 {
            space: space(),
            batch: self.sent.to_string(),
            created: None,
            records: records.to_vec(),
            curations: acts.to_vec(),
        };
        self.context.publish_message(&batch).await.unwrap();
    }

    /// Waits until no work is left, and returns all derived objects.
    async fn wait_until_settled(&self) -> Held {
        let backends = &self.context.backends;
        for (subject, group) in [
            (RecordsAcceptedV1::SUBJECT, "writer"),
            (UnitsWrittenV1::SUBJECT, "segmenter"),
            (UnitsOrganisedV1::SUBJECT, "clusterer"),
        ] {
            let backlog = async || backends.bus.backlog(subject, group).await.unwrap();
            wait_until(&format!("the {group} has no message left"), async || {
                backlog().await == 0
            })
            .await;
        }
        assert!(backends.dead_letters.list(0, 1).await.unwrap().is_empty());
        let mut held = Held::new();
        let mut sequence = 0;
        loop {
            let changes = backends.graph.derived_changes(&space(), sequence, 1_000).await.unwrap();
            let Some(last) = changes.last() else { return held };
            sequence = last.sequence;
            held.extend(changes.into_iter().filter_map(|it| Some((it.id, it.item?))));
        }
    }
}

/// Returns conversations of a family over weeks, with names, nicknames, roles, an event that is reported twice, likes,
/// moves, and pauses.
fn history_records() -> Vec<Record> {
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
        let session = format!("talk {}", at / 15);
        let hours = i64::try_from(at / 15 * 60).unwrap();
        let minutes = i64::try_from(at % 15 * if at % 15 > 8 { 40 } else { 2 }).unwrap();
        Record {
            session: SessionId::from_name(&space(), &session),
            session_name: session,
            ordinal: at as u64,
            actor: ["Melanie Brown", "Caroline"][at % 2].to_owned(),
            text: lines[at * 5 % lines.len()].to_owned(),
            observed_at: "2021-07-01T09:00:00Z".parse::<DateTime<chrono::FixedOffset>>().unwrap()
                + TimeDelta::hours(hours)
                + TimeDelta::minutes(minutes),
            ..sample_record(&space(), &at.to_string())
        }
    };
    (0..90).map(record).collect()
}

/// Returns the items in an order that the seed determines.
fn shuffle_items<T: Clone>(items: &[T], seed: u64) -> Vec<T> {
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

/// Returns acts on every third fact: most retire it, and some correct it.
fn sample_acts(held: &Held) -> Vec<Curation> {
    let facts = held
        .values()
        .filter_map(|it| if let Derived::Fact(it) = it { Some(it) } else { None });
    let facts = facts.filter(|it| !it.withdrawn).map(|it| it.id);
    let act = |(number, fact)| Curation {
        id: CurationId::from_external_id(&space(), &format!("{number}")),
        at: "2021-09-01T09:00:00Z".parse::<DateTime<Utc>>().unwrap() + TimeDelta::minutes(number),
        by: String::new(),
        act: if number % 4 == 3 {
            let object = "a lighthouse".to_owned();
            Act::CorrectFact { fact, object }
        } else {
            Act::RetireFact { fact }
        },
        reason: String::new(),
    };
    (0..).zip(facts.step_by(3)).map(act).collect()
}

/// Returns the number of former lines on pages.
fn count_former_facts(held: &Held) -> usize {
    let pages = held
        .values()
        .filter_map(|it| if let Derived::Page(it) = it { Some(it) } else { None });
    pages.flat_map(|it| &it.sections).map(|it| it.former.len()).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn derived_objects_do_not_depend_on_the_order_of_records() {
    let records = history_records();
    let mut running = Running::new("order-0").await;
    running.accept(&records).await;
    let whole = running.wait_until_settled().await;
    running.stop().await;
    let kinds: BTreeSet<DerivedKind> = whole.keys().map(|it| it.kind).collect();
    assert_eq!(kinds.len(), 7, "{kinds:?}");
    for seed in 1..=5 {
        let order = shuffle_items(&records, seed);
        let mut running = Running::new(&format!("order-{seed}")).await;
        let size = 1 + 7 * seed as usize;
        for (number, batch) in order.chunks(size).enumerate() {
            running.accept(batch).await;
            if number % 3 == 0 {
                running.accept(batch).await;
            }
            if number == order.len() / size / 2 {
                running.wait_until_settled().await;
                running = running.kill_and_reopen().await;
            }
        }
        let held = running.wait_until_settled().await;
        for (id, item) in &whole {
            assert_eq!(held.get(id), Some(item), "order {seed}");
        }
        assert_eq!(held, whole, "order {seed}");
        running.stop().await;
    }
}

/// Acts may even arrive before the records that they are about.
#[tokio::test(flavor = "multi_thread")]
async fn former_lines_of_pages_do_not_depend_on_the_order_of_acts() {
    let records = history_records();
    let mut running = Running::new("acts-0").await;
    running.accept(&records).await;
    let acts = sample_acts(&running.wait_until_settled().await);
    running.accept_with(&[], &acts).await;
    let whole = running.wait_until_settled().await;
    running.stop().await;
    assert!(
        acts.len() > 9 && count_former_facts(&whole) > 9,
        "{} {}",
        acts.len(),
        count_former_facts(&whole)
    );
    for seed in 1..=5 {
        let (order, acts) = (shuffle_items(&records, seed), shuffle_items(&acts, seed));
        let mut running = Running::new(&format!("acts-{seed}")).await;
        let size = 1 + 7 * seed as usize;
        let share = acts.len().div_ceil(order.len().div_ceil(size));
        let mut acts = acts.chunks(share);
        for batch in order.chunks(size) {
            running.accept_with(batch, acts.next().unwrap_or_default()).await;
        }
        let held = running.wait_until_settled().await;
        for (id, item) in &whole {
            assert_eq!(held.get(id), Some(item), "order {seed}");
        }
        assert_eq!(held, whole, "order {seed}");
        running.stop().await;
    }
}
