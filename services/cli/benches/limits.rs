//! Measures, over HTTP with the real binary, how much one key slows down another, and how much memory texts full of
//! facts take.
//!
//! `cargo bench -p cli --bench limits` runs both measurements; `LIMITS=hostile` or `LIMITS=facts` runs one of them.
//! `LIMITS_MB=10` sets the amount of text for the second one.

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
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use figures::{percentile, sorted};
use serde_json::{Value, json};
use server::{Server, fresh_directory};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

/// Records of the space that is asked, questions per measurement, and the pause between two questions.
const RECORDS: usize = 3_000;
const QUESTIONS: usize = 200;
const PAUSE: Duration = Duration::from_millis(10);
/// Connections of the hostile key.
const SLOW: usize = 300;
const IDLE: usize = 560;
const FLOOD: usize = 64;
const LARGE: usize = 8;

/// Two keys, `quiet` and `hostile`, with a space each.
const KEYS: &str = r#"
[[gateway.keys]]
name = "quiet"
sha256 = "008f0747f4e27c8462baa991a538025bcc2dd143e78422f1afbdfcd9e757a20f"
spaces = ["quiet"]
rights = ["read", "write", "admin"]
[[gateway.keys]]
name = "hostile"
sha256 = "8f383ccddc6f17eb57a96c711523e4a8072d8e791b4a773ea0153e0d993d03e1"
spaces = ["hostile"]
rights = ["read", "write", "admin"]
"#;

const NAMES: [&str; 12] = [
    "Ann", "Ben", "Clara", "David", "Emma", "Frank", "Greta", "Henry", "Ines", "Jonas", "Karin", "Louis",
];
const PLACES: [&str; 12] = [
    "Oslo", "Lisbon", "Bergen", "Porto", "Malmö", "Aarhus", "Turin", "Ghent", "Basel", "Graz", "Leeds", "York",
];
const THINGS: [&str; 12] = [
    "violin",
    "bicycle",
    "dog",
    "garden",
    "camera",
    "piano",
    "boat",
    "kiln",
    "tent",
    "drum",
    "telescope",
    "loom",
];

/// Returns a sentence that states a fact which no other sentence states.
fn fact(number: usize) -> String {
    let name = NAMES[number % 12];
    let (place, thing) = (PLACES[number / 12 % 12], THINGS[number / 5 % 12]);
    match number % 5 {
        0 => format!("{name} moved to {place} {number}."),
        1 => format!("{name} likes the {thing} of {place} number {number}."),
        2 => format!("{name}'s sister works at Company{number} in {place}."),
        3 => format!("{name} bought a {thing} called Item{number}."),
        _ => format!("{name} is allergic to Stuff{number}."),
    }
}

fn records(first: usize, count: usize, sentences: usize) -> Value {
    let record = |number: usize| {
        let text: Vec<String> = (0..sentences).map(|it| fact(number * sentences + it)).collect();
        json!({"id": number.to_string(), "session": format!("s{}", number / 40), "actor": NAMES[number % 2],
            "text": text.join(" "), "observed_at": format!("2025-{:02}-{:02}T10:00:00Z", 1 + number / 2_800 % 12, 1 + number / 100 % 28)})
    };
    json!({ "records": (first..first + count).map(record).collect::<Vec<Value>>() })
}

async fn start(data: &Path, keys: bool) -> Server {
    let config = data.join("mnemic.toml");
    std::fs::write(&config, if keys { KEYS } else { "" }).unwrap();
    Server::start_with(data, |program| {
        let mut command = Command::new(program);
        command.arg("serve").arg("--config").arg(&config);
        command
    })
    .await
}

async fn call(server: &Server, key: &str, path: &str, body: &Value) -> (u16, Value) {
    let request = server.http.post(format!("{}{path}", server.base));
    server.send(request.bearer_auth(key).json(body)).await
}

/// Fills the space of a key, and waits until all records are searchable.
async fn fill(server: &Server, key: &str, count: usize, sentences: usize) {
    server
        .send(
            server
                .http
                .put(format!("{}/spaces/{key}", server.base))
                .bearer_auth(key),
        )
        .await;
    for first in (0..count).step_by(100) {
        loop {
            let body = records(first, 100.min(count - first), sentences);
            let (status, body) = call(server, key, &format!("/spaces/{key}/records"), &body).await;
            if status == 202 {
                break;
            }
            assert_eq!(status, 429, "{body}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
    settled(server, key).await;
}

async fn settled(server: &Server, key: &str) {
    let path = format!("{}/spaces/{key}/progress", server.base);
    while server.send(server.http.get(&path).bearer_auth(key)).await.1["backlog"] != json!(0) {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Asks the questions of the quiet key; returns their times in milliseconds, sorted, and the number of refused
/// questions.
async fn questions(server: &Server) -> (Vec<f64>, usize) {
    let (mut times, mut refused) = (Vec::new(), 0);
    for number in 0..QUESTIONS {
        let question = json!({ "question": format!("Where does {} live?", NAMES[number % 12]) });
        let begin = Instant::now();
        let (status, _) = call(server, "quiet", "/spaces/quiet/query", &question).await;
        times.push(begin.elapsed().as_secs_f64() * 1e3);
        refused += usize::from(status != 200);
        tokio::time::sleep(PAUSE).await;
    }
    (sorted(times), refused)
}

/// The load that the hostile key generates until it is stopped.
#[derive(Clone, Copy, Debug)]
enum Hostile {
    SlowBodies,
    Flood,
    LargeBatches,
    IdleConnections,
}

/// Holds a connection open. With `key`, sends the head of a request and then single bytes of its body at intervals, and
/// connects again if the server closes the connection. Without `key`, sends nothing.
async fn drip(address: String, key: bool, stop: Arc<AtomicBool>) {
    let head = "POST /v1/spaces/hostile/query HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer hostile\r\n\
        content-type: application/json\r\ncontent-length: 4000\r\n\r\n{";
    while !stop.load(Ordering::Relaxed) {
        if let Ok(mut stream) = TcpStream::connect(&address).await {
            if key && stream.write_all(head.as_bytes()).await.is_err() {
                continue;
            }
            while !stop.load(Ordering::Relaxed) {
                tokio::time::sleep(Duration::from_millis(250)).await;
                if key && stream.write_all(b" ").await.is_err() {
                    break;
                }
            }
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Sends the same request repeatedly.
async fn repeat(http: reqwest::Client, url: String, body: Value, stop: Arc<AtomicBool>, sent: Arc<AtomicU64>) {
    while !stop.load(Ordering::Relaxed) {
        let mut body = body.clone();
        let number = sent.fetch_add(1, Ordering::Relaxed);
        if let Some(all) = body["records"].as_array_mut() {
            for (at, it) in all.iter_mut().enumerate() {
                it["id"] = json!(format!("{number}-{at}"));
            }
        }
        let response = http.post(&url).bearer_auth("hostile").json(&body).send().await;
        if response.is_ok_and(|it| it.status() == 429) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

fn attack(server: &Server, kind: Hostile, stop: &Arc<AtomicBool>, sent: &Arc<AtomicU64>) -> Vec<JoinHandle<()>> {
    let address = server
        .base
        .trim_start_matches("http://")
        .trim_end_matches("/v1")
        .to_owned();
    let repeat = |path: &str, body: Value| {
        let url = format!("{}/spaces/hostile/{path}", server.base);
        tokio::spawn(repeat(
            server.http.clone(),
            url,
            body,
            Arc::clone(stop),
            Arc::clone(sent),
        ))
    };
    match kind {
        Hostile::SlowBodies => (0..SLOW)
            .map(|_| tokio::spawn(drip(address.clone(), true, Arc::clone(stop))))
            .collect(),
        Hostile::IdleConnections => (0..IDLE)
            .map(|_| tokio::spawn(drip(address.clone(), false, Arc::clone(stop))))
            .collect(),
        Hostile::Flood => (0..FLOOD)
            .map(|it| {
                repeat(
                    "query",
                    json!({ "question": format!("What did {} buy?", NAMES[it % 12]) }),
                )
            })
            .collect(),
        Hostile::LargeBatches => (0..LARGE).map(|_| repeat("records", records(0, 1_000, 8))).collect(),
    }
}

async fn hostile() {
    let server = start(&fresh_directory("bench-limits"), true).await;
    fill(&server, "quiet", RECORDS, 1).await;
    fill(&server, "hostile", RECORDS, 1).await;
    questions(&server).await;
    for kind in [
        Hostile::SlowBodies,
        Hostile::Flood,
        Hostile::IdleConnections,
        Hostile::LargeBatches,
    ] {
        // The quiet key is measured before each load, since the state of the machine and of the memory changes.
        let (quiet, _) = questions(&server).await;
        let (stop, sent) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let tasks = attack(&server, kind, &stop, &sent);
        tokio::time::sleep(Duration::from_secs(1)).await;
        let (times, refused) = questions(&server).await;
        stop.store(true, Ordering::Relaxed);
        for it in tasks {
            it.await.unwrap();
        }
        let [before, during] = [&quiet, &times].map(|it| percentile(it, 0.95));
        println!(
            "{kind:?}: p95 {before:.1} ms quiet, {during:.1} ms meanwhile ({:.1} times), p50 {:.1} and {:.1} ms, {refused} of {QUESTIONS} \
             refused; {} requests of the other key",
            during / before,
            percentile(&quiet, 0.5),
            percentile(&times, 0.5),
            sent.load(Ordering::Relaxed)
        );
        settled(&server, "hostile").await;
    }
}

async fn facts() {
    let megabytes: usize = std::env::var("LIMITS_MB").map_or(10, |it| it.parse().unwrap());
    let server = start(&fresh_directory("bench-facts"), true).await;
    let empty = server.memory_mb();
    let (sentences, bytes) = (20, fact(12_345).len() + 1);
    let count = (megabytes << 20) / (sentences * bytes);
    let begin = Instant::now();
    fill(&server, "quiet", count, sentences).await;
    let written = begin.elapsed();
    questions(&server).await;
    let peak = peak_mb(&server);
    println!(
        "{megabytes} MB in {count} records of {sentences} facts: {} MB of memory after {QUESTIONS} questions, {peak} MB at most, {empty} MB \
         empty; searchable after {:.0} s",
        server.memory_mb(),
        written.as_secs_f64()
    );
}

/// Returns the peak resident memory of the process.
fn peak_mb(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.process())).unwrap();
    let line = status.lines().find(|it| it.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1_024
}

#[tokio::main]
async fn main() {
    let wanted = std::env::var("LIMITS").unwrap_or_default();
    if wanted != "facts" {
        hostile().await;
    }
    if wanted != "hostile" {
        facts().await;
    }
}
