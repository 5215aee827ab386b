//! Takes one part of the system away at a time. The other parts still answer in time, and the answer names the missing
//! part.

use std::time::{Duration, Instant};

use fixtures::{wait_for, wait_until};
use reqwest::Response;
use serde_json::{Value, json};
use system::running::api::Api;
use system::running::{Running, Servers};

use crate::distributed::{cited_ids, sample_talk};

/// Time budget of a question, and additional time for the network and for a busy machine.
const BUDGET: Duration = Duration::from_secs(4);
const SLACK: Duration = Duration::from_secs(16);
/// Delay of a slow server; longer than a question may take.
const DELAY: Duration = Duration::from_secs(30);
const QUESTION: &str = "When did Ines adopt the greyhound?";

async fn ask_question(api: &Api) -> Response {
    let body = json!({ "question": QUESTION, "answer": true, "metadata": true, "budget": { "ms": BUDGET.as_millis() as u64 } });
    let begun = Instant::now();
    let request = api.http.post(format!("{}/spaces/talk/query", api.base)).json(&body);
    let response = request.send().await.unwrap();
    assert!(begun.elapsed() < BUDGET + SLACK, "{:?}", begun.elapsed());
    response
}

/// Asks the question; returns the response, which must be an answer, and its `degraded` field as text.
async fn ask_degraded(api: &Api) -> (Value, String) {
    let response = ask_question(api).await;
    let status = response.status().as_u16();
    let body: Value = response.json().await.unwrap();
    assert_eq!(status, 200, "{body}");
    let degraded = body["degraded"].to_string();
    (body, degraded)
}

/// Asks the question; it must be rejected with a time after which to retry.
async fn expect_refusal(api: &Api) {
    let response = ask_question(api).await;
    assert_eq!(response.status().as_u16(), 503);
    assert!(response.headers().contains_key("retry-after"));
}

/// Sends a record, which must be rejected with a time after which to retry.
async fn refused_write(api: &Api) {
    let body = json!({ "records": [{ "id": "9", "text": "The gate was open." }] });
    let request = api.http.post(format!("{}/spaces/talk/records", api.base)).json(&body);
    let response = request.send().await.unwrap();
    assert_eq!(response.status().as_u16(), 503);
    assert!(response.headers().contains_key("retry-after"));
}

/// Waits until a question is answered with nothing degraded, and returns how long that took.
async fn wait_until_recovered(api: &Api) -> Duration {
    let begun = Instant::now();
    wait_for("an answer is whole", async || {
        let response = ask_question(api).await;
        let (status, body) = (response.status(), response.json::<Value>().await.unwrap_or_default());
        let is_whole = status.is_success() && body["degraded"] == json!([]) && cited_ids(&body).contains(&"1");
        if is_whole { Ok(()) } else { Err((status, body)) }
    })
    .await;
    begun.elapsed()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_remaining_parts_answer_and_name_the_missing_part() {
    let Some(mut servers) = Servers::start().await.unwrap() else {
        return;
    };
    let mut running = Running::distributed(&servers, &[]).await.unwrap();
    let api = running.api.clone();
    assert_eq!(api.put("/spaces/talk").await.0, 201);
    let watermark = api.send_records("talk", &sample_talk()).await;
    api.wait_until_written("talk", &watermark).await;
    wait_until_recovered(&api).await;

    servers.qdrant.stop_listening().await.unwrap();
    for _ in 0..6 {
        let (body, degraded_text) = ask_degraded(&api).await;
        assert!(degraded_text.contains("index"), "{body}");
        assert!(!cited_ids(&body).is_empty(), "{body}");
    }
    servers.qdrant.listen_again().unwrap();
    println!("qdrant back: {:?} until whole", wait_until_recovered(&api).await);

    servers.qdrant.delay(DELAY);
    let (body, degraded_text) = ask_degraded(&api).await;
    assert!(degraded_text.contains("index"), "{body}");
    servers.qdrant.delay(Duration::ZERO);
    println!("qdrant quick again: {:?} until whole", wait_until_recovered(&api).await);

    servers.neo4j.kill().unwrap();
    for _ in 0..6 {
        let response = ask_question(&api).await;
        match response.status().as_u16() {
            200 => {
                let body: Value = response.json().await.unwrap();
                let degraded_text = body["degraded"].to_string();
                assert!(
                    degraded_text.contains("graph") && degraded_text.contains("metadata: the store of the records"),
                    "{body}"
                );
                assert_eq!(body["pack"]["metadata"], Value::Null);
            }
            status => {
                assert_eq!(status, 503);
                assert!(response.headers().contains_key("retry-after"));
            }
        }
    }
    servers.neo4j.restart().await.unwrap();
    println!("neo4j back: {:?} until whole", wait_until_recovered(&api).await);

    servers.nats.kill();
    for _ in 0..6 {
        expect_refusal(&api).await;
    }
    refused_write(&api).await;
    servers.nats.restart();
    println!("nats back: {:?} until whole", wait_until_recovered(&api).await);

    running.stop("reader").await.unwrap();
    let (body, degraded_text) = ask_degraded(&api).await;
    assert!(degraded_text.contains("reader"), "{body}");
    assert!(cited_ids(&body).contains(&"1"), "{body}");
    running.stop("router").await.unwrap();
    expect_refusal(&api).await;
    running.end().await.unwrap();
}

/// Records that were accepted while a store was away are written when it is back, without a dead letter.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn records_accepted_during_an_outage_are_written_later() {
    let Some(mut servers) = Servers::start().await.unwrap() else {
        return;
    };
    let attempts = ("consumer.attempts_max".to_owned(), "5".to_owned());
    let running = Running::distributed(&servers, &[attempts]).await.unwrap();
    let api = running.api.clone();
    assert_eq!(api.put("/spaces/talk").await.0, 201);
    servers.qdrant.stop_listening().await.unwrap();
    let watermark = api.send_records("talk", &sample_talk()).await;
    // This is longer than all attempts of a message take.
    tokio::time::sleep(Duration::from_secs(12)).await;
    let (_, progress) = api.get(&format!("/spaces/talk/progress?watermark={watermark}")).await;
    assert_eq!(progress["written"], json!(false), "{progress}");
    servers.qdrant.listen_again().unwrap();
    let begun = Instant::now();
    api.wait_until_written("talk", &watermark).await;
    println!("qdrant back: {:?} until the write is searchable", begun.elapsed());
    assert_eq!(api.get("/admin/dead-letters").await.1["items"], json!([]));
    running.end().await.unwrap();
}

/// A process that starts before its servers waits for them and names them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_that_starts_without_its_server_waits_for_it() {
    let Some(mut servers) = Servers::start().await.unwrap() else {
        return;
    };
    let settings = servers.settings();
    let running = Running::start_with_servers(&settings).await.unwrap();
    running.end().await.unwrap();
    servers.qdrant.stop_listening().await.unwrap();
    let begun = tokio::spawn(async move { Running::start_services(&settings).await.unwrap() });
    let running = begun.await.unwrap();
    wait_until("only qdrant is missing", async || {
        let missing = running.missing();
        !missing.is_empty() && missing.iter().all(|it| it.starts_with("qdrant: "))
    })
    .await;
    servers.qdrant.listen_again().unwrap();
    running.wait_until_ready().await.unwrap();
    running.end().await.unwrap();
}
