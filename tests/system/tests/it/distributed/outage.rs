//! Takes each server away for a while under load. No accepted record is lost, and everything recovers without help.
//!
//! `OUTAGE_SECS=30 cargo test -p system --test it distributed::outage -- --nocapture` makes the outages longer than
//! the default of a few seconds.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fixtures::look_within;
use serde_json::{Value, json};
use system::running::Servers;
use system::running::api::Api;
use system::running::processes::Processes;
use tokio::task::JoinHandle;

use super::crash::{Ledger, Load, wait_until_flowing};

/// Length of an outage in seconds without the variable `OUTAGE_SECS`.
const SECS: u64 = 3;
/// Longest time from the return of a server until everything has recovered.
const WHOLE_MAX: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(100);

/// Asks questions until it is stopped, and counts the kinds of answers.
struct Asker {
    stop: Arc<AtomicBool>,
    asking: JoinHandle<BTreeMap<String, u32>>,
}

impl Asker {
    fn begin(api: &Api) -> Asker {
        let stop = Arc::<AtomicBool>::default();
        let (api, ended) = (api.clone(), Arc::clone(&stop));
        let asking = tokio::spawn(async move {
            let mut answers = BTreeMap::new();
            while !ended.load(Ordering::Relaxed) {
                *answers.entry(ask_question(&api).await).or_default() += 1;
                tokio::time::sleep(PAUSE).await;
            }
            answers
        });
        Asker { stop, asking }
    }

    async fn end(self) -> BTreeMap<String, u32> {
        self.stop.store(true, Ordering::Relaxed);
        self.asking.await.unwrap()
    }
}

/// Returns true if no part was away. Batches that wait for the writer are no fault, because the load continues during
/// the questions.
fn is_whole(body: &Value) -> bool {
    let degraded = body["degraded"].as_array().unwrap();
    degraded.iter().all(|it| {
        it.as_str()
            .unwrap()
            .starts_with("writer: some accepted batches are not searchable yet")
    })
}

/// Asks once and returns the kind of the answer.
async fn ask_question(api: &Api) -> String {
    let body = json!({ "question": "Which parcel went out?", "budget": { "ms": 2_000 } });
    let request = api.http.post(format!("{}/spaces/crash/query", api.base)).json(&body);
    match api.try_send(request).await {
        Ok((200, body)) if is_whole(&body) => "whole".to_owned(),
        Ok((200, _)) => "degraded".to_owned(),
        Ok((status, _)) => status.to_string(),
        Err(_) => "no response".to_owned(),
    }
}

/// Waits until records are accepted and questions are answered with nothing missing. Then stops the load and waits
/// until the accepted records are searchable. Returns how long each of the three steps took, from the start.
async fn wait_until_whole(api: &Api, load: Load, ledger: &mut Ledger) -> [Duration; 3] {
    let begun = Instant::now();
    wait_until_flowing(&load.accepted).await;
    let accepted = begun.elapsed();
    let look = async || match ask_question(api).await {
        answer if answer == "whole" => Ok(()),
        answer => Err(answer),
    };
    let left = WHOLE_MAX.saturating_sub(accepted);
    let outcome = look_within(left, look).await;
    assert_eq!(outcome, Ok(()), "questions are not answered whole");
    let answered = begun.elapsed();
    load.end(ledger).await;
    ledger.wait_until_written(api).await;
    [accepted, answered, begun.elapsed()]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_system_recovers_from_an_outage_of_each_server() {
    let secs = std::env::var("OUTAGE_SECS").ok().and_then(|it| it.parse().ok());
    let away = Duration::from_secs(secs.unwrap_or(SECS));
    let Some(mut servers) = Servers::start().await.unwrap() else {
        return;
    };
    let logs = tempfile::tempdir().unwrap();
    let processes = Processes::start(servers.settings(), logs.path()).await.unwrap();
    let api = processes.api.clone();
    assert_eq!(api.put("/spaces/crash").await.0, 201);
    let mut ledger = Ledger::default();
    for (number, name) in (0..).zip(["qdrant", "neo4j", "nats"]) {
        let load = Load::begin(&api, number);
        wait_until_flowing(&load.accepted).await;
        let before = load.accepted.load(Ordering::Relaxed);
        match name {
            "qdrant" => servers.qdrant.stop_listening().await.unwrap(),
            "neo4j" => servers.neo4j.kill().unwrap(),
            _ => servers.nats.kill(),
        }
        let asker = Asker::begin(&api);
        tokio::time::sleep(away).await;
        let answers = asker.end().await;
        let meanwhile = load.accepted.load(Ordering::Relaxed) - before;
        match name {
            "qdrant" => servers.qdrant.listen_again().unwrap(),
            "neo4j" => servers.neo4j.restart().await.unwrap(),
            _ => servers.nats.restart(),
        }
        let [accepted, answered, searchable] = wait_until_whole(&api, load, &mut ledger).await;
        println!(
            "{name} away for {away:?}: answers {answers:?}, {meanwhile} batches accepted; after its return accepting after \
             {accepted:.1?}, whole answers after {answered:.1?}, caught up after {searchable:.1?}"
        );
    }
    let accepted = ledger.check(&api).await;
    println!("{accepted} accepted records, 0 lost, 0 twice");
}
