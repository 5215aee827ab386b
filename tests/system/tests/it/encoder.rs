//! A memory that embeds with a sentence encoder, in both deployment modes.

use std::path::Path;

use adapters::Embedded;
use serde_json::json;
use system::conformance::{Ports, options};
use system::encoder::folder;
use system::running::Running;
use system::running::api::Api;
use system::running::processes::mnemic;

use crate::distributed::{cited, shared, talk};

/// A question that has no word in common with its evidence.
const QUESTION: &str = "Which pet does she have?";

async fn open(dir: &Path, encoder: &Path) -> Ports {
    let embedder = adapters::embedder(encoder).unwrap();
    Ports::of(Embedded::open_with(dir, options(), embedder).await.unwrap())
}

macro_rules! run {
    ($promise:path) => {
        let Some(encoder) = system::encoder::folder() else {
            return;
        };
        let dir = tempfile::tempdir().unwrap();
        $promise(async || super::open(dir.path(), &encoder).await).await;
    };
}

system::promises! { run: embedder }

fn settings(encoder: &Path) -> Vec<(String, String)> {
    vec![("backends.encoder".to_owned(), encoder.display().to_string())]
}

async fn asked(api: &Api) -> String {
    let body =
        json!({ "question": QUESTION, "explain": 1, "metadata": true, "budget": { "tokens": 30, "ms": 20_000 } });
    let (status, body) = api.post("/spaces/talk/query", &body).await;
    assert_eq!(status, 200, "{body}");
    assert_eq!(cited(&body)[0], "1", "{body}");
    assert_eq!(
        (&body["degraded"], &body["weights"]),
        (&json!([]), &json!("corpus-6-encoder"))
    );
    body["pack"].to_string()
}

async fn told(api: &Api) {
    assert_eq!(api.put("/spaces/talk").await.0, 201);
    api.accepted("talk", &talk()).await;
    api.settled("talk").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_in_other_words_finds_its_evidence() {
    let Some(encoder) = folder() else { return };
    let dir = tempfile::tempdir().unwrap();
    let standalone = Running::standalone(dir.path(), &settings(&encoder)).await.unwrap();
    told(&standalone.api).await;
    let pack = asked(&standalone.api).await;
    standalone.end().await.unwrap();
    let again = Running::standalone(dir.path(), &settings(&encoder)).await.unwrap();
    assert_eq!(asked(&again.api).await, pack, "after a restart");
    again.end().await.unwrap();

    let Some(servers) = shared().await else { return };
    let mut all = servers.settings();
    let without = Running::over(&all).await.unwrap();
    told(&without.api).await;
    without.end().await.unwrap();
    all.extend(settings(&encoder));
    let distributed = Running::over(&all).await.unwrap();
    let (code, said) = mnemic(&all, &["doctor", "--url", &distributed.api.base, "--repair"]).unwrap();
    assert!(said.contains("units without all their vectors: 6"), "{code:?}: {said}");
    assert_eq!(asked(&distributed.api).await, pack, "over servers, embedded anew");
    distributed.end().await.unwrap();
}

#[tokio::test]
async fn vectors_of_two_models_are_never_mixed() {
    let Some(encoder) = folder() else { return };
    let dir = tempfile::tempdir().unwrap();
    let embedder = adapters::embedder(&encoder).unwrap();
    let model = embedder.model().to_owned();
    let running = Running::standalone(dir.path(), &settings(&encoder)).await.unwrap();
    told(&running.api).await;
    running.end().await.unwrap();

    let data = [("backends.dir".to_owned(), dir.path().display().to_string())];
    let (code, said) = mnemic(&data, &["serve"]).unwrap();
    assert!(
        code != Some(0) && said.contains(&model) && said.contains("mnemic doctor --repair"),
        "{said}"
    );
    let doctor = ["doctor", "--url", "http://127.0.0.1:1"];
    let (code, said) = mnemic(&data, &doctor).unwrap();
    assert_eq!(code, Some(3), "alone it changes nothing: {said}");
    let (code, said) = mnemic(&data, &[&doctor[..], &["--repair"]].concat()).unwrap();
    assert!(
        code == Some(0) && said.contains(&model) && said.contains("units without all their vectors: 6"),
        "{said}"
    );
    let (code, said) = mnemic(&data, &doctor).unwrap();
    assert!(code == Some(0) && said.contains("6 turn units, 6 points"), "{said}");
}

#[test]
fn the_error_about_a_folder_without_an_encoder_names_the_missing_file() {
    let dir = tempfile::tempdir().unwrap();
    let said = |dir: &Path| adapters::embedder(dir).map(drop).unwrap_err().to_string();
    assert!(said(dir.path()).contains("model.onnx"), "{}", said(dir.path()));
    std::fs::write(dir.path().join("model.onnx"), "no model").unwrap();
    assert!(said(dir.path()).contains("tokenizer.json"), "{}", said(dir.path()));
    std::fs::write(dir.path().join("tokenizer.json"), "{}").unwrap();
    let pooling = dir.path().join("1_Pooling");
    std::fs::create_dir(&pooling).unwrap();
    let lasts = r#"{"word_embedding_dimension": 4, "pooling_mode_mean_tokens": false, "pooling_mode_lasttoken": true}"#;
    std::fs::write(pooling.join("config.json"), lasts).unwrap();
    assert!(said(dir.path()).contains("1_Pooling"), "{}", said(dir.path()));
    std::fs::remove_dir_all(&pooling).unwrap();
    assert!(said(dir.path()).contains("model.onnx"), "{}", said(dir.path()));
}
