//! Labels of topics by a language model, and a curation that undoes one.

use fixtures::wait_for;
use serde_json::{Value, json};
use system::running::Running;
use system::running::api::Api;
use system::servers::chat::Server;

use super::text_reply;

const NAME: &str = "walks with Rex";
const SUMMARY: &str = "Ana and Tom walk with Rex around the lake near Bergen.";

/// Returns two alternating conversations, each in four sessions. They make two topics of four events, which the first
/// clustering separates.
fn sample_conversation() -> Value {
    let record = |month: &str, actor: &str, text: &str| {
        let at = format!("{month}-01T10:00:00Z");
        json!({ "id": format!("{month}{actor}"), "session": month, "actor": actor, "observed_at": at, "text": text })
    };
    let talks = |year: u32| {
        let (spring, autumn) = (format!("{year}-03"), format!("{year}-09"));
        [
            record(&spring, "Ana", "We walked with Rex around the lake near Bergen."),
            record(&spring, "Tom", "And Rex swam after the ducks in the lake."),
            record(&autumn, "Ana", "I baked a rye loaf with seeds in the new oven."),
            record(
                &autumn,
                "Tom",
                "The crust of the loaf was dark and the dough rose well.",
            ),
        ]
    };
    (2018..2022).flat_map(talks).collect::<Vec<Value>>().into()
}

/// Waits until a topic satisfies a condition, and returns it.
async fn topic_where(api: &Api, is_so: impl Fn(&Value) -> bool) -> Value {
    wait_for("a topic is as expected", async || {
        let topics = api.list("/spaces/walks/topics").await;
        topics.iter().find(|it| is_so(it)).cloned().ok_or(topics)
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_labels_a_topic_and_a_curation_undoes_the_label() {
    let server = Server::start().await.unwrap();
    let dir = tempfile::tempdir().unwrap();
    let own = [
        ("clusterer.readings.enabled", "true"),
        ("writer.readings.enabled", "false"),
    ];
    let own = own.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let settings: Vec<(String, String)> = server.settings().into_iter().chain(own).collect();
    let running = Running::standalone(dir.path(), &settings).await.unwrap();
    let api = &running.api;
    assert_eq!(api.put("/spaces/walks").await.0, 201);
    // Questions about pairs of events get this reply too; it has another form and therefore no effect.
    let label = json!({ "name": NAME, "summary": SUMMARY, "lines": [1, 2] }).to_string();
    server.script_replies(std::iter::repeat_with(|| text_reply(&label)).take(128));
    let watermark = api.send_records("walks", &sample_conversation()).await;
    api.wait_until_written("walks", &watermark).await;
    let topic = topic_where(api, |it| it["label"] == NAME).await;
    assert_eq!(topic["summary"], SUMMARY, "{topic}");
    // The model gives the same reply about the loaves, but their lines do not support it.
    let loaves = topic_where(api, |it| it["id"] != topic["id"]).await;
    assert!(loaves["label"] != NAME && loaves["summary"].is_null(), "{loaves}");
    let pages = api.list("/spaces/walks/pages").await;
    let page = pages.iter().find(|it| it["title"] == NAME).unwrap();
    assert!(page["summary"].as_str().unwrap().starts_with(SUMMARY), "{page}");
    let readings = api.list("/spaces/walks/readings").await;
    assert!(
        readings.iter().any(|it| it["kind"] == "label" && it["state"] == "done"),
        "{readings:?}"
    );
    let act = json!({ "act": { "kind": "undo_label", "topic": topic["id"] } });
    let (status, curated) = api.post("/spaces/walks/curations", &act).await;
    assert_eq!(status, 202, "{curated}");
    api.wait_until_written("walks", curated["watermark"].as_str().unwrap())
        .await;
    let is_by_rule = |it: &Value| it["id"] == topic["id"] && it["label"] != NAME && it["summary"].is_null();
    topic_where(api, is_by_rule).await;
    let unknown = json!({ "act": { "kind": "undo_label", "topic": "0e8a4c1d-2b57-5d0e-8d5e-0a4f3c2b1a90" } });
    assert_eq!(api.post("/spaces/walks/curations", &unknown).await.0, 404);
    running.end().await.unwrap();
}
