//! Measures the embedded adapters against the minimum that SQLite needs. Run with `cargo bench -p adapters`.
//!
//! Prints: records per second through every store on the ingest path, with one plain INSERT per transaction as the
//! baseline; latency of a search over three channels by size of the space; time to open and memory at 100,000 points.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a bench prints and may fail"
)]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use adapters::{Embedded, Options};
use chrono::DateTime;
use domain::id::{RecordId, SessionId, SpaceId, UnitId};
use domain::port::{Frame, Point, Search, Sparse};
use domain::record::Record;
use domain::unit::Unit;
use fixtures::{sample_record, sample_unit};
use rusqlite::Connection;

const BATCH: usize = 100;
const SIZES: [usize; 3] = [1_000, 10_000, 100_000];
const SEARCHES: usize = 200;
/// Environment variable of the child process that opens a data directory and reports.
const CHILD: &str = "MNEMIC_BENCH_OPEN";

/// A small pseudo-random generator with the same numbers on every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    /// Returns a normalised vector near one of 200 directions.
    fn dense(&mut self, dimension: usize) -> Vec<f32> {
        let mut near = Numbers(self.below(200) + 1);
        let mut number = || near.below(2_001) as f32 / 1_000.0 - 1.0 + (self.below(1_001) as f32 / 1_000.0 - 0.5);
        let numbers: Vec<f32> = (0..dimension).map(|_| number()).collect();
        let length = numbers.iter().map(|it| it * it).sum::<f32>().sqrt();
        numbers.iter().map(|it| it / length).collect()
    }

    /// Returns terms with a distribution like words: the frequency of a term is about the inverse of its rank.
    fn sparse(&mut self, terms: u64) -> Sparse {
        let mut term = || {
            let bits = self.below(16);
            ((1_u64 << bits) + self.below(1 << bits)) as u32
        };
        (0..terms)
            .map(|_| (term(), 1.0))
            .collect::<BTreeMap<_, _>>()
            .into_iter()
            .collect()
    }

    fn point(&mut self, unit: UnitId, dimension: usize) -> Point {
        let (dense, words, pieces) = (self.dense(dimension), self.sparse(12), self.sparse(20));
        Point {
            unit,
            part: 0,
            dense,
            words,
            pieces,
            observed_at: self.below(1 << 30) as i64,
        }
    }
}

fn main() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    if let Ok(dir) = std::env::var(CHILD) {
        runtime.block_on(open_and_search(Path::new(&dir)));
        return;
    }
    println!("way in, batches of {BATCH} records, power-safe commits");
    let plain = plain_inserts();
    println!("  one plain INSERT a transaction: {plain:.0} records/s");
    for clients in [1, 8] {
        let ours = runtime.block_on(way_in(clients));
        println!(
            "  claim + publish + put + units + index, {clients} at once: {ours:.0} records/s, {:.1}x",
            ours / plain
        );
    }
    println!("search, three channels, 100 hits each");
    let dir = tempfile::tempdir().unwrap();
    for size in SIZES {
        runtime.block_on(searches(dir.path(), size));
    }
    println!("open {} points in a fresh process", SIZES[2]);
    let child = Command::new(std::env::current_exe().unwrap())
        .env(CHILD, dir.path())
        .status();
    assert!(child.unwrap().success());
}

fn space(name: &str) -> SpaceId {
    name.parse().unwrap()
}

fn record(space: &SpaceId, number: usize) -> Record {
    let external_id = format!("record-{number}");
    Record {
        session: SessionId::from_name(space, "session"),
        session_name: "session".to_owned(),
        ordinal: number as u64,
        actor: "Ana".to_owned(),
        text: format!("Turn {number}: we walked to the market, bought peaches and met an old friend of my sister."),
        ..sample_record(space, &external_id)
    }
}

fn unit(record: &Record) -> Unit {
    Unit {
        session: record.session,
        observed_at: record.observed_at,
        ordinal: record.ordinal,
        modality: record.modality,
        actor: record.actor.clone(),
        addressee: "Ben".to_owned(),
        text: record.text.clone(),
        summary: format!("On 1 January 1970 {}", record.text),
        participants: vec!["Ana".to_owned()],
        action: "walked".to_owned(),
        tag: "market".to_owned(),
        cues: vec!["market".to_owned(), "peaches".to_owned()],
        derived_by: "bench/1".to_owned(),
        ..sample_unit(&record.space, &record.external_id)
    }
}

fn plain_inserts() -> f64 {
    let dir = tempfile::tempdir().unwrap();
    let database = Connection::open(dir.path().join("plain.sqlite")).unwrap();
    database
        .pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))
        .unwrap();
    database.pragma_update(None, "synchronous", "full").unwrap();
    database
        .execute("CREATE TABLE records (id BLOB PRIMARY KEY, body BLOB NOT NULL)", [])
        .unwrap();
    let mut insert = database.prepare("INSERT INTO records VALUES (?1, ?2)").unwrap();
    let count = 2_000;
    let started = Instant::now();
    for number in 0..count {
        let it = record(&space("a"), number);
        insert
            .execute((it.id.uuid().as_bytes(), serde_json::to_vec(&it).unwrap()))
            .unwrap();
    }
    count as f64 / started.elapsed().as_secs_f64()
}

async fn way_in(clients: usize) -> f64 {
    let dir = tempfile::tempdir().unwrap();
    let it = Embedded::open(dir.path(), Options::default()).await.unwrap();
    let batches = 40 / clients;
    let clients: Vec<_> = (0..clients)
        .map(|client| (it.clone(), space(&format!("client-{client}"))))
        .collect();
    for (it, space) in &clients {
        it.records.create_space(space, DateTime::UNIX_EPOCH).await.unwrap();
    }
    // The vectors are made before the measurement starts, so that only the stores are measured.
    let mut random = Numbers(1);
    let dimension = it.embedder.dimension();
    let total = clients.len() * batches * BATCH;
    let mut work = Vec::new();
    for (it, space) in clients {
        let records: Vec<Record> = (0..batches * BATCH).map(|number| record(&space, number)).collect();
        let points: Vec<Point> = records
            .iter()
            .map(|it| random.point(UnitId::of_turn(it.id), dimension))
            .collect();
        work.push((it, space, records, points));
    }
    let started = Instant::now();
    let tasks: Vec<_> = work
        .into_iter()
        .map(|(it, space, records, points)| {
            tokio::spawn(async move {
                for (records, points) in records.chunks(BATCH).zip(points.chunks(BATCH)) {
                    batch_in(&it, &space, records, points).await;
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    total as f64 / started.elapsed().as_secs_f64()
}

async fn batch_in(it: &Embedded, space: &SpaceId, records: &[Record], points: &[Point]) {
    let claims: Vec<(RecordId, [u8; 32])> = records.iter().map(|it| (it.id, [1; 32])).collect();
    it.records.claim(space, &claims).await.unwrap();
    let payload = serde_json::to_vec(records).unwrap();
    let dedup_key = format!("{space}/{}", records[0].external_id);
    let headers = BTreeMap::new();
    let frame = Frame {
        subject: "records-accepted.v1".to_owned(),
        space: space.to_string(),
        dedup_key,
        headers,
        payload,
    };
    let position = it.bus.publish(frame).await.unwrap();
    it.records.put(space, records).await.unwrap();
    let units: Vec<Unit> = records.iter().map(unit).collect();
    it.graph.put_units(space, &units, &[]).await.unwrap();
    it.index.put(space, points, &[]).await.unwrap();
    it.records.mark_written(space, position).await.unwrap();
}

async fn searches(dir: &Path, size: usize) {
    let it = Embedded::open(dir, Options::default()).await.unwrap();
    let space = space(&format!("size-{size}"));
    it.records.create_space(&space, DateTime::UNIX_EPOCH).await.unwrap();
    let mut random = Numbers(2);
    let dimension = it.embedder.dimension();
    let ids = (0..size).map(|number| UnitId::of_turn(RecordId::from_external_id(&space, &number.to_string())));
    let points: Vec<Point> = ids.map(|id| random.point(id, dimension)).collect();
    for points in points.chunks(1_000) {
        it.index.put(&space, points, &[]).await.unwrap();
    }
    let (mut taken, mut used) = (Vec::new(), Duration::ZERO);
    for number in 0..=SEARCHES {
        let started = Instant::now();
        search(&it, &space, &mut random).await;
        // The first search loads the space.
        if number > 0 {
            taken.push(started.elapsed());
        } else {
            used = processor_time();
        }
    }
    taken.sort();
    let at = |percent: usize| ms(taken[taken.len() * percent / 100]);
    let each = ms(processor_time() - used) / SEARCHES as f64;
    println!(
        "  {size} points: p50 {:.2} ms, p95 {:.2} ms, {each:.2} ms of processor each",
        at(50),
        at(95)
    );
}

async fn search(it: &Embedded, space: &SpaceId, random: &mut Numbers) {
    let search = Search {
        dense: Some(random.dense(it.embedder.dimension())),
        words: Some(random.sparse(6)),
        pieces: Some(random.sparse(10)),
        limit: 100,
        from: None,
        until: None,
        units: None,
    };
    let found = it.index.search(space, &search).await.unwrap();
    assert_eq!(found.dense.len(), 100);
}

async fn open_and_search(dir: &Path) {
    let before = resident();
    let started = Instant::now();
    let it = Embedded::open(dir, Options::default()).await.unwrap();
    println!("  open: {:.1} ms", ms(started.elapsed()));
    let started = Instant::now();
    search(&it, &space(&format!("size-{}", SIZES[2])), &mut Numbers(3)).await;
    println!("  first search, which loads the space: {:.0} ms", ms(started.elapsed()));
    println!(
        "  resident: {:.0} MB, of which {:.0} MB before opening",
        resident(),
        before
    );
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}

/// Returns the processor time of this process. Unlike the clock, it does not depend on the load of the machine.
fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let ticks = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .skip(11)
        .take(2);
    Duration::from_millis(ticks.map(|it| it.parse::<u64>().expect("ticks") * 10).sum())
}

/// Returns the resident memory of this process, in MB.
fn resident() -> f64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: f64 = pages
        .split(' ')
        .nth(1)
        .and_then(|it| it.parse().ok())
        .expect("resident pages");
    pages * 4_096.0 / 1e6
}
