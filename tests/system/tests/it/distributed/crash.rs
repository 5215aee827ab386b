//! Kills services and servers at random times while records are sent. No accepted record is lost, and none is stored
//! twice.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use fixtures::look_within;
use serde_json::{Value, json};
use system::running::api::Api;
use system::running::processes::Processes;
use system::running::{SERVICES, Servers};
use tokio::task::JoinHandle;

/// Number of rounds without the variable `CRASH_ROUNDS`; 0 skips the test.
const ROUNDS: u64 = 40;
const SENDERS: u64 = 2;
const BATCH: u64 = 10;
/// Longest time between two kills, in milliseconds.
const MOMENT_MS: u64 = 400;

/// Maximum number of records that are searched for one by one, at equal distances.
const SEARCHED_MAX: usize = 2_000;
/// Longest time after a kill until something is accepted again.
const RECOVERY_MAX: Duration = Duration::from_secs(90);

/// A repeatable source of random times and victims.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// Returns a word that no other record has. It has only letters, so that every tokeniser keeps it whole.
fn word_of_record(sender: u64, number: u64) -> String {
    let digits: String = format!("{sender}{number:06}")
        .chars()
        .map(|it| (b'a' + (it as u8 - b'0')) as char)
        .collect();
    format!("q{digits}z")
}

fn batch_of_records(sender: u64, first: u64) -> Value {
    let records: Vec<Value> = (first..first + BATCH)
        .map(|number| {
            json!({
                "id": format!("s{sender}-{number}"),
                "session": format!("s{sender}-{}", number / 200),
                "actor": "Ann",
                "text": format!("The parcel {} went out.", word_of_record(sender, number)),
                "observed_at": format!("2026-03-{:02}T10:00:00Z", 1 + number % 28),
            })
        })
        .collect();
    json!({ "records": records })
}

/// Accepted batches: the number of the first record, and the watermark.
type Batches = Vec<(u64, String)>;

/// Senders that send records until they are stopped.
pub(super) struct Load {
    pub(super) accepted: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    senders: Vec<(u64, JoinHandle<Batches>)>,
}

/// Accepted records and watermarks of all loads.
#[derive(Default)]
pub(super) struct Ledger {
    /// Word of each record, by the record's id.
    records: BTreeMap<String, String>,
    watermarks: Vec<String>,
}

impl Load {
    /// Starts sending to the space `crash`. Loads with different numbers send different records.
    pub(super) fn begin(api: &Api, number: u64) -> Load {
        let (stop, accepted) = (Arc::<AtomicBool>::default(), Arc::<AtomicU64>::default());
        let sender = |it| {
            let sending = send_until_stopped(api.clone(), it, Arc::clone(&stop), Arc::clone(&accepted));
            (it, tokio::spawn(sending))
        };
        let senders = (number * SENDERS..(number + 1) * SENDERS).map(sender).collect();
        Load {
            accepted,
            stop,
            senders,
        }
    }

    /// Stops the senders and adds their accepted records to the ledger.
    pub(super) async fn end(self, ledger: &mut Ledger) {
        self.stop.store(true, Ordering::Relaxed);
        for (sender, sending) in self.senders {
            for (first, watermark) in sending.await.unwrap() {
                let records = (first..first + BATCH).map(|it| (format!("s{sender}-{it}"), word_of_record(sender, it)));
                ledger.records.extend(records);
                ledger.watermarks.push(watermark);
            }
        }
    }
}

impl Ledger {
    /// Waits until all accepted records are searchable.
    pub(super) async fn wait_until_written(&self, api: &Api) {
        for watermark in &self.watermarks {
            api.wait_until_written("crash", watermark).await;
        }
    }

    /// Checks that all accepted records can be listed and that up to [`SEARCHED_MAX`] of them can be found. Returns
    /// the number of accepted records.
    pub(super) async fn check(&self, api: &Api) -> usize {
        self.wait_until_written(api).await;
        api.wait_until_settled("crash").await;
        let (_, letters) = api.get("/admin/dead-letters").await;
        assert_eq!(letters["items"], json!([]), "{letters}");
        for path in ["/spaces/crash/records", "/spaces/crash/units"] {
            let mut listed: Vec<String> = api.list(path).await.iter().filter_map(turn_id).collect();
            let all = listed.len();
            listed.sort();
            listed.dedup();
            assert_eq!(listed.len(), all, "{path} lists a record twice");
            let listed: BTreeSet<&String> = listed.iter().collect();
            let lost: Vec<&String> = self.records.keys().filter(|id| !listed.contains(id)).collect();
            assert!(lost.is_empty(), "{path} lost {lost:?}");
        }
        let every = self.records.len().div_ceil(SEARCHED_MAX).max(1);
        for (id, word) in self.records.iter().step_by(every) {
            let body = json!({ "query": word, "limit": 3 });
            let (status, found) = api.post("/spaces/crash/tools/lexical_retrieve", &body).await;
            assert_eq!(status, 200, "{found}");
            let hits = found.to_string().matches(&format!("\"{id}\"")).count();
            assert!(hits > 0, "{id} is not found by {word}: {found}");
        }
        self.records.len()
    }
}

/// Ending of the problem type for an `Idempotency-Key` that an unfinished request uses.
const KEY_IN_FLIGHT: &str = "idempotency-key-in-flight";

/// Sends batches until it is stopped, and repeats each with the same key until it is accepted. Returns the accepted
/// batches.
async fn send_until_stopped(api: Api, sender: u64, stop: Arc<AtomicBool>, count: Arc<AtomicU64>) -> Batches {
    let mut accepted = Vec::new();
    let mut next = 0;
    while !stop.load(Ordering::Relaxed) {
        let request = api
            .http
            .post(format!("{}/spaces/crash/records", api.base))
            .header("Idempotency-Key", format!("{sender}-{next}"))
            .json(&batch_of_records(sender, next));
        match api.try_send(request).await {
            Ok((202, body)) => {
                accepted.push((next, body["watermark"].as_str().unwrap().to_owned()));
                next += BATCH;
                count.fetch_add(1, Ordering::Relaxed);
            }
            Ok((status, body)) => {
                // An interrupted request may still hold its key for a moment.
                let is_held = status == 409 && body["type"].as_str().is_some_and(|it| it.ends_with(KEY_IN_FLIGHT));
                assert!(is_held || matches!(status, 429 | 500 | 503 | 504), "{status} {body}");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
    accepted
}

/// Waits until batches are accepted again, so that every kill interrupts work. Returns how long that took.
pub(super) async fn wait_until_flowing(count: &AtomicU64) -> Duration {
    let (begun, before) = (Instant::now(), count.load(Ordering::Relaxed));
    let look = async || match count.load(Ordering::Relaxed) {
        now if now < before + 2 => Err(now),
        _ => Ok(()),
    };
    let outcome = look_within(RECOVERY_MAX, look).await;
    assert_eq!(outcome, Ok(()), "nothing is accepted any more");
    begun.elapsed()
}

/// Kills one of the services or servers and starts it again.
async fn kill_process(victim: usize, processes: &mut Processes, servers: &mut Servers) {
    match victim {
        0..5 => {
            processes.kill(SERVICES[victim]).unwrap();
            processes.start_service(SERVICES[victim]).unwrap();
        }
        5 => {
            servers.nats.kill();
            servers.nats.restart();
        }
        _ => {
            servers.neo4j.kill().unwrap();
            servers.neo4j.restart().await.unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_accepted_record_is_lost_or_duplicated() {
    let rounds = std::env::var("CRASH_ROUNDS")
        .ok()
        .and_then(|it| it.parse().ok())
        .unwrap_or(ROUNDS);
    if rounds == 0 {
        return;
    }
    let Some(mut servers) = Servers::start().await.unwrap() else {
        return;
    };
    let logs = tempfile::tempdir().unwrap();
    let mut processes = Processes::start(servers.settings(), logs.path()).await.unwrap();
    let api = processes.api.clone();
    assert_eq!(api.put("/spaces/crash").await.0, 201);
    let load = Load::begin(&api, 0);
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut killed = BTreeMap::<&str, u32>::new();
    let mut slowest = Duration::ZERO;
    for _ in 0..rounds {
        slowest = slowest.max(wait_until_flowing(&load.accepted).await);
        tokio::time::sleep(Duration::from_millis(5 + dice.below(MOMENT_MS))).await;
        let victim = dice.below(7) as usize;
        let name = SERVICES
            .get(victim)
            .copied()
            .unwrap_or(if victim == 5 { "nats" } else { "neo4j" });
        *killed.entry(name).or_default() += 1;
        kill_process(victim, &mut processes, &mut servers).await;
    }
    processes.wait_until_ready().await.unwrap();
    slowest = slowest.max(wait_until_flowing(&load.accepted).await);
    let mut ledger = Ledger::default();
    load.end(&mut ledger).await;
    let accepted = ledger.check(&api).await;
    println!(
        "{rounds} kills {killed:?}: {accepted} accepted records, 0 lost, 0 twice, at most {SEARCHED_MAX} of them searched for, all found; accepted again after at most {slowest:?}"
    );
}

/// Returns the caller's id of a record, or of the record of a turn unit; `None` for event units.
fn turn_id(item: &Value) -> Option<String> {
    if item["grain"] == "event" {
        return None;
    }
    let id = item["id"].as_str().filter(|_| item.get("grain").is_none());
    id.or_else(|| item["external_ids"][0].as_str()).map(str::to_owned)
}
