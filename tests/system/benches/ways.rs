//! Compares both deployment modes in one run: the speed of ingestion, and the latency of questions that both answer in
//! turn.
//!
//! `cargo bench -p system --bench ways` sends 10,000 records; `WAYS_RECORDS=1000` sends fewer. The distributed mode
//! consists of five processes, a real NATS, a real Neo4j, and a stand-in for Qdrant inside this process. The time of
//! the stand-in is printed separately.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench may panic and prints what it measured"
)]

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use system::running::api::Api;
use system::running::processes::{Processes, Single};
use system::running::{SERVICES, Servers};

const BATCH: usize = 100;
const SENDERS: usize = 4;
const QUESTIONS: usize = 200;
/// Number of warm-up questions, which are not measured.
const FIRST: usize = 20;
/// Clock ticks per second in the CPU times of `/proc`.
const TICKS: f64 = 100.0;

const WORDS: &str = "harbour lantern violin orchard ticket kettle bridge garden museum bicycle letter river market window \
    jacket recipe mountain painting neighbour concert library suitcase festival workshop engine blanket camera forest island \
    journey marathon notebook pottery sandwich telescope umbrella village whistle yoghurt anchor basket candle feather guitar";

fn word(number: usize) -> &'static str {
    let mut words = WORDS.split_whitespace();
    let count = words.clone().count();
    words.nth(number % count).unwrap()
}

fn batch(first: usize) -> Value {
    let line = |number: usize| {
        let text = format!(
            "Yesterday I took the {} to the {} near the {} and paid {} coins for a {} called item{number}.",
            word(number * 7 + 7),
            word(number * 11 + 11),
            word(number * 13 + 13),
            number % 90,
            word(number * 17 + 17)
        );
        json!({
            "id": number.to_string(), "session": format!("s{}", number / 40), "ordinal": number % 40, "text": text,
            "actor": if number.is_multiple_of(2) { "Ann" } else { "Ben" },
            "observed_at": format!("2026-{:02}-{:02}T10:00:00Z", 1 + (number / 11_200) % 12, 1 + (number / 400) % 28),
        })
    };
    (first..first + BATCH).map(line).collect()
}

/// Returns the CPU time of each process so far, in seconds.
fn cpu(processes: &[(String, u32)]) -> Vec<f64> {
    let of = |pid: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // The name of a program may contain any character, and the last parenthesis ends it.
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let ticks = |at: usize| fields.get(at).and_then(|it| it.parse::<f64>().ok()).unwrap_or_default();
        (ticks(11) + ticks(12)) / TICKS
    };
    processes.iter().map(|it| of(it.1)).collect()
}

/// Sends all records with several senders. Prints the rates at which they were accepted and searchable, and the CPU
/// time of each process.
async fn ingest(name: &str, api: &Api, records: usize, processes: &[(String, u32)]) {
    assert_eq!(api.put("/spaces/bench").await.0, 201);
    let (before, begun) = (cpu(processes), Instant::now());
    let senders = (0..SENDERS).map(|sender| async move {
        let mut last = String::new();
        for first in (0..records).step_by(BATCH).skip(sender).step_by(SENDERS) {
            last = api.accepted("bench", &batch(first)).await;
        }
        last
    });
    let last = futures::future::join_all(senders).await;
    let accepted = begun.elapsed();
    for watermark in last.iter().filter(|it| !it.is_empty()) {
        api.written("bench", watermark).await;
    }
    while api.get("/spaces/bench/progress").await.1["backlog"] != json!(0) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let searchable = begun.elapsed();
    let used: Vec<String> = cpu(processes)
        .iter()
        .zip(before)
        .zip(processes)
        .map(|((after, before), (name, _))| format!("{name} {:.1}", after - before))
        .collect();
    let rate = |time: Duration| records as f64 / time.as_secs_f64();
    println!(
        "{name}: {:.0} records/s accepted, {:.0} searchable; {:.1} s, CPU seconds: {}",
        rate(accepted),
        rate(searchable),
        searchable.as_secs_f64(),
        used.join(", ")
    );
    organised(api, processes).await;
}

/// Waits until no process works any more, which includes work that no watermark covers.
async fn organised(api: &Api, processes: &[(String, u32)]) {
    api.settled("bench").await;
    let sum = || cpu(processes).iter().sum::<f64>();
    loop {
        let before = sum();
        tokio::time::sleep(Duration::from_secs(2)).await;
        if sum() - before < 0.2 {
            return;
        }
    }
}

/// Asks one question and returns the milliseconds until the answer.
async fn ask(api: &Api, number: usize, records: usize) -> f64 {
    let (a, b) = (word(number), word(number * 5 + 3));
    let item = number * records / QUESTIONS;
    let question = format!("When did Ann take the {a} and the {b} to item{item}?");
    let begun = Instant::now();
    let body = json!({ "question": question, "budget": { "ms": 20_000 } });
    let (status, body) = api.post("/spaces/bench/query", &body).await;
    assert_eq!((status, &body["degraded"]), (200, &json!([])), "{body}");
    begun.elapsed().as_secs_f64() * 1e3
}

/// Returns the value that the given share of all values does not exceed.
fn percentile(times: &[f64], share: f64) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[((sorted.len() - 1) as f64 * share).round() as usize]
}

/// Asks both modes in turn, so that both run under the same conditions.
async fn questions(ways: &[(&str, &Api)], servers: &Servers, records: usize) {
    for number in 0..FIRST {
        for (_, api) in ways {
            ask(api, number, records).await;
        }
    }
    let (calls, busy) = (servers.qdrant.calls(), servers.qdrant.busy());
    let mut times = vec![Vec::new(); ways.len()];
    for number in 0..QUESTIONS {
        for ((_, api), times) in ways.iter().zip(&mut times) {
            times.push(ask(api, number, records).await);
        }
    }
    let first = times[0].clone();
    for ((name, _), times) in ways.iter().zip(&times) {
        let (p50, p95) = (percentile(times, 0.5), percentile(times, 0.95));
        let more = p95 / percentile(&first, 0.95);
        println!("{name}: question with answer p50 {p50:.1} ms, p95 {p95:.1} ms ({more:.1} times)");
    }
    let calls = (servers.qdrant.calls() - calls) as f64 / QUESTIONS as f64;
    let busy = (servers.qdrant.busy() - busy).as_secs_f64() * 1e3 / QUESTIONS as f64;
    println!("stand-in for Qdrant: {calls:.2} calls a question, {busy:.1} ms of its own");
}

#[tokio::main]
async fn main() {
    let named = std::env::var("WAYS_RECORDS").ok().and_then(|it| it.parse().ok());
    let records: usize = named.unwrap_or(10_000);
    let Some(servers) = Servers::start().await.unwrap() else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let single = Single::start(dir.path()).await.unwrap();
    ingest(
        "standalone",
        &single.api,
        records,
        &[("mnemic".to_owned(), single.pid())],
    )
    .await;
    let logs = tempfile::tempdir().unwrap();
    let processes = Processes::start(servers.settings(), logs.path()).await.unwrap();
    let mut all: Vec<(String, u32)> = SERVICES
        .iter()
        .filter_map(|it| Some(((*it).to_owned(), processes.pid(it)?)))
        .collect();
    all.push(("nats".to_owned(), servers.nats.pid()));
    all.push(("neo4j".to_owned(), servers.neo4j.pid()));
    all.push(("stand-in and senders".to_owned(), std::process::id()));
    ingest("distributed", &processes.api, records, &all).await;
    let ways = [("standalone", &single.api), ("distributed", &processes.api)];
    questions(&ways, &servers, records).await;
}
