//! Summaries of a page and its sections by a language model, and a curation that undoes them.

use fixtures::wait_for;
use serde_json::{Value, json};
use system::running::Running;
use system::running::api::Api;
use system::servers::chat::Server;

use super::text_reply;

const SUMMARY: &str = "Ana walked with Rex around the lake near Bergen.";

/// Returns records of seven walks of Ana, each in its own sentence.
fn sample_conversation() -> Value {
    let walks = [
        "before breakfast for 3 km",
        "after the thunderstorm had passed",
        "with her cousin from Trondheim",
        "and found 12 chanterelles below the birches",
        "until the ferry whistled twice",
        "while snow covered the wooden jetty",
        "and counted 40 geese above the reeds",
    ];
    let record = |(day, walk): (usize, &&str)| {
        let at = format!("2024-05-{:02}T10:00:00Z", day + 1);
        json!({ "id": format!("walk {day}"), "session": format!("{day}"), "actor": "Ana", "observed_at": at,
            "text": format!("I walked with Rex around the lake near Bergen {walk}.") })
    };
    walks.iter().enumerate().map(record).collect::<Vec<Value>>().into()
}

/// Waits until the page of Ana satisfies a condition, and returns it.
async fn page_where(api: &Api, is_so: impl Fn(&Value) -> bool) -> Value {
    wait_for("the page of Ana is as expected", async || {
        let pages = api.list("/spaces/walks/pages?dimension=figure").await;
        let of_ana = |it: &&Value| it["title"] == "Ana" && is_so(it);
        pages.iter().find(of_ana).cloned().ok_or(pages)
    })
    .await
}

fn is_summed_up(page: &Value) -> bool {
    page["summary"].as_str().is_some_and(|it| it.starts_with(SUMMARY))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_summarises_a_page_and_a_curation_undoes_the_summary() {
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
    // Questions about pairs of events and topics get this reply too; it has another form and therefore no effect.
    let page = json!({ "summary": SUMMARY, "lines": [1, 2], "sections": [
        { "number": 1, "summary": SUMMARY, "lines": [1] }] });
    let page = page.to_string();
    server.script_replies(std::iter::repeat_with(|| text_reply(&page)).take(128));
    let watermark = api.send_records("walks", &sample_conversation()).await;
    api.wait_until_written("walks", &watermark).await;
    let page = page_where(api, is_summed_up).await;
    let id = page["id"].as_str().unwrap();
    let (_, whole) = api.get(&format!("/spaces/walks/pages/{id}")).await;
    assert_eq!(whole["sections"][0]["summary"], SUMMARY, "{whole}");
    let (status, listed) = api.post("/spaces/walks/tools/list_dimensions", &json!({})).await;
    assert_eq!(status, 200, "{listed}");
    assert!(listed.to_string().contains(SUMMARY), "{listed}");
    let readings = api.list("/spaces/walks/readings").await;
    assert!(
        readings.iter().any(|it| it["kind"] == "page" && it["state"] == "done"),
        "{readings:?}"
    );
    let act = json!({ "act": { "kind": "undo_summary", "page": id } });
    let (status, curated) = api.post("/spaces/walks/curations", &act).await;
    assert_eq!(status, 202, "{curated}");
    api.wait_until_written("walks", curated["watermark"].as_str().unwrap())
        .await;
    page_where(api, |it| it["id"] == id && !is_summed_up(it)).await;
    let (_, whole) = api.get(&format!("/spaces/walks/pages/{id}")).await;
    assert!(whole["sections"][0].get("summary").is_none(), "{whole}");
    running.end().await.unwrap();
}
