//! A second look at a passage, and replies that are cut off.

use serde_json::{Value, json};
use system::running::Running;
use system::running::api::Api;
use system::servers::chat::{ScriptedReply, Server};

use super::reading::{is_done, reading_settings, sample_notes, wait_for_gists, wait_for_readings, write_session};
use super::text_reply;

fn settings_for_two_replies(server: &Server, further: &[(&str, &str)]) -> Vec<(String, String)> {
    let own = [("writer.readings.thorough", "true")];
    let own = own
        .iter()
        .chain(further)
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    reading_settings(server).into_iter().chain(own).collect()
}

/// Returns the model's notes of the second look: a relation, a fact that was already noted, and a fact that was
/// missed.
fn further_notes() -> Value {
    let canoe = json!({ "subject": "Tom", "predicate": "sold", "object": "canoe to Bruno", "aspect": "possession", "line": 3,
        "quote": "I sold my canoe to Bruno", "since": null, "until": null, "holds": true, "negated": false, "sure": "stated" });
    json!({
        "relations": [{ "from": 1, "to": 2, "kind": "elaborates", "lines": [2, 3] }],
        "facts": [sample_notes()["facts"][0], canoe]
    })
}

/// Returns the only reading of a space when no session waits.
async fn wait_for_reading(api: &Api) -> Value {
    let body = wait_for_readings(api, "talk", is_done(1)).await;
    body["items"][0].clone()
}

fn counts_of_reading(reading: &Value) -> [u64; 4] {
    let of = |name: &str| reading["outcome"][name].as_u64().unwrap();
    let calls = reading["cost"]["model_calls"].as_u64().unwrap();
    [of("gists"), of("facts"), of("relations"), calls]
}

async fn start_standalone(settings: &[(String, String)]) -> (tempfile::TempDir, Running) {
    let dir = tempfile::tempdir().unwrap();
    let running = Running::standalone(dir.path(), settings).await.unwrap();
    assert_eq!(running.api.put("/spaces/talk").await.0, 201);
    (dir, running)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_look_adds_relations_and_facts() {
    let server = Server::start().await.unwrap();
    let (_dir, running) = start_standalone(&settings_for_two_replies(&server, &[])).await;
    server.script_replies([
        text_reply(&sample_notes().to_string()),
        text_reply(&further_notes().to_string()),
    ]);
    write_session(&running.api, "monday", 1).await;
    let reading = wait_for_reading(&running.api).await;
    assert_eq!(counts_of_reading(&reading), [2, 2, 2, 2], "{reading}");
    assert_eq!(reading["prompt"], "read/2");
    let requests = std::mem::take(&mut server.script().requests);
    let shown = requests[1]["messages"][1]["content"].as_str().unwrap();
    for part in [
        "1. Ines told Tom",
        "2. Tom sold his canoe",
        "Ines lives in a loft in Porto",
        "3. [Wed 2026-04-01",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!shown.contains("Esmeralda"), "what does not hold is not shown: {shown}");
    running.end().await.unwrap();
}

/// A reading with one look stays valid when a second look is switched on, and the passage is not read again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_look_applies_only_to_later_readings() {
    let server = Server::start().await.unwrap();
    let (dir, running) = start_standalone(&reading_settings(&server)).await;
    server.script_replies([text_reply(&sample_notes().to_string())]);
    write_session(&running.api, "monday", 1).await;
    let one = wait_for_reading(&running.api).await;
    running.end().await.unwrap();
    let running = Running::standalone_again(dir.path(), &settings_for_two_replies(&server, &[])).await;
    let (status, body) = running
        .api
        .post("/spaces/talk/readings", &json!({ "again": true }))
        .await;
    assert_eq!(status, 202, "{body}");
    assert_eq!(wait_for_reading(&running.api).await, one);
    assert_eq!(server.script().requests.len(), 1);
    running.end().await.unwrap();
}

/// If the budget allows no second look, or its reply cannot be read, the first look counts.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_second_reply_the_first_one_counts() {
    for (further, replies, calls, waits) in [
        (("writer.readings.calls_a_day", "1"), vec![], 1, true),
        (("writer.readings.calls_a_day", "9"), vec![text_reply("No.")], 2, false),
        (
            ("writer.readings.calls_a_day", "9"),
            vec![ScriptedReply::Status(500)],
            2,
            true,
        ),
    ] {
        let server = Server::start().await.unwrap();
        let (_dir, running) = start_standalone(&settings_for_two_replies(&server, &[further])).await;
        server.script_replies([text_reply(&sample_notes().to_string())].into_iter().chain(replies));
        write_session(&running.api, "monday", 1).await;
        let body = wait_for_readings(&running.api, "talk", |it| {
            it["summary"]["done"] == 1 && it["items"][0]["cost"]["model_calls"] == calls
        })
        .await;
        let reading = &body["items"][0];
        assert_eq!(counts_of_reading(reading), [2, 1, 1, calls], "{reading}");
        assert_eq!(reading["outcome"]["waits_for_second_look"] == true, waits, "{reading}");
        let left_out = reading["outcome"]["left_out"].as_array().into_iter().flatten();
        let second: Vec<_> = left_out
            .filter(|it| it["what"] == "the second look at the passage")
            .collect();
        assert_eq!(second.len(), usize::from(!waits), "{reading}");
        let unreadable = |it: &&Value| it["why"].as_str().unwrap().contains("cannot be read");
        assert!(second.iter().all(unreadable), "{reading}");
        wait_for_gists(&running.api, 2).await;
        running.end().await.unwrap();
    }
}

/// The first reply is stored and used meanwhile, and is not requested again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_look_waits_while_the_model_is_unavailable() {
    let server = Server::start().await.unwrap();
    let (_dir, running) = start_standalone(&settings_for_two_replies(&server, &[])).await;
    server.script_replies([text_reply(&sample_notes().to_string())]);
    server.script_replies(std::iter::repeat_with(|| ScriptedReply::Status(503)).take(9));
    write_session(&running.api, "monday", 1).await;
    let waiting = wait_for_readings(&running.api, "talk", |it| {
        it["summary"]["done"] == 1 && it["summary"]["waiting_sessions"] == 1
    });
    let waiting = waiting.await["items"][0].clone();
    assert_eq!(counts_of_reading(&waiting)[..3], [2, 1, 1], "{waiting}");
    assert_eq!(waiting["outcome"]["waits_for_second_look"], true, "{waiting}");
    wait_for_gists(&running.api, 2).await;
    server.script().replies.clear();
    server.script_replies([text_reply(&further_notes().to_string())]);
    let again = json!({ "again": true });
    assert_eq!(running.api.post("/spaces/talk/readings", &again).await.0, 202);
    let body = wait_for_readings(&running.api, "talk", |it| {
        it["items"][0]["outcome"]["relations"] == 2 && it["summary"]["waiting_sessions"] == 0
    })
    .await;
    assert_eq!(counts_of_reading(&body["items"][0])[..3], [2, 2, 2], "{body}");
    let script = server.script().requests.clone();
    let is_first = |it: &&_| !format!("{it:?}").contains("Your gists");
    assert_eq!(script.iter().filter(is_first).count(), 1);
    running.end().await.unwrap();
}

/// The complete items of the reply count, and the model is not asked again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_complete_items_of_a_truncated_reply_are_used() {
    let server = Server::start().await.unwrap();
    let (_dir, running) = start_standalone(&reading_settings(&server)).await;
    let notes = json!({ "gists": sample_notes()["gists"] }).to_string();
    let end = notes.find("Esmeralda").unwrap();
    server.script_replies([ScriptedReply::Cut(notes[..end].to_owned())]);
    write_session(&running.api, "monday", 1).await;
    let reading = wait_for_reading(&running.api).await;
    assert_eq!(counts_of_reading(&reading), [2, 0, 0, 1], "{reading}");
    let left_out = &reading["outcome"]["left_out"][0];
    assert_eq!(left_out["why"], "the reply was cut off here", "{reading}");
    running.end().await.unwrap();
}
