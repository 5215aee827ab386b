//! Scaling out: several writers and routers share the spaces, and a space is written while one of its writers is killed.

use domain::message::{Message, RecordsAcceptedV1, Request, RouteV1};
use fixtures::wait_until;
use serde_json::{Value, json};
use system::running::api::Api;
use system::running::processes::Processes;

use super::crash::{Ledger, Load, wait_until_flowing};
use super::{cited_ids, shared_servers};

const SPACES: usize = 8;
/// Maximum number of records in each space until every writer and router has done some of the work.
const ROUNDS_MAX: usize = 60;

/// Returns a word that no other record has.
fn word_of_record(space: usize, round: usize) -> String {
    let letter = |number: usize| char::from(b'a' + u8::try_from(number % 26).unwrap());
    format!("q{}{}{}z", letter(space), letter(round / 26), letter(round))
}

fn sample_record(space: usize, round: usize) -> Value {
    json!([{
        "id": format!("{space}-{round}"),
        "session": format!("s{}", round / 10),
        "ordinal": round % 10,
        "actor": "Ann",
        "text": format!("The parcel {} went out.", word_of_record(space, round)),
        "observed_at": format!("2026-03-{:02}T10:00:00Z", 1 + round / 10),
    }])
}

/// Returns the sum of a counter of a process over the labels that contain both the subject and the outcome.
async fn read_counter(processes: &Processes, name: &str, counter: &str, subject: &str, outcome: &str) -> u64 {
    let text = processes.metrics(name).await.unwrap();
    let labels = [format!("subject=\"{subject}\""), format!("outcome=\"{outcome}\"")];
    let lines = text.lines().filter(|line| line.starts_with(counter));
    let values = lines.filter(|line| labels.iter().all(|label| line.contains(label)));
    values
        .map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap())
        .sum()
}

/// Returns the number of batches that a writer has written.
async fn written_batches(processes: &Processes, writer: &str) -> u64 {
    let subject = RecordsAcceptedV1::SUBJECT;
    read_counter(processes, writer, "mnemic_messages_total", subject, "done").await
}

/// Returns the number of questions for which a router has found evidence.
async fn routed_questions(processes: &Processes, router: &str) -> u64 {
    let subject = RouteV1::SUBJECT;
    read_counter(processes, router, "mnemic_requests_served_total", subject, "ok").await
}

/// Returns how much each process has done: the two writers, then the two routers.
async fn work_of_processes(processes: &Processes) -> [u64; 4] {
    [
        written_batches(processes, "writer").await,
        written_batches(processes, "writer-2").await,
        routed_questions(processes, "router").await,
        routed_questions(processes, "router-2").await,
    ]
}

/// Sends a record to every space, waits until all are written, and then asks in every space for the record. A question
/// with a watermark is not answered from an earlier state of the space.
async fn write_and_ask(api: &Api, round: usize) {
    let mut watermarks = Vec::new();
    for space in 0..SPACES {
        watermarks.push(
            api.send_records(&format!("s{space}"), &sample_record(space, round))
                .await,
        );
    }
    for (space, watermark) in watermarks.iter().enumerate() {
        let name = format!("s{space}");
        api.wait_until_written(&name, watermark).await;
        let word = word_of_record(space, round);
        let body = json!({ "question": format!("Which parcel is {word}?"), "answer": true, "after": watermark,
            "budget": { "ms": 20_000 } });
        let (status, body) = api.post(&format!("/spaces/{name}/query"), &body).await;
        assert_eq!(status, 200, "{body}");
        assert_eq!(body["degraded"], json!([]), "{body}");
        let id = format!("{space}-{round}");
        assert!(cited_ids(&body).contains(&id.as_str()), "{id}: {body}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_writers_and_two_routers_share_the_spaces() {
    let Some(servers) = shared_servers().await else { return };
    let logs = tempfile::tempdir().unwrap();
    let mut processes = Processes::start(servers.settings(), logs.path()).await.unwrap();
    processes.start_service("writer-2").unwrap();
    processes.start_service("router-2").unwrap();
    processes.wait_until_ready().await.unwrap();
    let api = processes.api.clone();
    for space in 0..SPACES {
        assert_eq!(api.put(&format!("/spaces/s{space}")).await.0, 201);
    }
    let (mut rounds, mut work) = (0, [0; 4]);
    while work.contains(&0) && rounds < ROUNDS_MAX {
        write_and_ask(&api, rounds).await;
        rounds += 1;
        work = work_of_processes(&processes).await;
    }
    assert!(
        !work.contains(&0),
        "after {rounds} rounds, a process has done nothing: {work:?}"
    );
    let all = u64::try_from(rounds * SPACES).unwrap();
    // A writer counts a batch a little later than the batch is searchable.
    wait_until("every batch is counted", async || {
        work = work_of_processes(&processes).await;
        work[0] + work[1] >= all
    })
    .await;
    // The processes share the work. On a busy machine a few batches may be delivered again, but not all of them twice.
    for shared in [work[0] + work[1], work[2] + work[3]] {
        assert!((all..2 * all).contains(&shared), "{all} of each were needed: {work:?}");
    }
    for space in 0..SPACES {
        let listed = api.list(&format!("/spaces/s{space}/records")).await;
        let mut ids: Vec<&str> = listed.iter().filter_map(|it| it["id"].as_str()).collect();
        ids.sort_unstable();
        let mut sent: Vec<String> = (0..rounds).map(|round| format!("{space}-{round}")).collect();
        sent.sort_unstable();
        assert_eq!(ids, sent);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_writes_of_a_space_go_on_after_one_of_two_writers_is_killed() {
    let Some(servers) = shared_servers().await else { return };
    let logs = tempfile::tempdir().unwrap();
    let mut processes = Processes::start(servers.settings(), logs.path()).await.unwrap();
    let api = processes.api.clone();
    assert_eq!(api.put("/spaces/crash").await.0, 201);
    let load = Load::begin(&api, 0);
    wait_until_flowing(&load.accepted).await;
    processes.start_service("writer-2").unwrap();
    processes.wait_until_ready().await.unwrap();
    let second_has_written = async || written_batches(&processes, "writer-2").await > 0;
    wait_until("the second writer has joined", second_has_written).await;
    processes.kill("writer").unwrap();
    let before = written_batches(&processes, "writer-2").await;
    let second_goes_on = async || written_batches(&processes, "writer-2").await > before + 1;
    wait_until("the second writer goes on", second_goes_on).await;
    let mut ledger = Ledger::default();
    load.end(&mut ledger).await;
    // With the first writer killed, only the second one can write the batches that the first one had begun.
    let accepted = ledger.check(&api).await;
    assert!(accepted > 0, "nothing was sent");
}
