//! Compares both deployment modes in one run: the speed of ingestion, and the latency of questions that both answer in
//! turn, four at a time.
//!
//! `cargo bench -p system --bench ways` sends 10,000 records to eight spaces in turn; `WAYS_RECORDS=1000` sends fewer, at
//! least 800. The distributed mode consists of five processes, a real NATS, a real Neo4j, and a stand-in for Qdrant inside
//! this process. `WAYS_REPLICAS=2` starts two writers and two routers there. The time of the stand-in is printed
//! separately.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench may panic and prints what it measured"
)]

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use system::running::Servers;
use system::running::api::Api;
use system::running::processes::{Processes, SingleProcess};

const BATCH: usize = 100;
const SENDERS: usize = 4;
const SPACES: usize = 8;
/// Number of questions that are asked at the same time.
const ASKED_AT_ONCE: usize = 4;
/// Names of the additional processes for each replica after the first.
const REPLICAS: [[&str; 2]; 3] = [
    ["writer-2", "router-2"],
    ["writer-3", "router-3"],
    ["writer-4", "router-4"],
];
const QUESTIONS: usize = 200;
/// Number of warm-up questions, which are not measured.
const FIRST: usize = 20;
/// Clock ticks per second in the CPU times of `/proc`.
const TICKS: f64 = 100.0;

const WORDS: &str = "harbour lantern violin orchard ticket kettle bridge garden museum bicycle letter river market window \
    jacket recipe mountain painting neighbour concert library suitcase festival workshop engine blanket camera forest island \
    journey marathon notebook pottery sandwich telescope umbrella village whistle yoghurt anchor basket candle feather guitar";

/// One of the compared deployment modes, with the names and ids of its processes.
struct Deployment<'a> {
    name: &'static str,
    api: &'a Api,
    processes: Vec<(String, u32)>,
}

/// Returns the space of the batch that begins with this record.
fn space_of_batch(first: usize) -> String {
    format!("bench-{}", first / BATCH % SPACES)
}

fn sample_word(number: usize) -> &'static str {
    let mut words = WORDS.split_whitespace();
    let count = words.clone().count();
    words.nth(number % count).unwrap()
}

fn batch_of_records(first: usize) -> Value {
    let line = |number: usize| {
        let text = format!(
            "Yesterday I took the {} to the {} near the {} and paid {} coins for a {} called item{number}.",
            sample_word(number * 7 + 7),
            sample_word(number * 11 + 11),
            sample_word(number * 13 + 13),
            number % 90,
            sample_word(number * 17 + 17)
        );
        json!({
            "id": number.to_string(), "session": format!("s{}", number / 40), "ordinal": number % 40, "text": text,
            "actor": if number.is_multiple_of(2) { "Ann" } else { "Ben" },
            "observed_at": format!("2026-{:02}-{:02}T10:00:00Z", 1 + (number / 11_200) % 12, 1 + (number / 400) % 28),
        })
    };
    (first..first + BATCH).map(line).collect()
}

impl Deployment<'_> {
    /// Returns the CPU time of each process so far, in seconds.
    fn cpu_seconds(&self) -> Vec<f64> {
        let of = |pid: u32| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            // The name of a program may contain any character, and the last parenthesis ends it.
            let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
            let ticks = |at: usize| fields.get(at).and_then(|it| it.parse::<f64>().ok()).unwrap_or_default();
            (ticks(11) + ticks(12)) / TICKS
        };
        self.processes.iter().map(|it| of(it.1)).collect()
    }

    /// Returns the CPU time that each process has used since `before`, as text.
    fn describe_cpu_since(&self, before: &[f64]) -> String {
        let now = self.cpu_seconds();
        let used = self.processes.iter().zip(now.iter().zip(before));
        let used: Vec<String> = used
            .map(|((name, _), (now, before))| format!("{name} {:.1}", now - before))
            .collect();
        used.join(", ")
    }

    /// Sends all records with several senders. Prints the rates at which they were accepted and searchable, and the
    /// CPU time of each process.
    async fn measure_ingest(&self, records: usize) {
        for space in 0..SPACES {
            assert_eq!(self.api.put(&format!("/spaces/bench-{space}")).await.0, 201);
        }
        let (before, begun) = (self.cpu_seconds(), Instant::now());
        let senders = (0..SENDERS).map(|sender| async move {
            for first in (0..records).step_by(BATCH).skip(sender).step_by(SENDERS) {
                self.api
                    .send_records(&space_of_batch(first), &batch_of_records(first))
                    .await;
            }
        });
        futures::future::join_all(senders).await;
        let accepted = begun.elapsed();
        for space in 0..SPACES {
            while self.api.get(&format!("/spaces/bench-{space}/progress")).await.1["backlog"] != json!(0) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
        let searchable = begun.elapsed();
        let rate = |time: Duration| records as f64 / time.as_secs_f64();
        println!(
            "{}: {:.0} records/s accepted, {:.0} searchable; {:.1} s, CPU seconds: {}",
            self.name,
            rate(accepted),
            rate(searchable),
            searchable.as_secs_f64(),
            self.describe_cpu_since(&before)
        );
        self.wait_until_organised().await;
        println!(
            "{}: CPU seconds until everything is derived: {}",
            self.name,
            self.describe_cpu_since(&before)
        );
        self.check_all_are_searchable(records).await;
    }

    /// Waits until no process works any more, which includes work that no watermark covers.
    async fn wait_until_organised(&self) {
        for space in 0..SPACES {
            self.api.wait_until_settled(&format!("bench-{space}")).await;
        }
        let sum = || self.cpu_seconds().iter().sum::<f64>();
        loop {
            let before = sum();
            tokio::time::sleep(Duration::from_secs(2)).await;
            if sum() - before < 0.2 {
                return;
            }
        }
    }

    /// Checks that every space has a unit for each of its records, and finds the first of these records by its word.
    async fn check_all_are_searchable(&self, records: usize) {
        for space in 0..SPACES {
            let name = format!("bench-{space}");
            let batches = (0..records)
                .step_by(BATCH)
                .filter(|first| space_of_batch(*first) == name);
            let units = self.api.list(&format!("/spaces/{name}/units")).await;
            let turns = units.iter().filter(|it| it["grain"] == "turn").count();
            assert_eq!(turns, batches.count() * BATCH, "turns of {name}");
            let number = space * BATCH;
            let body = json!({ "query": format!("item{number}"), "limit": 3 });
            let path = format!("/spaces/{name}/tools/lexical_retrieve");
            let (status, found) = self.api.post(&path, &body).await;
            let is_found = found.to_string().contains(&format!("\"{number}\""));
            assert!(status == 200 && is_found, "{status} item{number}: {found}");
        }
    }
}

/// Asks one question of one of the spaces and returns the milliseconds until the answer.
async fn time_question(api: &Api, number: usize, records: usize) -> f64 {
    let (a, b) = (sample_word(number), sample_word(number * 5 + 3));
    let rounds = records / BATCH / SPACES;
    let first = (number / SPACES % rounds * SPACES + number % SPACES) * BATCH;
    let question = format!(
        "When did Ann take the {a} and the {b} to item{}?",
        first + number % BATCH
    );
    let begun = Instant::now();
    let body = json!({ "question": question, "budget": { "ms": 20_000 } });
    let path = format!("/spaces/{}/query", space_of_batch(first));
    let (status, body) = api.post(&path, &body).await;
    assert_eq!((status, &body["degraded"]), (200, &json!([])), "{body}");
    begun.elapsed().as_secs_f64() * 1e3
}

/// Returns the value that the given share of all values does not exceed.
fn percentile(times: &[f64], share: f64) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[((sorted.len() - 1) as f64 * share).round() as usize]
}

/// Asks both modes in turn, so that both run under the same conditions. Prints the latency of each and the CPU time of
/// its processes.
async fn measure_questions(ways: &[Deployment<'_>], servers: &Servers, records: usize) {
    for number in 0..FIRST {
        for way in ways {
            time_question(way.api, number, records).await;
        }
    }
    let (calls, busy) = (servers.qdrant.calls(), servers.qdrant.busy());
    let before: Vec<Vec<f64>> = ways.iter().map(Deployment::cpu_seconds).collect();
    let mut times = vec![Vec::new(); ways.len()];
    for number in (0..QUESTIONS).step_by(ASKED_AT_ONCE) {
        for (way, times) in ways.iter().zip(&mut times) {
            let asked = (number..number + ASKED_AT_ONCE).map(|number| time_question(way.api, number, records));
            times.extend(futures::future::join_all(asked).await);
        }
    }
    let first = percentile(&times[0], 0.95);
    for ((way, times), before) in ways.iter().zip(&times).zip(&before) {
        let (p50, p95) = (percentile(times, 0.5), percentile(times, 0.95));
        println!(
            "{}: question with answer p50 {p50:.1} ms, p95 {p95:.1} ms ({:.1} times), CPU seconds: {}",
            way.name,
            p95 / first,
            way.describe_cpu_since(before)
        );
    }
    let calls = (servers.qdrant.calls() - calls) as f64 / QUESTIONS as f64;
    let busy = (servers.qdrant.busy() - busy).as_secs_f64() * 1e3 / QUESTIONS as f64;
    println!("stand-in for Qdrant: {calls:.2} calls a question, of which it was busy for {busy:.1} ms");
}

/// Returns the number in an environment variable, or the default.
fn number_from_environment(name: &str, default: usize) -> usize {
    std::env::var(name)
        .ok()
        .and_then(|it| it.parse().ok())
        .unwrap_or(default)
}

/// Starts further writers and routers until there are `replicas` of each.
async fn start_replicas(processes: &mut Processes, replicas: usize) {
    for name in REPLICAS.into_iter().take(replicas - 1).flatten() {
        processes.start_service(name).unwrap();
    }
    processes.wait_until_ready().await.unwrap();
}

#[tokio::main]
async fn main() {
    let records = number_from_environment("WAYS_RECORDS", 10_000).next_multiple_of(BATCH);
    let replicas = number_from_environment("WAYS_REPLICAS", 1);
    assert!(records >= SPACES * BATCH, "at least a batch for each space");
    assert!((1..=REPLICAS.len() + 1).contains(&replicas), "1 to 4 replicas");
    let Some(servers) = Servers::start().await.unwrap() else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let single = SingleProcess::start(dir.path()).await.unwrap();
    let standalone = Deployment {
        name: "standalone",
        api: &single.api,
        processes: vec![("mnemic".to_owned(), single.pid())],
    };
    standalone.measure_ingest(records).await;
    let logs = tempfile::tempdir().unwrap();
    let mut processes = Processes::start(servers.settings(), logs.path()).await.unwrap();
    start_replicas(&mut processes, replicas).await;
    let mut ids = processes.process_ids();
    ids.push(("nats".to_owned(), servers.nats.pid()));
    ids.push(("neo4j".to_owned(), servers.neo4j.pid()));
    ids.push(("stand-in and senders".to_owned(), std::process::id()));
    let distributed = Deployment {
        name: "distributed",
        api: &processes.api,
        processes: ids,
    };
    distributed.measure_ingest(records).await;
    measure_questions(&[standalone, distributed], &servers, records).await;
}
