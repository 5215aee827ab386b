//! Checks of language models by `mnemic doctor`.

use std::time::Duration;

use domain::port::ModelRole;
use system::running::processes::run_mnemic;
use system::servers::chat::{KEY, MODEL, ScriptedReply, Server};

use super::text_reply;

const RIGHT: &str = "{\"answer\": \"Pixel\", \"lines\": [1]}";

/// Runs the doctor with these settings on a missing folder. Returns its exit code and its lines about models.
fn run_doctor(settings: &[(String, String)]) -> (Option<i32>, Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("none");
    let nobody = "http://127.0.0.1:1";
    let arguments = ["doctor", "--url", nobody, "--data", data.to_str().unwrap()];
    let (code, output) = run_mnemic(settings, &arguments).unwrap();
    assert!(!output.contains(KEY), "{output}");
    let lines = output
        .lines()
        .filter(|it| it.split_whitespace().nth(1) == Some("model"));
    (code, lines.map(str::to_owned).collect())
}

/// Returns the settings of a server with one setting changed.
fn settings_with(server: &Server, key: &str, value: &str) -> Vec<(String, String)> {
    let mut settings = server.settings();
    settings.retain(|(known, _)| known != &format!("language_model.{key}"));
    settings.push((format!("language_model.{key}"), value.to_owned()));
    settings
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn roles_with_the_same_settings_are_checked_with_one_call() {
    let (code, lines) = run_doctor(&[]);
    assert_eq!((code, lines), (Some(0), vec![]), "no model is set up");

    let server = Server::start().await.unwrap();
    server.script_replies([text_reply(RIGHT)]);
    let (code, lines) = run_doctor(&server.settings());
    let roles = ModelRole::ALL.map(ModelRole::name).join(", ");
    assert_eq!((code, lines.len()), (Some(0), 1), "{lines:?}");
    let expected = format!("{roles} (same settings: one call for all): {MODEL} at http://");
    assert!(lines[0].starts_with("ok ") && lines[0].contains(&expected), "{lines:?}");
    assert!(lines[0].contains(" ms (321 + 12 tokens)"), "{lines:?}");
    let request = server.script().requests.pop().unwrap();
    assert_eq!(request["response_format"]["type"], "json_schema", "{request}");

    // A role with its own model is checked separately.
    server.script_replies([text_reply(RIGHT)]);
    let (code, lines) = run_doctor(&settings_with(&server, "roles.rank.model", "macaw"));
    assert_eq!((code, lines.len()), (Some(3), 2), "{lines:?}");
    let of_rank = lines.iter().find(|it| it.contains("rank: macaw at")).unwrap();
    assert!(
        of_rank.starts_with("wrong ") && of_rank.contains("404: check `url` and `model`"),
        "{lines:?}"
    );
    assert_eq!(lines.iter().filter(|it| it.starts_with("ok ")).count(), 1, "{lines:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_doctor_names_a_failing_model_and_the_remedy() {
    let server = Server::start().await.unwrap();
    for (reply, mark, expected) in [
        (
            ScriptedReply::Status(503),
            "wrong",
            "answers 503: check the log of the endpoint",
        ),
        (ScriptedReply::Status(400), "wrong", "check `parameters` and `schema`"),
        (
            text_reply("It is Pixel."),
            "wrong",
            "though its schema was sent: use a model",
        ),
        (
            ScriptedReply::Cut("{\"answer\": \"Pi".to_owned()),
            "wrong",
            "`max_tokens` in `parameters`",
        ),
        (text_reply(&format!("Sure! {RIGHT}")), "look", "ignores the schema"),
        (
            text_reply("{\"answer\": \"Ben\", \"lines\": [2]}"),
            "look",
            "use a better model",
        ),
    ] {
        server.script_replies([reply]);
        let (code, lines) = run_doctor(&server.settings());
        assert_eq!(
            (code, lines.len()),
            (Some(if mark == "wrong" { 3 } else { 0 }), 1),
            "{lines:?}"
        );
        assert!(lines[0].starts_with(mark) && lines[0].contains(expected), "{lines:?}");
    }
    // Text around the object is accepted if no schema was sent.
    server.script_replies([text_reply(&format!("Sure! {RIGHT}"))]);
    let (_, lines) = run_doctor(&settings_with(&server, "schema", "false"));
    assert!(lines[0].starts_with("ok "), "{lines:?}");

    server.script_replies([ScriptedReply::Nothing(Duration::from_secs(9))]);
    for (key, value, expected) in [
        ("timeout_secs", "1", "no reply within 1 s: raise `timeout_secs`"),
        ("key", "wrong", "answers 401: check `key`"),
        ("model", "macaw", "answers 404: check `url` and `model`"),
        ("url", "http://127.0.0.1:1/v1", "does not answer"),
        ("url", "ftp://127.0.0.1/v1", "`url` must start with http:// or https://"),
        ("schema", "perhaps", "language_model"),
    ] {
        let (code, lines) = run_doctor(&settings_with(&server, key, value));
        assert_eq!(code, Some(3), "{lines:?}");
        assert!(
            lines[0].starts_with("wrong ") && lines[0].contains(expected),
            "{lines:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_endpoint_is_checked_when_calls_are_replayed() {
    let server = Server::start().await.unwrap();
    let (code, lines) = run_doctor(&settings_with(&server, "replay", "/tmp/calls.jsonl"));
    assert_eq!((code, lines.len()), (Some(0), 1), "{lines:?}");
    assert!(
        lines[0].starts_with("skipped ") && lines[0].contains("replayed from /tmp/calls.jsonl"),
        "{lines:?}"
    );
    assert!(server.script().requests.is_empty());
}
