//! Kills the server at random moments while records arrive, other records are erased and pinned, a file is imported and
//! the space is rebuilt. No accepted record may be lost or stored twice, and no erased record may come back. An answer
//! directly after a restart must contain the accepted records, or report in `degraded` that some may be missing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::server::{Server, fresh_directory, mnemic};

/// Rounds unless the variable `CRASH_ROUNDS` sets another number; `docs/OPERATIONS.md` has the figure of a longer run.
const ROUNDS: u64 = 30;
const SENDERS: u64 = 2;
const BATCH: u64 = 10;
/// Records of a file whose import continues in every round until it is complete.
const IMPORTED: u64 = 400;
/// Number of the latest acknowledged erasures that are checked in every store at the end.
const CHECKED: usize = 20;
/// Number of the latest accepted records that are asked about after each restart.
const ASKED: usize = 6;
/// Maximum number of attempts at one question.
const ATTEMPTS: usize = 10;

/// A reproducible source of random moments; the seed is printed when a round fails.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// Everything that the server has acknowledged.
#[derive(Default)]
struct Ledger {
    /// The unique word of each accepted record, by its id, without records whose erasure was requested.
    accepted: BTreeMap<String, String>,
    /// Ids in the order of acceptance.
    order: Vec<String>,
    /// Words of records whose erasure was acknowledged.
    erased: BTreeMap<String, String>,
    /// Receipts of the acknowledged erasures.
    receipts: Vec<String>,
    watermarks: Vec<String>,
    /// Number of actions by kind.
    counts: BTreeMap<&'static str, u64>,
}

/// Returns a word that no other record has: letters only, so that every tokeniser keeps it whole.
fn word(sender: u64, number: u64) -> String {
    let digits: String = format!("{sender}{number:06}")
        .chars()
        .map(|it| (b'a' + (it as u8 - b'0')) as char)
        .collect();
    format!("q{digits}z")
}

fn record(sender: u64, number: u64) -> Value {
    json!({
        "id": format!("s{sender}-{number}"),
        "session": format!("s{sender}-{}", number / 200),
        "actor": "Ann",
        "text": format!("The parcel {} went out.", word(sender, number)),
        "observed_at": format!("2026-03-{:02}T10:00:00Z", 1 + number % 28),
    })
}

fn batch(sender: u64, first: u64) -> Value {
    let records: Vec<Value> = (first..first + BATCH).map(|it| record(sender, it)).collect();
    json!({ "records": records })
}

/// Sends a request; returns the status and the body, or `None` if the server is gone.
async fn sent(request: reqwest::RequestBuilder) -> Option<(u16, Value)> {
    let response = request.send().await.ok()?;
    let status = response.status().as_u16();
    Some((status, response.json::<Value>().await.ok()?))
}

/// Sends batches until the server is gone; returns the number to continue with, and the records answered with status 202.
async fn stream(http: reqwest::Client, base: String, sender: u64, mut next: u64) -> (u64, Vec<(u64, String)>) {
    let mut accepted = Vec::new();
    loop {
        let request = http
            .post(format!("{base}/spaces/crash/records"))
            .header("Idempotency-Key", format!("{sender}-{next}"))
            .json(&batch(sender, next));
        let Some((status, body)) = sent(request).await else {
            return (next, accepted);
        };
        assert_eq!(status, 202, "{body}");
        accepted.push((next, body["watermark"].as_str().unwrap().to_owned()));
        next += BATCH;
    }
}

/// An acknowledged erasure.
struct Erased {
    id: String,
    watermark: String,
    receipt: String,
}

/// Erases records until the server is gone; returns the acknowledged erasures.
async fn erase(http: reqwest::Client, base: String, ids: Vec<String>) -> Vec<Erased> {
    let mut erased = Vec::new();
    for id in ids {
        let ask = || sent(http.delete(format!("{base}/spaces/crash/records/{id}")));
        let mut answer = ask().await;
        // After a restart the writer may not have processed the batches of these records yet. The task is killed in the
        // middle of this wait, which ends with the server at the latest.
        while answer.as_ref().is_some_and(|it| it.0 == 404) {
            tokio::time::sleep(Duration::from_millis(50)).await;
            answer = ask().await;
        }
        let Some((status, body)) = answer else {
            break;
        };
        assert_eq!(status, 202, "{body}");
        let text = |name: &str| body[name].as_str().unwrap().to_owned();
        erased.push(Erased {
            watermark: text("watermark"),
            receipt: text("erasure"),
            id,
        });
    }
    erased
}

/// Pins units and starts a rebuild until the server is gone; returns the number of accepted requests of each kind.
async fn decide(http: reqwest::Client, base: String) -> (u64, u64) {
    let mut pinned = 0;
    let units = sent(http.get(format!("{base}/spaces/crash/units?limit=5"))).await;
    let units = units.map(|it| it.1["items"].as_array().cloned().unwrap_or_default());
    for unit in units.unwrap_or_default() {
        let act = json!({ "act": { "kind": "pin_unit", "unit": unit["id"] } });
        match sent(http.post(format!("{base}/spaces/crash/curations")).json(&act)).await {
            Some((202, _)) => pinned += 1,
            // The unit may have been erased in the meantime.
            Some((status, body)) => assert!(status == 404 || status == 409 || status == 422, "{status} {body}"),
            None => return (pinned, 0),
        }
    }
    let begun = sent(http.post(format!("{base}/spaces/crash/rebuild"))).await;
    (pinned, u64::from(begun.is_some_and(|it| it.0 == 202)))
}

/// Starts an import; it ends at the latest when the server is killed.
fn import(server: &Server, file: &Path) -> Child {
    let url = server.base.trim_end_matches("/v1");
    mnemic()
        .args([
            "import",
            file.to_str().unwrap(),
            "-s",
            "imported",
            "--batch",
            "20",
            "--url",
            url,
        ])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Runs one round: all activities at once, until the server is killed.
async fn round(server: Server, file: &Path, ledger: &mut Ledger, next: &mut [u64], moment: Duration) {
    let (http, base) = (server.http.clone(), server.base.clone());
    let senders: Vec<_> = (0..SENDERS)
        .map(|it| tokio::spawn(stream(http.clone(), base.clone(), it, next[it as usize])))
        .collect();
    // Takes records from the middle, not the ones that are asked about after the restart.
    let doomed: Vec<String> = ledger.order.iter().rev().skip(40).step_by(7).take(3).cloned().collect();
    let doomed: Vec<String> = doomed
        .into_iter()
        .filter(|it| ledger.accepted.contains_key(it))
        .collect();
    let words: BTreeMap<String, String> = doomed
        .iter()
        .filter_map(|it| ledger.accepted.remove_entry(it))
        .collect();
    let erasing = tokio::spawn(erase(http.clone(), base.clone(), doomed));
    let deciding = tokio::spawn(decide(http, base));
    let mut importing = import(&server, file);
    // The moment of the kill.
    tokio::time::sleep(moment).await;
    server.kill();
    for (sender, handle) in senders.into_iter().enumerate() {
        let (go_on, batches) = handle.await.unwrap();
        next[sender] = go_on;
        for (first, watermark) in batches {
            for number in first..first + BATCH {
                let id = format!("s{sender}-{number}");
                ledger.order.push(id.clone());
                ledger.accepted.insert(id, word(sender as u64, number));
            }
            ledger.watermarks.push(watermark);
        }
    }
    for it in erasing.await.unwrap() {
        ledger.erased.insert(it.id.clone(), words[&it.id].clone());
        ledger.watermarks.push(it.watermark);
        ledger.receipts.push(it.receipt);
        *ledger.counts.entry("erasures").or_default() += 1;
    }
    let (pinned, rebuilt) = deciding.await.unwrap();
    *ledger.counts.entry("curations").or_default() += pinned;
    *ledger.counts.entry("rebuilds").or_default() += rebuilt;
    importing.kill().ok();
    importing.wait().unwrap();
}

/// Asks about the latest accepted records as soon as the server is ready. Repeats a question whose answer reports a
/// timeout. Returns the number of answers, and the number of those that lacked the expected records and reported it.
async fn ask(server: &Server, ledger: &Ledger) -> (u64, u64) {
    let (mut answers, mut incomplete) = (0, 0);
    let last = ledger
        .order
        .iter()
        .rev()
        .filter_map(|it| ledger.accepted.get(it))
        .take(ASKED);
    for word in last {
        let question = json!({ "question": format!("Which parcel is {word}?") });
        let (mut status, mut body) = server.post("/spaces/crash/query", &question).await;
        for _ in 1..ATTEMPTS {
            if status != 504 {
                break;
            }
            (status, body) = server.post("/spaces/crash/query", &question).await;
        }
        assert_eq!(status, 200, "{body}");
        answers += 1;
        if !body["pack"]["text"].as_str().unwrap().contains(word.as_str()) {
            assert_ne!(body["degraded"], json!([]), "{word} is missing from {body}");
            incomplete += 1;
        }
    }
    (answers, incomplete)
}

fn imported(folder: &Path) -> PathBuf {
    let file = folder.join("imported.jsonl");
    let lines: String = (0..IMPORTED).map(|it| format!("{}\n", record(7, it))).collect();
    std::fs::write(&file, lines).unwrap();
    file
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn accepted_records_are_not_lost_duplicated_or_silently_missing() {
    let rounds = std::env::var("CRASH_ROUNDS")
        .ok()
        .and_then(|it| it.parse().ok())
        .unwrap_or(ROUNDS);
    let folder = fresh_directory("crash");
    let (data, file) = (folder.join("data"), imported(&folder));
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut next = [0; SENDERS as usize];
    let mut ledger = Ledger::default();
    for _ in 0..rounds {
        let server = Server::start(&data).await;
        server.put("/spaces/crash").await;
        server.put("/spaces/imported").await;
        let (answers, incomplete) = ask(&server, &ledger).await;
        *ledger.counts.entry("answers after a restart").or_default() += answers;
        *ledger.counts.entry("of them incomplete, and said so").or_default() += incomplete;
        let moment = Duration::from_millis(5 + dice.below(300));
        round(server, &file, &mut ledger, &mut next, moment).await;
    }
    assert!(
        ledger.accepted.len() as u64 > rounds * BATCH,
        "too few records went in to show anything: {}",
        ledger.accepted.len()
    );
    let server = Server::start(&data).await;
    assert!(import(&server, &file).wait().unwrap().success());
    check(&server, &ledger).await;
    println!(
        "{rounds} kills, {:?}: {} accepted records, 0 lost, 0 twice, all searchable",
        ledger.counts,
        ledger.accepted.len() as u64 + IMPORTED
    );
}

/// Compares the acknowledged changes with the lists and the search results.
async fn check(server: &Server, ledger: &Ledger) {
    for watermark in &ledger.watermarks {
        server.written("crash", watermark).await;
    }
    server.drained("crash").await;
    let (_, letters) = server.get("/admin/dead-letters").await;
    assert_eq!(letters["items"], json!([]), "{letters}");
    let file: BTreeMap<String, String> = (0..IMPORTED).map(|it| (format!("s7-{it}"), word(7, it))).collect();
    for (space, expected) in [("crash", &ledger.accepted), ("imported", &file)] {
        for kind in ["records", "units"] {
            let path = format!("/spaces/{space}/{kind}");
            let mut listed: Vec<String> = server.list(&path).await.iter().filter_map(turn_id).collect();
            let all = listed.len();
            listed.sort();
            listed.dedup();
            assert_eq!(listed.len(), all, "{path} lists a record twice");
            let listed: BTreeSet<&String> = listed.iter().collect();
            let lost: Vec<&String> = expected.keys().filter(|id| !listed.contains(id)).collect();
            assert!(lost.is_empty(), "{path} lost {lost:?}");
            let back: Vec<&String> = ledger.erased.keys().filter(|id| listed.contains(id)).collect();
            assert!(back.is_empty(), "{path} has {back:?}, which were erased");
        }
        for (id, word) in expected {
            assert!(is_found(server, space, id, word).await, "{id} is not found by {word}");
        }
    }
    for (id, word) in &ledger.erased {
        assert!(!is_found(server, "crash", id, word).await, "{id} was erased");
    }
    for id in &ledger.receipts {
        let (status, receipt) = server.get(&format!("/spaces/crash/erasures/{id}")).await;
        assert_eq!((status, &receipt["state"]), (200, &json!("complete")), "{receipt}");
    }
    for id in ledger.receipts.iter().rev().take(CHECKED) {
        let path = format!("/spaces/crash/erasures/{id}/check");
        let (status, found) = server.post(&path, &json!({})).await;
        assert_eq!((status, &found["absent"]), (200, &json!(true)), "{found}");
    }
}

async fn is_found(server: &Server, space: &str, id: &str, word: &str) -> bool {
    let body = json!({ "query": word, "limit": 3 });
    let path = format!("/spaces/{space}/tools/lexical_retrieve");
    let (status, found) = server.post(&path, &body).await;
    assert_eq!(status, 200, "{found}");
    found.to_string().contains(&format!("\"{id}\""))
}

/// Returns the caller's id of a record, or of the record of a turn unit; `None` for event units.
fn turn_id(item: &Value) -> Option<String> {
    if item["grain"] == "event" {
        return None;
    }
    let id = item["id"].as_str().filter(|_| item.get("grain").is_none());
    id.or_else(|| item["external_ids"][0].as_str()).map(str::to_owned)
}
