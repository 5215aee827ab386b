//! Judgements of a language model about events, in both deployment modes.

use fixtures::{wait_for, wait_until};
use serde_json::{Value, json};
use system::running::Running;
use system::running::api::Api;
use system::servers::chat::{ScriptedReply, Server};

use super::erasing::{check_first_erasure, erase_record};
use super::text_reply;
use crate::distributed::shared_servers;

const REASON: &str = "Both tell of the walk with Rex around the lake.";

/// Returns settings with which the clusterer calls the model.
fn judging_settings(server: &Server) -> Vec<(String, String)> {
    let own = ("clusterer.readings.enabled".to_owned(), "true".to_owned());
    server.settings().into_iter().chain([own]).collect()
}

/// Returns the same conversation on two days, a week apart. The rules see two events.
fn sample_conversation() -> Value {
    let record = |id: &str, day: &str, actor: &str, text: &str| json!({ "id": id, "session": day, "actor": actor, "observed_at": format!("{day}T10:00:00Z"), "text": text });
    let walk = "We walked with Rex around the lake near Bergen.";
    let swim = "And Rex swam after the ducks for an hour.";
    json!([
        record("1", "2026-03-01", "Ana", walk),
        record("1b", "2026-03-01", "Tom", swim),
        record("2", "2026-03-08", "Ana", walk),
        record("2b", "2026-03-08", "Tom", swim),
    ])
}

fn judgement_reply() -> ScriptedReply {
    let entry =
        json!({ "number": 1, "same_event": true, "has_overlap": true, "relation_type": "none", "reasoning": REASON });
    text_reply(&json!({ "events": [entry] }).to_string())
}

/// Returns the present state of the event that a record opens; null if it does not exist yet.
async fn find_event(api: &Api, record: &str) -> Value {
    let units = api.list("/spaces/talk/units").await;
    let of = |it: &&Value| it["grain"] == "event" && it["external_ids"][0] == record;
    units.iter().find(of).cloned().unwrap_or_default()
}

/// Waits until the event of the second day has a status, and returns it.
async fn again_is(api: &Api, status: &str) -> Value {
    wait_for(&format!("the event is {status}"), async || {
        let event = find_event(api, "2").await;
        if event["status"] == status {
            Ok(event)
        } else {
            Err(event)
        }
    })
    .await
}

/// A pair that the rules leave open is judged once, and shown like a judgement of the rules.
async fn check_judgement(server: &Server, api: &Api) -> Value {
    assert_eq!(api.put("/spaces/talk").await.0, 201);
    server.script_replies([judgement_reply()]);
    let watermark = api.send_records("talk", &sample_conversation()).await;
    api.wait_until_written("talk", &watermark).await;
    let again = again_is(api, "merged").await;
    let first = find_event(api, "1").await;
    assert_eq!(again["merged_into"], first["id"]);
    let absorbed = first["absorbed"][0].clone();
    let reason = absorbed["reason"].as_str().unwrap();
    assert!(reason.contains(REASON.trim_end_matches('.')), "{absorbed}");
    let (status, body) = api.get("/spaces/talk/readings").await;
    assert_eq!(status, 200, "{body}");
    let reading = &body["items"][0];
    assert_eq!(
        (&reading["kind"], &reading["state"], &reading["records"]),
        (&json!("events"), &json!("done"), &json!(["2", "2b"])),
        "{body}"
    );
    assert_eq!(body["summary"]["cost"]["model_calls"], 1, "{body}");
    let shown = server.script().requests[0]["messages"][1]["content"].to_string();
    assert!(
        shown.contains("Earlier event 1:") && shown.contains("swam after the ducks"),
        "{shown}"
    );
    absorbed
}

/// Neither a rebuild nor a curation makes another call.
async fn is_asked_once(server: &Server, api: &Api, absorbed: &Value) {
    let (status, body) = api.post("/spaces/talk/rebuild", &json!({})).await;
    assert_eq!(status, 202, "{body}");
    let state = async || api.get("/spaces/talk/rebuild").await.1["state"].clone();
    wait_until("the space is rebuilt", async || state().await != "running").await;
    again_is(api, "merged").await;
    let act = json!({ "act": { "kind": "undo_merge", "merge": absorbed["merge"] } });
    let (status, curated) = api.post("/spaces/talk/curations", &act).await;
    assert_eq!(status, 202, "{curated}");
    api.wait_until_written("talk", curated["watermark"].as_str().unwrap())
        .await;
    again_is(api, "active").await;
    assert_eq!(server.script().requests.len(), 1);
}

/// The judgement of two events is removed with any of their records.
async fn check_forgetting(api: &Api) {
    erase_record(api, "talk", "1b").await;
    let (_, page) = api.get("/spaces/talk/readings").await;
    assert_eq!(page["items"], json!([]), "{page}");
    check_first_erasure(api, "talk").await;
}

async fn check_deployment(running: Running, server: &Server) {
    server.script().requests.clear();
    let absorbed = check_judgement(server, &running.api).await;
    is_asked_once(server, &running.api, &absorbed).await;
    check_forgetting(&running.api).await;
    running.end().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_judges_events_that_the_rules_leave_open_standalone() {
    let server = Server::start().await.unwrap();
    let dir = tempfile::tempdir().unwrap();
    check_deployment(
        Running::standalone(dir.path(), &judging_settings(&server))
            .await
            .unwrap(),
        &server,
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_judges_events_that_the_rules_leave_open_distributed() {
    let Some(servers) = shared_servers().await else { return };
    let server = Server::start().await.unwrap();
    check_deployment(
        Running::distributed(servers, &judging_settings(&server)).await.unwrap(),
        &server,
    )
    .await;
}
