//! Readings of sessions by a language model, in both deployment modes.

use fixtures::{wait_for, wait_until};
use serde_json::{Value, json};
use system::running::Running;
use system::running::api::Api;
use system::servers::chat::{ScriptedReply, Server};

use super::erasing::{check_first_erasure, erase_record};
use super::text_reply;
use crate::distributed::shared_servers;

/// A whole session, which counts as ended as soon as it is written.
const TALK: [(&str, &str); 4] = [
    ("Tom", "Did you find a flat in the end?"),
    ("Ines", "Yes, I moved into a loft in Porto last Saturday!"),
    ("Tom", "Great. I sold my canoe to Bruno for 120 euros."),
    ("Ines", "Good for you."),
];
const LOFT: &str = "Ines told Tom that she moved into a loft in Porto last Saturday (28 March 2026).";
const CANOE: &str = "Tom sold his canoe to Bruno for 120 euros.";

/// Returns settings with which a session counts as ended immediately.
pub(super) fn reading_settings(server: &Server) -> Vec<(String, String)> {
    let own = [
        ("writer.readings.quiet_minutes", "0"),
        ("writer.readings.delay_seconds", "0"),
    ];
    let own = own.map(|(key, value)| (key.to_owned(), value.to_owned()));
    server.settings().into_iter().chain(own).collect()
}

fn sample_records(session: &str, day: u32) -> Value {
    let record = |(number, (actor, text)): (usize, &(&str, &str))| {
        json!({ "id": format!("{session}:{number}"), "session": session, "actor": actor, "text": text,
            "observed_at": format!("2026-04-0{day}T18:0{number}:00Z") })
    };
    Value::Array(TALK.iter().enumerate().map(record).collect())
}

/// Returns the model's notes about the conversation. In addition to true entries, they have an invented line, person,
/// quote and relation.
pub(super) fn sample_notes() -> Value {
    json!({
        "gists": [
            { "text": LOFT, "lines": [1, 2], "time": "2026-03-28", "who": ["Ines", "Tom"], "tag": "new home", "cues": ["loft", "Porto"] },
            { "text": CANOE, "lines": [3], "time": null, "who": ["Tom", "Bruno"], "tag": "canoe", "cues": ["canoe"] },
            { "text": "Tom met Esmeralda in Lisbon.", "lines": [3], "time": null, "who": ["Esmeralda"], "tag": "meeting", "cues": [] },
            { "text": "Ines is glad.", "lines": [9], "time": null, "who": ["Ines"], "tag": "mood", "cues": [] }
        ],
        "relations": [{ "from": 2, "to": 1, "kind": "parallel", "lines": [2, 3] }, { "from": 1, "to": 7, "kind": "causes", "lines": [1] }],
        "facts": [
            { "subject": "Ines", "predicate": "lives in", "object": "a loft in Porto", "aspect": "place", "line": 2,
              "quote": "I moved into a loft in Porto", "since": "2026-03-28", "until": null, "holds": true, "negated": false, "sure": "stated" },
            { "subject": "Bruno", "predicate": "owns", "object": "a canoe", "aspect": "possession", "line": 3,
              "quote": "Bruno bought my canoe", "since": null, "until": null, "holds": true, "negated": false, "sure": "stated" }
        ],
        "changes": []
    })
}

/// Waits until the readings of a space satisfy a condition, and returns them.
pub(super) async fn wait_for_readings(api: &Api, space: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    wait_for("the readings are as expected", async || {
        let (status, body) = api.get(&format!("/spaces/{space}/readings")).await;
        assert_eq!(status, 200, "{body}");
        if is_so(&body) { Ok(body) } else { Err(body) }
    })
    .await
}

pub(super) fn is_done(readings: u64) -> impl Fn(&Value) -> bool {
    move |body: &Value| body["summary"]["done"] == readings && body["summary"]["waiting_sessions"] == 0
}

/// Writes a session and waits until it is scheduled to be read, or was read already.
pub(super) async fn write_session(api: &Api, session: &str, day: u32) {
    let watermark = api.send_records("talk", &sample_records(session, day)).await;
    api.wait_until_written("talk", &watermark).await;
    api.wait_until_settled("talk").await;
}

pub(super) async fn list_gists(api: &Api) -> Vec<Value> {
    let mut units = api.list("/spaces/talk/units").await;
    units.retain(|it| it["grain"] == "gist");
    units
}

/// Waits until a space has this number of gists, which are stored after their reading, and returns them.
pub(super) async fn wait_for_gists(api: &Api, count: usize) -> Vec<Value> {
    wait_for(&format!("there are {count} gists"), async || {
        let gists = list_gists(api).await;
        if gists.len() == count { Ok(gists) } else { Err(gists) }
    })
    .await
}

async fn facts_of_the_model(api: &Api) -> Vec<Value> {
    let mut facts = api.list("/spaces/talk/facts").await;
    facts.retain(|it| it["origin"] == "model");
    facts
}

/// The notes are stored, checked against the records, and units and facts are derived from them.
async fn check_reading(server: &Server, api: &Api) {
    assert_eq!(api.put("/spaces/talk").await.0, 201);
    server.script_replies([text_reply(&sample_notes().to_string())]);
    write_session(api, "monday", 1).await;
    let body = wait_for_readings(api, "talk", is_done(1)).await;
    let reading = &body["items"][0];
    assert_eq!(
        reading["records"],
        json!(["monday:0", "monday:1", "monday:2", "monday:3"]),
        "{body}"
    );
    assert_eq!(
        (&reading["state"], &reading["model"]),
        (&json!("done"), &json!("parrot")),
        "{body}"
    );
    let outcome = &reading["outcome"];
    assert_eq!(
        (&outcome["gists"], &outcome["facts"], &outcome["relations"]),
        (&json!(2), &json!(1), &json!(1)),
        "{body}"
    );
    let left_out = outcome["left_out"].to_string();
    for part in ["Esmeralda", "Ines is glad", "owns"] {
        assert!(left_out.contains(part), "{part}: {left_out}");
    }
    assert_eq!(body["summary"]["cost"]["model_calls"], 1, "{body}");

    let gists = wait_for_gists(api, 2).await;
    let texts: Vec<&str> = gists.iter().map(|it| it["text"].as_str().unwrap()).collect();
    assert!(texts.contains(&LOFT) && texts.contains(&CANOE), "{texts:?}");
    api.wait_until_settled("talk").await;
    wait_until("facts are derived", async || !facts_of_the_model(api).await.is_empty()).await;
    let facts = facts_of_the_model(api).await;
    assert_eq!(
        (&facts[0]["subject"], &facts[0]["object"]),
        (&json!("Ines"), &json!("a loft in Porto")),
        "{facts:?}"
    );
}

/// Neither a rebuild nor a restart nor the same records again make another call.
async fn is_asked_once(server: &Server, api: &Api) {
    let calls = server.script().requests.len();
    write_session(api, "monday", 1).await;
    wait_for_readings(api, "talk", is_done(1)).await;
    let (status, body) = api.post("/spaces/talk/rebuild", &json!({})).await;
    assert_eq!(status, 202, "{body}");
    let state = async || api.get("/spaces/talk/rebuild").await.1["state"].clone();
    wait_until("the space is rebuilt", async || state().await != "running").await;
    wait_for_readings(api, "talk", is_done(1)).await;
    assert_eq!(list_gists(api).await.len(), 2);
    assert_eq!(server.script().requests.len(), calls);
}

/// While the model is unavailable, sessions wait. A reply that cannot be read becomes a failed reading, which is not
/// tried again.
async fn check_waiting(server: &Server, api: &Api) {
    let calls = server.script().requests.len();
    server.script_replies([text_reply("I would rather not."), text_reply("No.")]);
    write_session(api, "tuesday", 2).await;
    let body = wait_for_readings(api, "talk", |it| it["summary"]["failed"] == 1).await;
    let failed = body["items"]
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["state"] == "failed")
        .unwrap();
    assert!(
        failed["reason"].as_str().unwrap().contains("cannot be read"),
        "{failed}"
    );
    assert_eq!(server.script().requests.len(), calls + 2, "asked once more");
    server.script_replies([ScriptedReply::Status(503)]);
    write_session(api, "wednesday", 3).await;
    wait_for_readings(api, "talk", |it| it["summary"]["waiting_sessions"] == 1).await;
    assert!(server.script().replies.len() <= 1);
}

/// When a record is erased, all output of the model that is based on that record is removed.
async fn check_forgetting(api: &Api) {
    erase_record(api, "talk", "monday:1").await;
    let (_, page) = api.get("/spaces/talk/readings").await;
    let named = page["items"].to_string();
    assert!(!named.contains("monday"), "{page}");
    assert_eq!(list_gists(api).await, Vec::<Value>::new());
    check_first_erasure(api, "talk").await;
}

async fn check_deployment(running: Running, server: &Server) {
    server.script().requests.clear();
    check_reading(server, &running.api).await;
    is_asked_once(server, &running.api).await;
    check_waiting(server, &running.api).await;
    check_forgetting(&running.api).await;
    server.script().replies.clear();
    running.end().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_reads_the_sessions_of_a_space_standalone() {
    let server = Server::start().await.unwrap();
    let dir = tempfile::tempdir().unwrap();
    check_deployment(
        Running::standalone(dir.path(), &reading_settings(&server))
            .await
            .unwrap(),
        &server,
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_reads_the_sessions_of_a_space_distributed() {
    let Some(servers) = shared_servers().await else { return };
    let server = Server::start().await.unwrap();
    check_deployment(
        Running::distributed(servers, &reading_settings(&server)).await.unwrap(),
        &server,
    )
    .await;
}
