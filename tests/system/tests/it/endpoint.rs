//! A memory that embeds with a model over HTTP.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use adapters::Embedded;
use adapters::endpoint::EndpointError;
use adapters::endpoint::embeddings::{Embeddings, Options};
use domain::port::Embedder;
use domain::{Classify, ErrorKind};
use serde_json::{Value, json};
use system::conformance::{Ports, options};
use system::running::Running;
use system::running::api::Api;
use system::running::processes::mnemic;
use system::servers::embeddings::{KEY, Server};

use crate::distributed::{cited, shared, talk};

async fn open(dir: &Path, options_of_server: &Options) -> Ports {
    let endpoint = Arc::new(Embeddings::connect(options_of_server).await.unwrap());
    Ports::of(Embedded::open_with(dir, options(), endpoint).await.unwrap())
}

macro_rules! run {
    ($promise:path) => {
        let server = super::Server::start().await.unwrap();
        let dir = tempfile::tempdir().unwrap();
        $promise(async || super::open(dir.path(), &server.options()).await).await;
    };
}

system::promises! { run: embedder }

async fn refused(options: &Options) -> EndpointError {
    Embeddings::connect(options).await.map(drop).unwrap_err()
}

fn told(error: &dyn Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", told(source)),
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
    server.heard().texts.clear();
    let texts = ["a fern", "…", "a cat", "a dog"].map(str::to_owned);
    let vectors = endpoint.embed(&texts).await.unwrap();
    endpoint.embed_question("Which pet?").await.unwrap();
    assert!(vectors[1].iter().all(|it| *it == 0.0));
    let heard: Vec<Vec<String>> = server.heard().texts.drain(..).collect();
    assert_eq!(
        heard,
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
            "no place for credentials",
        ),
        (|it| it.url = "localhost:11434".to_owned(), false, "http:// or https://"),
        (
            |it| it.url = "https://localhost/v1".to_owned(),
            false,
            "--features https",
        ),
    ] {
        let error = refused(&with(change)).await;
        let said = format!("{} {error:?}", told(&error));
        assert!(
            said.contains(expected) && !said.contains(KEY) && !said.contains("geheim"),
            "{said}"
        );
        assert_eq!(error.may_be_starting(), starting, "{said}");
    }
    for (body, expected) in [
        (json!({ "data": [] }), "0 vectors for 1 texts"),
        (
            json!({ "data": [{ "index": 0, "embedding": [] }] }),
            "0 values in place of 1",
        ),
        (json!({ "embeddings": [[0.5]] }), "does not hold what was asked for"),
    ] {
        server.heard().body = Some(body);
        let said = told(&refused(&server.options()).await);
        assert!(said.contains(expected), "{said}");
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
        server.heard().status = Some(status);
        let error = endpoint.embed(&["my secret fern".to_owned()]).await.unwrap_err();
        assert_eq!(error.kind(), expected, "{status}");
        let said = told(&error);
        assert!(said.contains(&status.to_string()) && !said.contains("fern"), "{said}");
    }
    server.heard().status = None;
    server.heard().body = Some(json!({ "data": [{ "index": 0, "embedding": [1.0, 0.0] }] }));
    let error = endpoint.embed(&["a fern".to_owned()]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "another model behind the name");
}

fn question() -> Value {
    json!({ "question": "What did Omar repair with his father?", "metadata": true, "budget": { "tokens": 40, "ms": 10_000 } })
}

async fn asked(api: &Api) -> Value {
    let (status, body) = api.post("/spaces/talk/query", &question()).await;
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
    let before = api.accepted("talk", &talk()).await;
    api.written("talk", &before).await;
    let body = asked(api).await;
    assert_eq!(
        (&body["degraded"], &body["weights"]),
        (&json!([]), &json!("corpus-6-encoder"))
    );

    server.heard().status = Some(503);
    let late = json!([{ "id": "late", "session": "2026-04-01", "actor": "Omar", "observed_at": "2026-04-01T18:00:00Z",
        "text": "The canoe floats again, we paddled it to the island." }]);
    let watermark = api.accepted("talk", &late).await;
    let begun = Instant::now();
    let body = loop {
        let body = asked(api).await;
        if begun.elapsed() > Duration::from_secs(6) {
            break body;
        }
    };
    assert!(cited(&body).contains(&"4"), "{body}");
    assert_eq!(not_of_writer(&body), ["embedder is not available"], "{body}");
    assert_eq!(
        body["degraded"].as_array().unwrap().len(),
        2,
        "the late record waits: {body}"
    );
    let (_, progress) = api.get(&format!("/spaces/talk/progress?watermark={watermark}")).await;
    assert_eq!(progress["written"], json!(false), "{progress}");

    server.heard().status = None;
    api.written("talk", &watermark).await;
    // After a failure, the router does not call the endpoint for a pause.
    let healed = Instant::now();
    while asked(api).await["degraded"] != json!([]) {
        assert!(healed.elapsed() < Duration::from_secs(20), "the endpoint answers again");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
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

    let Some(servers) = shared().await else { return };
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
    server.heard().poison = Some("xyzzy".to_owned());
    let record = |id: &str, text: &str| json!([{ "id": id, "session": "s", "actor": "Omar", "observed_at": "2026-04-01T18:00:00Z", "text": text }]);
    api.accepted("talk", &record("poison", "The word is xyzzy, I found it on a wall."))
        .await;
    for number in 0..3 {
        let text = format!("I repaired the canoe number {number} with my father.");
        let watermark = api.accepted("talk", &record(&number.to_string(), &text)).await;
        api.written("talk", &watermark).await;
        let body = asked(api).await;
        assert!(not_of_writer(&body).is_empty(), "{body}");
    }
    let begun = Instant::now();
    let letters = loop {
        let (_, letters) = api.get("/admin/dead-letters").await;
        if letters["items"] != json!([]) {
            break letters;
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "tried for ever");
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    assert_eq!(letters["items"][0]["attempts"], json!(3), "{letters}");
    assert_eq!(
        letters["items"][0]["subject"],
        json!("records-accepted.v1"),
        "{letters}"
    );
    assert_eq!(asked(api).await["degraded"], json!([]), "nothing waits any more");
    running.end().await.unwrap();
}

#[tokio::test]
async fn an_encoder_and_an_endpoint_exclude_each_other() {
    let server = Server::start().await.unwrap();
    let dir = tempfile::tempdir().unwrap();
    let mut settings = server.settings();
    settings.push(("backends.dir".to_owned(), dir.path().display().to_string()));
    settings.push(("backends.encoder".to_owned(), "folder".to_owned()));
    let (code, said) = mnemic(&settings, &["serve"]).unwrap();
    assert!(code != Some(0) && said.contains("exclude each other"), "{said}");
    let (_, said) = mnemic(&settings, &["config"]).unwrap();
    assert!(said.contains("[embeddings]") && !said.contains(KEY), "{said}");
}
