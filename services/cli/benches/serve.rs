//! Measures ingest, query latency, memory and start-up of the real binary over HTTP, compared with one SQLite insert
//! per record.
//!
//! `cargo bench -p cli --bench serve` takes 1,000 and 10,000 records; `SERVE_SIZES=1000,10000,100000` takes more, and
//! `SERVE_ENCODER=FOLDER`, with `--features encoder`, embeds with a sentence encoder.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench may panic and prints what it measured"
)]

#[expect(dead_code, reason = "shared with the tests, which use other parts")]
#[path = "../tests/it/server.rs"]
mod server;

#[path = "figures/percentile.rs"]
mod figures;

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use figures::{percentile, sorted};
use serde_json::{Value, json};
use server::{Server, fresh_directory};

const BATCH: usize = 100;
const SENDERS: usize = 4;
const QUESTIONS: usize = 200;

const WORDS: [&str; 48] = [
    "harbour",
    "lantern",
    "violin",
    "orchard",
    "ticket",
    "kettle",
    "bridge",
    "garden",
    "museum",
    "bicycle",
    "letter",
    "river",
    "market",
    "window",
    "jacket",
    "recipe",
    "mountain",
    "painting",
    "neighbour",
    "concert",
    "library",
    "suitcase",
    "festival",
    "workshop",
    "engine",
    "blanket",
    "camera",
    "forest",
    "island",
    "journey",
    "marathon",
    "notebook",
    "pottery",
    "sandwich",
    "telescope",
    "umbrella",
    "village",
    "whistle",
    "yoghurt",
    "zebra",
    "anchor",
    "basket",
    "candle",
    "doctor",
    "elephant",
    "feather",
    "guitar",
    "hammer",
];

/// Returns a sentence with unique words and with words that many sentences share.
fn sentence(number: usize) -> String {
    let word = |salt: usize| WORDS[(number * salt + salt) % WORDS.len()];
    format!(
        "Yesterday I took the {} to the {} near the {} and paid {} coins for a {} called item{number}.",
        word(7),
        word(11),
        word(13),
        number % 90,
        word(17)
    )
}

fn batch(first: usize) -> Value {
    let records: Vec<Value> = (first..first + BATCH)
        .map(|number| {
            let day = 1 + (number / 400) % 28;
            json!({
                "id": number.to_string(), "session": format!("s{}", number / 40), "ordinal": number % 40,
                "actor": if number.is_multiple_of(2) { "Ann" } else { "Ben" }, "text": sentence(number),
                "observed_at": format!("2025-{:02}-{day:02}T10:00:00Z", 1 + (number / 11_200) % 12),
            })
        })
        .collect();
    json!({ "records": records })
}

/// Returns the records per second with one transaction per record and `synchronous=FULL`, on the same disk.
fn insert_per_record(folder: &Path) -> f64 {
    let connection = rusqlite::Connection::open(folder.join("baseline.sqlite")).unwrap();
    connection
        .execute_batch(
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE r(id TEXT PRIMARY KEY, text TEXT)",
        )
        .unwrap();
    let begin = Instant::now();
    let count = 1_000;
    for number in 0..count {
        connection
            .execute("INSERT INTO r VALUES(?1, ?2)", (number.to_string(), sentence(number)))
            .unwrap();
    }
    count as f64 / begin.elapsed().as_secs_f64()
}

async fn send(server: &Server, first: usize) -> String {
    let (status, body) = server.post("/spaces/bench/records", &batch(first)).await;
    assert_eq!(status, 202, "{body}");
    body["watermark"].as_str().unwrap().to_owned()
}

/// Sends all records with several senders; returns the seconds until all are acknowledged and until all are searchable.
async fn ingest(server: &Server, from: usize, to: usize) -> (f64, f64) {
    let begin = Instant::now();
    let senders = (0..SENDERS).map(|sender| async move {
        let mut last = String::new();
        for first in (from..to).step_by(BATCH).skip(sender).step_by(SENDERS) {
            last = send(server, first).await;
        }
        last
    });
    let last: Vec<String> = futures::future::join_all(senders).await;
    let acknowledged = begin.elapsed().as_secs_f64();
    for watermark in last.iter().filter(|it| !it.is_empty()) {
        while !is_written(server, watermark).await {}
    }
    let searchable = begin.elapsed().as_secs_f64();
    settled(server).await;
    (acknowledged, searchable)
}

/// Waits up to 20 s and returns true once the write with `watermark` is searchable.
async fn is_written(server: &Server, watermark: &str) -> bool {
    let path = format!("/spaces/bench/progress?watermark={watermark}&wait_ms=20000");
    server.get(&path).await.0 == 200
}

async fn settled(server: &Server) {
    while server.get("/spaces/bench/progress").await.1["backlog"] != json!(0) {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Returns the milliseconds from status 202 until a batch is searchable, one batch at a time.
async fn lags(server: &Server, from: usize) -> Vec<f64> {
    let mut lags = Vec::new();
    for first in (from..from + 50 * BATCH).step_by(BATCH) {
        let watermark = send(server, first).await;
        let begin = Instant::now();
        server.written("bench", &watermark).await;
        lags.push(begin.elapsed().as_secs_f64() * 1e3);
    }
    sorted(lags)
}

/// Returns the seconds until the first question is answered, which include the loading of the space.
async fn first(server: &Server) -> f64 {
    let begin = Instant::now();
    let body = json!({ "question": "When did Ann take the lantern to the museum?" });
    while server.post("/spaces/bench/query", &body).await.0 == 504 {}
    begin.elapsed().as_secs_f64()
}

async fn queries(server: &Server, stored: usize) -> Vec<f64> {
    let mut times = Vec::new();
    for number in 0..QUESTIONS {
        let (a, b) = (WORDS[number % WORDS.len()], WORDS[(number * 5 + 3) % WORDS.len()]);
        let question = format!(
            "When did Ann take the {a} and the {b} to item{}?",
            number * stored / QUESTIONS
        );
        let begin = Instant::now();
        let (status, body) = server
            .post("/spaces/bench/query", &json!({ "question": question }))
            .await;
        assert_eq!(status, 200, "{body}");
        times.push(begin.elapsed().as_secs_f64() * 1e3);
    }
    sorted(times)
}

/// Starts a server over `data`, with the sentence encoder if one is requested.
async fn start(data: &Path) -> Server {
    Server::start_with(data, |program| {
        let mut command = Command::new(program);
        command.arg("serve");
        command.envs(std::env::var("SERVE_ENCODER").map(|it| ("MNEMIC_BACKENDS__ENCODER", it)));
        command
    })
    .await
}

#[tokio::main]
async fn main() {
    let sizes = std::env::var("SERVE_SIZES").unwrap_or_else(|_| "1000,10000".to_owned());
    let sizes: Vec<usize> = sizes.split(',').map(|it| it.trim().parse().unwrap()).collect();
    let data = fresh_directory("bench-serve");
    let baseline = insert_per_record(&data);
    println!("baseline: {baseline:.0} records/s, one SQLite insert (synchronous=FULL) a record");
    let mut server = start(&data).await;
    server.put("/spaces/bench").await;
    let mut stored = 0;
    for size in sizes {
        let (acknowledged, searchable) = ingest(&server, stored, size).await;
        let count = (size - stored) as f64;
        println!(
            "to {size}: {:.0} records/s acknowledged ({:.1}x baseline), {:.0} records/s searchable ({:.1}x)",
            count / acknowledged,
            count / acknowledged / baseline,
            count / searchable,
            count / searchable / baseline
        );
        stored = size;
        let first = first(&server).await;
        let times = queries(&server, stored).await;
        println!(
            "  first answer after {first:.1} s, then query over HTTP: p50 {:.1} ms, p95 {:.1} ms; memory {} MB",
            percentile(&times, 0.5),
            percentile(&times, 0.95),
            server.memory_mb()
        );
    }
    let lags = lags(&server, stored).await;
    settled(&server).await;
    println!(
        "202 to searchable, batches of {BATCH}: p50 {:.0} ms, p95 {:.0} ms",
        percentile(&lags, 0.5),
        percentile(&lags, 0.95)
    );
    server.kill();
    let begin = Instant::now();
    server = start(&data).await;
    let ready = begin.elapsed();
    let answered = ready.as_secs_f64() + first(&server).await;
    queries(&server, stored).await;
    println!(
        "start over {stored} records: ready in {} ms, first answer after {answered:.1} s, {QUESTIONS} queries later {} MB",
        ready.as_millis(),
        server.memory_mb()
    );
}
