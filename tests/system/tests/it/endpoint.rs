//! A memory that embeds with a model over HTTP.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use adapters::Embedded;
use adapters::models::endpoint::EndpointError;
use adapters::models::endpoint::embeddings::{Embeddings, Options};
use domain::port::Embedder;
use domain::{Classify, ErrorKind};
use fixtures::{wait_for, wait_until};
use serde_json::{Value, json};
use system::conformance::{Ports, test_options};
use system::running::Running;
use system::running::api::Api;
use system::running::processes::run_mnemic;
use system::servers::embeddings::{KEY, Server};

use crate::distributed::{cited_ids, sample_talk, shared_servers};

async fn open_ports(dir: &Path, options_of_server: &Options) -> Ports {
    let endpoint = Arc::new(Embeddings::connect(options_of_server).await.unwrap());
    Ports::of(Embedded::open_with(dir, test_options(), endpoint).await.unwrap())
}

macro_rules! run {
    ($promise:path) => {
        let server = super::Server::start().await.unwrap();
        let dir = tempfile::tempdir().unwrap();
        $promise(async || super::open_ports(dir.path(), &server.options()).await).await;
    };
}

system::promises! { run: embedder }

async fn connect_and_fail(options: &Options) -> EndpointError {
    Embeddings::connect(options).await.map(drop).unwrap_err()
}

fn error_chain(error: &dyn Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", error_chain(source)),
        None => error.to_string(),
    }
}

#[tokio::test]
async fn texts_and_questions_are_sent_with_their_prefixes() {
    let server = Server::start().await.unwrap();
    let plain = Embeddings::connect(&server.options()).await.unwrap();
    let options = Options {
        before_text: "text: ".to_owned(),
        before_question: "question: ".to_owned(),
        texts_max: 2,
        ..server.options()
    };
    let endpoint = Embeddings::connect(&options).await.unwrap();
    assert_ne!(plain.model(), endpoint.model(), "their vectors differ");
    server.script().texts.clear();
    let texts = ["a fern", "…", "a cat", "a dog"].map(str::to_owned);
    let vectors = endpoint.embed(&texts).await.unwrap();
    endpoint.embed_question("Which pet?").await.unwrap();
    assert!(vectors[1].iter().all(|it| *it == 0.0));
    let script: Vec<Vec<String>> = server.script().texts.drain(..).collect();
    assert_eq!(
        script,
        [
            vec!["text: a fern", "text: a cat"],
            vec!["text: a dog"],
            vec!["question: Which pet?"]
        ]
    );
}

#[tokio::test]
async fn the_start_reports_the_fault_of_an_endpoint() {
    let server = Server::start().await.unwrap();
    let with = |change: fn(&mut Options)| {
        let mut options = server.options();
        change(&mut options);
        options
    };
    for (change, starting, expected) in [
        (
            (|it| it.url = "http://127.0.0.1:1/v1".to_owned()) as fn(&mut Options),
            true,
            "does not answer",
        ),
        (|it| it.key = "geheim".into(), false, "answers 401"),
        (|it| it.model = "other".to_owned(), false, "answers 404"),
        (|it| it.model.clear(), false, "`model` is missing"),
        (
            |it| it.url = "http://me:geheim@localhost/v1".to_owned(),
            false,
            "must not contain credentials",
        ),
        (|it| it.url = "localhost:11434".to_owned(), false, "http:// or https://"),
        (
            |it| it.url = "https://localhost/v1".to_owned(),
            false,
            "--features https",
        ),
    ] {
        let error = connect_and_fail(&with(change)).await;
        let error_text = format!("{} {error:?}", error_chain(&error));
        assert!(
            error_text.contains(expected) && !error_text.contains(KEY) && !error_text.contains("geheim"),
            "{error_text}"
        );
        assert_eq!(error.may_be_starting(), starting, "{error_text}");
    }
    for (body, expected) in [
        (json!({ "data": [] }), "0 vectors for 1 texts"),
        (
            json!({ "data": [{ "index": 0, "embedding": [] }] }),
            "0 values instead of 1",
        ),
        (json!({ "embeddings": [[0.5]] }), "does not have the expected form"),
    ] {
        server.script().body = Some(body);
        let error_text = error_chain(&connect_and_fail(&server.options()).await);
        assert!(error_text.contains(expected), "{error_text}");
    }
}

#[tokio::test]
async fn an_endpoint_error_is_classified_and_contains_no_text() {
    let server = Server::start().await.unwrap();
    let endpoint = Embeddings::connect(&server.options()).await.unwrap();
    for (status, expected) in [
        (400, ErrorKind::Invalid),
        (401, ErrorKind::Unavailable),
        (404, ErrorKind::Unavailable),
        (413, ErrorKind::Invalid),
        (429, ErrorKind::Unavailable),
        (503, ErrorKind::Unavailable),
    ] {
        server.script().status = Some(status);
        let error = endpoint.embed(&["my secret fern".to_owned()]).await.unwrap_err();
        assert_eq!(error.kind(), expected, "{status}");
        let error_text = error_chain(&error);
        assert!(
            error_text.contains(&status.to_string()) && !error_text.contains("fern"),
            "{error_text}"
        );
    }
    server.script().status = None;
    server.script().body = Some(json!({ "data": [{ "index": 0, "embedding": [1.0, 0.0] }] }));
    let error = endpoint.embed(&["a fern".to_owned()]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "another model behind the name");
}

/// Asks a question that sees everything that was stored before it, because it waits for a write.
async fn ask_question(api: &Api, after: &str) -> Value {
    let question = json!({ "question": "What did Omar repair with his father?", "metadata": true, "after": after,
        "budget": { "tokens": 40, "ms": 10_000 } });
    let (status, body) = api.post("/spaces/talk/query", &question).await;
    assert_eq!(status, 200, "{body}");
    body
}

/// Returns the missing parts of an answer without batches that wait for the writer; such a batch may contain a text
/// that cannot be embedded.
fn not_of_writer(body: &Value) -> Vec<&str> {
    let all = body["degraded"].as_array().unwrap().iter();
    all.map(|it| it.as_str().unwrap())
        .filter(|it| !it.starts_with("writer: "))
        .collect()
}

/// Simulates an outage that is longer than all attempts of a message. Nothing is lost or given up, and in the meantime
/// answers are found by words.
async fn outlives_an_outage(server: &Server, running: &Running) {
    let api = &running.api;
    assert_eq!(api.put("/spaces/talk").await.0, 201);
    let before = api.send_records("talk", &sample_talk()).await;
    api.wait_until_written("talk", &before).await;
    let body = ask_question(api, &before).await;
    assert_eq!(
        (&body["degraded"], &body["weights"]),
        (&json!([]), &json!("corpus-6-encoder"))
    );

    server.script().status = Some(503);
    let late = json!([{ "id": "late", "session": "2026-04-01", "actor": "Omar", "observed_at": "2026-04-01T18:00:00Z",
        "text": "The canoe floats again, we paddled it to the island." }]);
    let watermark = api.send_records("talk", &late).await;
    let begun = Instant::now();
    let body = loop {
        let body = ask_question(api, &before).await;
        if begun.elapsed() > Duration::from_secs(6) {
            break body;
        }
    };
    assert!(cited_ids(&body).contains(&"4"), "{body}");
    assert_eq!(not_of_writer(&body), ["embedder is not available"], "{body}");
    assert_eq!(
        body["degraded"].as_array().unwrap().len(),
        2,
        "the late record waits: {body}"
    );
    let (_, progress) = api.get(&format!("/spaces/talk/progress?watermark={watermark}")).await;
    assert_eq!(progress["written"], json!(false), "{progress}");

    server.script().status = None;
    api.wait_until_written("talk", &watermark).await;
    // After a failure, the router does not call the endpoint for a pause.
    wait_until("the endpoint answers again", async || {
        ask_question(api, &before).await["degraded"] == json!([])
    })
    .await;
    let (_, letters) = api.get("/admin/dead-letters").await;
    assert_eq!(letters["items"], json!([]), "{letters}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_memory_survives_an_outage_of_its_endpoint() {
    let server = Server::start().await.unwrap();
    let mut settings = server.settings();
    settings.push(("consumer.attempts_max".to_owned(), "2".to_owned()));
    let dir = tempfile::tempdir().unwrap();
    let standalone = Running::standalone(dir.path(), &settings).await.unwrap();
    outlives_an_outage(&server, &standalone).await;
    standalone.end().await.unwrap();

    let Some(servers) = shared_servers().await else { return };
    let distributed = Running::distributed(servers, &settings).await.unwrap();
    outlives_an_outage(&server, &distributed).await;
    distributed.end().await.unwrap();
}

/// A text on which the endpoint fails is given up after all attempts. In the meantime, other texts are embedded and
/// questions are answered.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_text_on_which_the_endpoint_fails_is_given_up() {
    let server = Server::start().await.unwrap();
    let mut settings = server.settings();
    settings.push(("consumer.attempts_max".to_owned(), "3".to_owned()));
    let dir = tempfile::tempdir().unwrap();
    let running = Running::standalone(dir.path(), &settings).await.unwrap();
    let api = &running.api;
    assert_eq!(api.put("/spaces/talk").await.0, 201);
    server.script().poison = Some("xyzzy".to_owned());
    let record = |id: &str, text: &str| json!([{ "id": id, "session": "s", "actor": "Omar", "observed_at": "2026-04-01T18:00:00Z", "text": text }]);
    api.send_records("talk", &record("poison", "The word is xyzzy, I found it on a wall."))
        .await;
    let mut watermark = String::new();
    for number in 0..3 {
        let text = format!("I repaired the canoe number {number} with my father.");
        watermark = api.send_records("talk", &record(&number.to_string(), &text)).await;
        api.wait_until_written("talk", &watermark).await;
        let body = ask_question(api, &watermark).await;
        assert!(not_of_writer(&body).is_empty(), "{body}");
    }
    let letters = wait_for("the message is given up", async || {
        let (_, letters) = api.get("/admin/dead-letters").await;
        if letters["items"] == json!([]) {
            Err(letters)
        } else {
            Ok(letters)
        }
    })
    .await;
    assert_eq!(letters["items"][0]["attempts"], json!(3), "{letters}");
    assert_eq!(
        letters["items"][0]["subject"],
        json!("records-accepted.v1"),
        "{letters}"
    );
    let body = ask_question(api, &watermark).await;
    assert_eq!(body["degraded"], json!([]), "nothing waits any more");
    running.end().await.unwrap();
}

#[tokio::test]
async fn an_encoder_and_an_endpoint_exclude_each_other() {
    let server = Server::start().await.unwrap();
    let dir = tempfile::tempdir().unwrap();
    let mut settings = server.settings();
    settings.push(("backends.dir".to_owned(), dir.path().display().to_string()));
    settings.push(("backends.encoder".to_owned(), "folder".to_owned()));
    let (code, error_text) = run_mnemic(&settings, &["serve"]).unwrap();
    assert!(
        code != Some(0) && error_text.contains("exclude each other"),
        "{error_text}"
    );
    let (_, error_text) = run_mnemic(&settings, &["config"]).unwrap();
    assert!(
        error_text.contains("[embeddings]") && !error_text.contains(KEY),
        "{error_text}"
    );
}
