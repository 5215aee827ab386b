//! Pulls the plug at random moments while records stream in: nothing accepted is lost, nothing is there twice.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Value, json};

use crate::server::{Server, fresh_directory};

/// Rounds without the variable `CRASH_ROUNDS`; the figure in `docs/OPERATIONS.md` was taken with 200.
const ROUNDS: u64 = 30;
const SENDERS: u64 = 2;
const BATCH: u64 = 10;

/// A repeatable source of moments; the seed is printed when a round fails.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// A word no other record has: letters only, so that every tokeniser keeps it whole.
fn word(sender: u64, number: u64) -> String {
    let digits: String = format!("{sender}{number:06}")
        .chars()
        .map(|it| (b'a' + (it as u8 - b'0')) as char)
        .collect();
    format!("q{digits}z")
}

fn batch(sender: u64, first: u64) -> Value {
    let records: Vec<Value> = (first..first + BATCH)
        .map(|number| {
            json!({
                "id": format!("s{sender}-{number}"),
                "session": format!("s{sender}"),
                "actor": "Ann",
                "text": format!("The parcel {} went out.", word(sender, number)),
                "observed_at": format!("2026-03-{:02}T10:00:00Z", 1 + number % 28),
            })
        })
        .collect();
    json!({ "records": records })
}

/// Sends batches until the server goes away; returns those answered 202 and where to go on.
async fn stream(http: reqwest::Client, base: String, sender: u64, mut next: u64) -> (u64, Vec<(u64, String)>) {
    let mut accepted = Vec::new();
    loop {
        let request = http
            .post(format!("{base}/spaces/crash/records"))
            .header("Idempotency-Key", format!("{sender}-{next}"))
            .json(&batch(sender, next));
        let Ok(response) = request.send().await else {
            return (next, accepted);
        };
        let status = response.status().as_u16();
        let Ok(body) = response.json::<Value>().await else {
            return (next, accepted);
        };
        assert_eq!(status, 202, "{body}");
        accepted.push((next, body["watermark"].as_str().unwrap().to_owned()));
        next += BATCH;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_accepted_is_lost_or_doubled() {
    let rounds = std::env::var("CRASH_ROUNDS")
        .ok()
        .and_then(|it| it.parse().ok())
        .unwrap_or(ROUNDS);
    let data = fresh_directory("crash");
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut next = [0; SENDERS as usize];
    let mut accepted: BTreeMap<String, String> = BTreeMap::new();
    let mut last_watermark = String::new();
    for _ in 0..rounds {
        let server = Server::start(&data).await;
        server.put("/spaces/crash").await;
        let senders: Vec<_> = (0..SENDERS)
            .map(|it| tokio::spawn(stream(server.http.clone(), server.base.clone(), it, next[it as usize])))
            .collect();
        tokio::time::sleep(Duration::from_millis(5 + dice.below(300))).await;
        server.kill();
        for (sender, handle) in senders.into_iter().enumerate() {
            let (go_on, batches) = handle.await.unwrap();
            next[sender] = go_on;
            for (first, watermark) in batches {
                for number in first..first + BATCH {
                    accepted.insert(format!("s{sender}-{number}"), word(sender as u64, number));
                }
                last_watermark = watermark;
            }
        }
    }
    assert!(
        accepted.len() as u64 > rounds * BATCH,
        "too few records went in to show anything: {}",
        accepted.len()
    );
    let server = Server::start(&data).await;
    check(&server, &accepted, &last_watermark).await;
    println!(
        "{rounds} rounds: {} accepted records, 0 lost, 0 twice, all searchable",
        accepted.len()
    );
}

/// Compares what was acknowledged with what can be listed and found.
async fn check(server: &Server, accepted: &BTreeMap<String, String>, last_watermark: &str) {
    server.written("crash", last_watermark).await;
    drained(server).await;
    for path in ["/spaces/crash/records", "/spaces/crash/units"] {
        let mut listed: Vec<String> = server.list(path).await.iter().filter_map(turn_id).collect();
        let all = listed.len();
        listed.sort();
        listed.dedup();
        assert_eq!(listed.len(), all, "{path} lists a record twice");
        let listed: BTreeSet<&String> = listed.iter().collect();
        let lost: Vec<&String> = accepted.keys().filter(|id| !listed.contains(id)).collect();
        assert!(lost.is_empty(), "{path} lost {lost:?}");
    }
    for (id, word) in accepted {
        let body = json!({ "query": word, "limit": 3 });
        let (status, found) = server.post("/spaces/crash/tools/lexical_retrieve", &body).await;
        assert_eq!(status, 200, "{found}");
        let hits = found.to_string().matches(&format!("\"{id}\"")).count();
        assert!(hits > 0, "{id} is not found by {word}: {found}");
    }
}

/// Returns the caller's id of a record, or of the record of a turn unit; none for event units.
fn turn_id(item: &Value) -> Option<String> {
    if item["grain"] == "event" {
        return None;
    }
    let id = item["id"].as_str().filter(|_| item.get("grain").is_none());
    id.or_else(|| item["external_ids"][0].as_str()).map(str::to_owned)
}

async fn drained(server: &Server) {
    let empty = async {
        while server.get("/spaces/crash/progress").await.1["backlog"] != json!(0) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(120), empty)
        .await
        .expect("the queue does not drain");
}
