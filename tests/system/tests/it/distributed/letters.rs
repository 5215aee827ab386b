//! Dead letters in distributed mode are counted, listed and discarded, and they do not block other messages.

use adapters::servers::nats::{NatsBus, Options};
use domain::message::{Message, RecordsAcceptedV1};
use domain::port::{Bus, Frame};
use fixtures::{wait_for, wait_until};
use serde_json::json;
use system::running::processes::{Processes, run_mnemic};

use super::{sample_talk, shared_servers};

/// Waits until the gateway reports a number of dead letters. If the bus is slow to answer, the gateway reports the number
/// that it saw before.
async fn wait_for_dead_letters(processes: &Processes, count: usize) {
    let wanted = format!("mnemic_dead_letters {count}");
    wait_for(&format!("the gateway reports {wanted}"), async || {
        let numbers = processes.metrics("gateway").await.unwrap();
        match numbers.lines().any(|it| it == wanted) {
            true => Ok(()),
            false => Err(numbers),
        }
    })
    .await;
}

/// A message that cannot be read becomes a dead letter. The metrics of writer and gateway show it until it is
/// discarded, and the messages after it are written.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unreadable_message_is_counted_and_skipped() {
    let Some(servers) = shared_servers().await else { return };
    let settings = servers.settings();
    let logs = tempfile::tempdir().unwrap();
    let processes = Processes::start(settings.clone(), logs.path()).await.unwrap();
    let api = &processes.api;
    assert_eq!(api.put("/spaces/talk").await.0, 201);
    let options = Options {
        url: servers.nats.url(),
        prefix: settings.iter().find(|it| it.0 == "nats.prefix").unwrap().1.clone(),
        ..Options::default()
    };
    let poison = Frame {
        subject: RecordsAcceptedV1::SUBJECT.to_owned(),
        space: "talk".to_owned(),
        dedup_key: "poison".to_owned(),
        payload: b"{".to_vec(),
        ..Frame::default()
    };
    NatsBus::connect(&options).await.unwrap().publish(poison).await.unwrap();
    let watermark = api.send_records("talk", &sample_talk()).await;
    api.wait_until_written("talk", &watermark).await;

    let letters = async || api.get("/admin/dead-letters").await.1["items"].clone();
    wait_until("there is a dead letter", async || letters().await != json!([])).await;
    wait_for_dead_letters(&processes, 1).await;
    let numbers = processes.metrics("writer").await.unwrap();
    let dead =
        |it: &str| it.starts_with("mnemic_messages_total") && it.contains("outcome=\"dead\"") && it.ends_with(" 1");
    assert!(numbers.lines().any(dead), "{numbers}");

    let url = api.base.trim_end_matches("/v1").to_owned();
    let (code, output) = run_mnemic(&[], &["dead-letters", "list", "--url", &url]).unwrap();
    assert_eq!(code, Some(0), "{output}");
    assert!(output.contains("the payload cannot be read"), "{output}");
    let id = letters().await[0]["number"].to_string();
    let (code, output) = run_mnemic(&[], &["dead-letters", "discard", &id, "--url", &url]).unwrap();
    assert_eq!(code, Some(0), "{output}");
    wait_for_dead_letters(&processes, 0).await;
}
