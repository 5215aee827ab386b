//! Captions of pictures by a language model over HTTP.

use fixtures::{wait_for, wait_until};
use serde_json::{Value, json};
use system::running::Running;
use system::running::api::Api;
use system::servers::chat::{ScriptedReply, Server};

use super::erasing::{check_first_erasure, erase_record};
use super::text_reply;
use crate::distributed::shared_servers;

const PIXEL: &str = "data:image/gif;base64,R0lGODlhAQABAAAAACw=";
const FERN: &str = "A tall fern in a turquoise pot on a balcony.";

/// Returns settings with which pictures are described immediately and no session counts as ended.
fn picture_settings(server: &Server) -> Vec<(String, String)> {
    let own = [
        ("writer.readings.delay_seconds", "0"),
        ("writer.pictures.enabled", "true"),
    ];
    let own = own.map(|(key, value)| (key.to_owned(), value.to_owned()));
    server.settings().into_iter().chain(own).collect()
}

async fn list_captions(api: &Api) -> Vec<String> {
    let units = api.list("/spaces/album/units").await;
    let turns = units.iter().filter(|it| it["grain"] == "turn");
    turns
        .map(|it| it["caption"].as_str().unwrap_or_default().to_owned())
        .collect()
}

/// Waits until a unit has a caption that contains a word.
async fn wait_for_caption(api: &Api, word: &str) {
    wait_for(&format!("a caption contains {word}"), async || {
        let captions = list_captions(api).await;
        let is_there = captions.iter().any(|it| it.contains(word));
        if is_there { Ok(()) } else { Err(captions) }
    })
    .await;
}

async fn check_deployment(running: Running, server: &Server) {
    let api = &running.api;
    server.script().requests.clear();
    server.script_replies([text_reply(&json!({ "caption": FERN }).to_string())]);
    assert_eq!(api.put("/spaces/album").await.0, 201);
    let record = |id: &str, uri: &str, caption: Value| {
        json!({ "id": id, "session": "album", "actor": "Ines", "text": "Look!", "image_uri": uri,
            "image_caption": caption, "observed_at": format!("2026-04-01T18:0{id}:00Z") })
    };
    let records = json!([
        record("1", PIXEL, Value::Null),
        record("2", PIXEL, json!("my red canoe")),
        record("3", "http://169.254.169.254/latest/meta-data", Value::Null),
    ]);
    let watermark = api.send_records("album", &records).await;
    api.wait_until_written("album", &watermark).await;
    wait_for_caption(api, "turquoise").await;

    let (_, page) = api.get("/spaces/album/readings").await;
    let items = page["items"].as_array().unwrap();
    assert_eq!(items.len(), 2, "{page}");
    assert!(items.iter().all(|it| it["kind"] == "picture"), "{page}");
    let failed = items.iter().find(|it| it["state"] == "failed").unwrap();
    assert!(failed["reason"].as_str().unwrap().contains("hosts"), "{failed}");
    assert_eq!(server.script().requests.len(), 1);
    // The index may get the caption later than the list of units.
    let question = json!({ "question": "Where is the turquoise pot?", "budget": { "ms": 20_000 } });
    wait_for("the caption is found", async || {
        let (_, found) = api.post("/spaces/album/query", &question).await;
        let is_found = found.to_string().contains("turquoise pot on a balcony");
        if is_found { Ok(()) } else { Err(found) }
    })
    .await;

    // A rebuild makes no call and gives the same captions.
    let before = list_captions(api).await;
    let (status, body) = api.post("/spaces/album/rebuild", &json!({})).await;
    assert_eq!(status, 202, "{body}");
    let state = async || api.get("/spaces/album/rebuild").await.1["state"].clone();
    wait_until("the space is rebuilt", async || state().await != "running").await;
    assert_eq!(list_captions(api).await, before);
    assert_eq!(server.script().requests.len(), 1);

    erase_record(api, "album", "1").await;
    assert!(!list_captions(api).await.iter().any(|it| it.contains("turquoise")));
    check_first_erasure(api, "album").await;
    running.end().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_describes_pictures_standalone() {
    let server = Server::start().await.unwrap();
    let dir = tempfile::tempdir().unwrap();
    let running = Running::standalone(dir.path(), &picture_settings(&server))
        .await
        .unwrap();
    check_deployment(running, &server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_describes_pictures_distributed() {
    let Some(servers) = shared_servers().await else { return };
    let server = Server::start().await.unwrap();
    let running = Running::distributed(servers, &picture_settings(&server)).await.unwrap();
    check_deployment(running, &server).await;
}

/// If an endpoint's model does not accept pictures, the reading fails and the picture has no caption.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_without_picture_support_gives_no_caption() {
    let server = Server::start().await.unwrap();
    let dir = tempfile::tempdir().unwrap();
    let running = Running::standalone(dir.path(), &picture_settings(&server))
        .await
        .unwrap();
    let api = &running.api;
    server.script_replies([ScriptedReply::Status(400)]);
    assert_eq!(api.put("/spaces/album").await.0, 201);
    let record = json!([{ "id": "1", "actor": "Ines", "text": "Look!", "image_uri": PIXEL }]);
    let watermark = api.send_records("album", &record).await;
    api.wait_until_written("album", &watermark).await;
    let failed = async || api.get("/spaces/album/readings").await.1["summary"]["failed"].clone();
    wait_until("the reading has failed", async || failed().await == 1).await;
    assert_eq!(list_captions(api).await, [""]);
    running.end().await.unwrap();
}
