//! Kills the process at random times while a language model reads. No listed reading is lost, and none is stored
//! twice.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};
use system::running::api::Api;
use system::running::processes::SingleProcess;
use system::servers::chat::{ScriptedReply, Server};

use super::reading::{list_gists, reading_settings, wait_for_readings};

/// Number of kills without the variable `READING_KILLS`; 0 skips the test.
const ROUNDS: u64 = 10;
/// Number of sessions that are written in turn, and number of records of one batch: passages of 16 records and a rest.
const SESSIONS: u64 = 3;
const BATCH: u64 = 40;
/// Maximum number of records of a passage.
const PASSAGE_MAX: usize = 24;
/// Duration of a reply of the model, and longest duration of each pause between a batch and the kill.
const REPLY: Duration = Duration::from_millis(20);
const MOMENT_MS: u64 = 700;

/// A repeatable source of random times.
struct Dice(u64);

impl Dice {
    async fn pause(&mut self) {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        tokio::time::sleep(Duration::from_millis(self.0 % MOMENT_MS)).await;
    }
}

/// Returns the model's notes about each passage: a gist for each of its first two lines.
fn sample_notes() -> String {
    let gist = |line: u32| {
        json!({ "text": "Ann sent a parcel to Tom.", "lines": [line], "time": null, "who": ["Ann", "Tom"],
            "tag": "parcel", "cues": ["parcel"] })
    };
    let relation = json!({ "from": 1, "to": 2, "kind": "before", "lines": [1, 2] });
    json!({ "gists": [gist(1), gist(2)], "relations": [relation], "facts": [], "changes": [] }).to_string()
}

fn batch_of_round(round: u64) -> Value {
    let record = |number: u64| {
        let at = round * BATCH + number;
        json!({ "id": format!("r{at}"), "session": format!("s{}", round % SESSIONS), "actor": "Ann",
            "text": format!("I sent the parcel {at} to Tom."),
            "observed_at": format!("2026-03-{:02}T{:02}:{number:02}:00Z", 1 + round / 24, round % 24) })
    };
    Value::Array((0..BATCH).map(record).collect())
}

/// Returns the ids of the listed readings.
async fn ids_of_readings(api: &Api) -> BTreeSet<String> {
    let ids = api.list("/spaces/talk/readings").await;
    ids.iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect()
}

fn string_values(value: &Value) -> Vec<&str> {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it.as_str().unwrap())
        .collect()
}

/// Checks that every record is in exactly one reading and that each gist is stored once. Returns the number of
/// readings and of gists.
async fn check_readings(api: &Api, records: u64) -> [usize; 2] {
    let readings = api.list("/spaces/talk/readings").await;
    let mut read = BTreeSet::new();
    let mut derived = 0;
    for reading in &readings {
        assert_eq!(reading["state"], "done", "{reading}");
        let of = string_values(&reading["records"]);
        assert!((1..=PASSAGE_MAX).contains(&of.len()), "{reading}");
        for record in of {
            assert!(read.insert(record.to_owned()), "{record} is read twice: {reading}");
        }
        derived += reading["outcome"]["gists"].as_u64().unwrap();
    }
    let unread: Vec<String> = (0..records)
        .map(|it| format!("r{it}"))
        .filter(|it| !read.contains(it))
        .collect();
    assert!(unread.is_empty(), "in no reading: {unread:?}");
    let gists = list_gists(api).await;
    let places: BTreeSet<String> = gists.iter().map(|it| it["external_ids"].to_string()).collect();
    assert_eq!(
        (gists.len() as u64, places.len()),
        (derived, gists.len()),
        "gists that are there twice, or not at all"
    );
    [readings.len(), gists.len()]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readings_survive_kills() {
    let asked = std::env::var("READING_KILLS").ok();
    let rounds = asked.and_then(|it| it.parse().ok()).unwrap_or(ROUNDS);
    if rounds == 0 {
        return;
    }
    let server = Server::start().await.unwrap();
    server.script().otherwise = Some(ScriptedReply::Late(REPLY, sample_notes()));
    let dir = tempfile::tempdir().unwrap();
    let lease = ("writer.readings.lease_seconds".to_owned(), "3".to_owned());
    let settings: Vec<(String, String)> = reading_settings(&server).into_iter().chain([lease]).collect();
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut acknowledged = BTreeSet::new();
    let mut watermarks = Vec::new();
    for round in 0..rounds {
        let process = SingleProcess::start_with(dir.path(), &settings).await.unwrap();
        let api = &process.api;
        if round == 0 {
            assert_eq!(api.put("/spaces/talk").await.0, 201);
        }
        watermarks.push(api.send_records("talk", &batch_of_round(round)).await);
        dice.pause().await;
        let found = ids_of_readings(api).await;
        let lost: Vec<&String> = acknowledged.difference(&found).collect();
        assert!(lost.is_empty(), "kill {round} lost {lost:?}");
        acknowledged.extend(found);
        dice.pause().await;
        // Dropping the process kills it with SIGKILL.
        drop(process);
    }
    let process = SingleProcess::start_with(dir.path(), &settings).await.unwrap();
    let api = &process.api;
    for watermark in &watermarks {
        api.wait_until_written("talk", watermark).await;
    }
    api.wait_until_settled("talk").await;
    wait_for_readings(api, "talk", |it| it["summary"]["waiting_sessions"] == 0).await;
    let found = ids_of_readings(api).await;
    assert!(acknowledged.is_subset(&found), "{:?}", acknowledged.difference(&found));
    let [read, stored] = check_readings(api, rounds * BATCH).await;
    let calls = server.script().requests.len();
    println!(
        "{rounds} kills: {read} readings with {stored} gists, {} of them listed before a kill, 0 lost, 0 twice; {calls} calls",
        acknowledged.len()
    );
}
