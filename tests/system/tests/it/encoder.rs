//! A memory that embeds with a sentence encoder, in both deployment modes.

use std::path::Path;

use adapters::Embedded;
use fixtures::wait_for;
use serde_json::json;
use system::conformance::{Ports, test_options};
use system::encoder::encoder_folder;
use system::running::Running;
use system::running::api::Api;
use system::running::processes::run_mnemic;

use crate::distributed::{cited_ids, sample_talk, shared_servers};

/// A question that has no word in common with its evidence.
const QUESTION: &str = "Which pet does she have?";

async fn open_ports(dir: &Path, encoder: &Path) -> Ports {
    let embedder = adapters::open_embedder(encoder).unwrap();
    Ports::of(Embedded::open_with(dir, test_options(), embedder).await.unwrap())
}

macro_rules! run {
    ($promise:path) => {
        let Some(encoder) = system::encoder::encoder_folder() else {
            return;
        };
        let dir = tempfile::tempdir().unwrap();
        $promise(async || super::open_ports(dir.path(), &encoder).await).await;
    };
}

system::promises! { run: embedder }

fn encoder_settings(encoder: &Path) -> Vec<(String, String)> {
    vec![("backends.encoder".to_owned(), encoder.display().to_string())]
}

async fn ask_question(api: &Api) -> String {
    let body =
        json!({ "question": QUESTION, "explain": 1, "metadata": true, "budget": { "tokens": 30, "ms": 20_000 } });
    let (status, body) = api.post("/spaces/talk/query", &body).await;
    assert_eq!(status, 200, "{body}");
    assert_eq!(cited_ids(&body)[0], "1", "{body}");
    assert_eq!(
        (&body["degraded"], &body["weights"]),
        (&json!([]), &json!("corpus-6-encoder"))
    );
    body["pack"].to_string()
}

async fn send_conversation(api: &Api) {
    assert_eq!(api.put("/spaces/talk").await.0, 201);
    api.send_records("talk", &sample_talk()).await;
    api.wait_until_settled("talk").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_in_other_words_finds_its_evidence() {
    let Some(encoder) = encoder_folder() else { return };
    let dir = tempfile::tempdir().unwrap();
    let standalone = Running::standalone(dir.path(), &encoder_settings(&encoder))
        .await
        .unwrap();
    send_conversation(&standalone.api).await;
    let pack = ask_question(&standalone.api).await;
    standalone.end().await.unwrap();
    let again = Running::standalone_again(dir.path(), &encoder_settings(&encoder)).await;
    assert_eq!(ask_question(&again.api).await, pack, "after a restart");
    again.end().await.unwrap();

    let Some(servers) = shared_servers().await else { return };
    let mut all = servers.settings();
    let without = Running::start_with_servers(&all).await.unwrap();
    send_conversation(&without.api).await;
    without.end().await.unwrap();
    all.extend(encoder_settings(&encoder));
    let distributed = Running::start_with_servers(&all).await.unwrap();
    let (code, output) = run_mnemic(&all, &["doctor", "--url", &distributed.api.base, "--repair"]).unwrap();
    assert!(
        output.contains("units without all their vectors: 6"),
        "{code:?}: {output}"
    );
    assert_eq!(
        ask_question(&distributed.api).await,
        pack,
        "over servers, embedded anew"
    );
    distributed.end().await.unwrap();
}

#[tokio::test]
async fn vectors_of_two_models_are_never_mixed() {
    let Some(encoder) = encoder_folder() else { return };
    let dir = tempfile::tempdir().unwrap();
    let embedder = adapters::open_embedder(&encoder).unwrap();
    let model = embedder.model().to_owned();
    let running = Running::standalone(dir.path(), &encoder_settings(&encoder))
        .await
        .unwrap();
    send_conversation(&running.api).await;
    running.end().await.unwrap();

    let data = [("backends.dir".to_owned(), dir.path().display().to_string())];
    // A statement that was running at the end may hold the folder for a moment.
    let (code, output) = wait_for("the folder is free", async || {
        let (code, output) = run_mnemic(&data, &["serve"]).unwrap();
        let is_free = !output.contains("is in use by another mnemic process");
        if is_free { Ok((code, output)) } else { Err(output) }
    })
    .await;
    assert!(
        code != Some(0) && output.contains(&model) && output.contains("mnemic doctor --repair"),
        "{output}"
    );
    let doctor = ["doctor", "--url", "http://127.0.0.1:1"];
    let (code, output) = run_mnemic(&data, &doctor).unwrap();
    assert_eq!(code, Some(3), "alone it changes nothing: {output}");
    let (code, output) = run_mnemic(&data, &[&doctor[..], &["--repair"]].concat()).unwrap();
    assert!(
        code == Some(0) && output.contains(&model) && output.contains("units without all their vectors: 6"),
        "{output}"
    );
    let (code, output) = run_mnemic(&data, &doctor).unwrap();
    assert!(code == Some(0) && output.contains("6 turn units, 6 points"), "{output}");
}

#[test]
fn the_error_about_a_folder_without_an_encoder_names_the_missing_file() {
    let dir = tempfile::tempdir().unwrap();
    let error_text = |dir: &Path| adapters::open_embedder(dir).map(drop).unwrap_err().to_string();
    assert!(
        error_text(dir.path()).contains("model.onnx"),
        "{}",
        error_text(dir.path())
    );
    std::fs::write(dir.path().join("model.onnx"), "no model").unwrap();
    assert!(
        error_text(dir.path()).contains("tokenizer.json"),
        "{}",
        error_text(dir.path())
    );
    std::fs::write(dir.path().join("tokenizer.json"), "{}").unwrap();
    let pooling = dir.path().join("1_Pooling");
    std::fs::create_dir(&pooling).unwrap();
    let lasts = r#"{"word_embedding_dimension": 4, "pooling_mode_mean_tokens": false, "pooling_mode_lasttoken": true}"#;
    std::fs::write(pooling.join("config.json"), lasts).unwrap();
    assert!(
        error_text(dir.path()).contains("1_Pooling"),
        "{}",
        error_text(dir.path())
    );
    std::fs::remove_dir_all(&pooling).unwrap();
    assert!(
        error_text(dir.path()).contains("model.onnx"),
        "{}",
        error_text(dir.path())
    );
}
