//! An event that is reported twice is merged and shown as merged, in both deployment modes, until a curation undoes
//! the merge.

use serde_json::{Value, json};
use system::running::Running;
use system::running::api::Api;

use crate::distributed::shared_servers;

/// Returns records that report one event in March and again in April.
fn sample_conversation() -> Value {
    let record = |id: &str, day: &str, actor: &str, text: &str| {
        let at = format!("{day}T10:00:00Z");
        json!({ "id": id, "session": day, "actor": actor, "observed_at": at, "text": text })
    };
    json!([
        record(
            "1",
            "2026-03-01",
            "Ana",
            "We danced at the wedding of Julia in Bergen on 5 June 2021."
        ),
        record(
            "1b",
            "2026-03-01",
            "Tom",
            "The band of Julia played at that wedding in Bergen until four."
        ),
        record(
            "2",
            "2026-03-20",
            "Ana",
            "The bakery sold out of rye bread before noon."
        ),
        record(
            "2b",
            "2026-03-20",
            "Tom",
            "The baker starts to knead the bread at three."
        ),
        record(
            "3",
            "2026-04-01",
            "Ana",
            "So we danced at the wedding of Julia in Bergen on 5 June 2021!"
        ),
        record(
            "3b",
            "2026-04-01",
            "Tom",
            "The band of Julia played at that wedding in Bergen until four!"
        ),
    ])
}

/// Returns the present state of the event that a record opens.
async fn find_event(api: &Api, record: &str) -> Value {
    let units = api.list("/spaces/talk/units").await;
    let of = |it: &&Value| it["grain"] == "event" && it["external_ids"][0] == record;
    units.iter().find(of).cloned().unwrap_or_else(|| panic!("{units:?}"))
}

async fn check_merges(running: Running) {
    let api = &running.api;
    assert_eq!(api.put("/spaces/talk").await.0, 201);
    let watermark = api.send_records("talk", &sample_conversation()).await;
    api.wait_until_written("talk", &watermark).await;
    api.wait_until_settled("talk").await;
    let (first, again, other) = (
        find_event(api, "1").await,
        find_event(api, "3").await,
        find_event(api, "2").await,
    );
    assert_eq!(
        (&first["status"], &again["status"]),
        (&json!("active"), &json!("merged")),
        "{again}"
    );
    assert_eq!(again["merged_into"], first["id"]);
    let absorbed = &first["absorbed"][0];
    assert_eq!(
        (&absorbed["unit"], &absorbed["records"]),
        (&again["id"], &again["records"]),
        "{first}"
    );
    assert!(
        absorbed["same_event"] == true && absorbed["has_overlap"] == true && absorbed["relation_type"] == "same_as"
    );
    assert!(absorbed["similarity"].as_f64().is_some_and(|it| it > 0.9), "{absorbed}");
    assert!(
        absorbed["reason"].as_str().is_some_and(|it| it.contains("julia")),
        "{absorbed}"
    );
    assert!(other.get("absorbed").is_none() && other["status"] == "active");
    let before = format!("/spaces/talk/units/{}?as_of=2026-03-31", first["id"].as_str().unwrap());
    let before = api.get(&before).await.1;
    assert!(
        before["status"] == "active" && before.get("absorbed").is_none(),
        "{before}"
    );

    let act = json!({ "act": { "kind": "undo_merge", "merge": absorbed["merge"] } });
    let (status, curated) = api.post("/spaces/talk/curations", &act).await;
    assert_eq!(status, 202, "{curated}");
    // The test waits only for the watermark of the curation.
    api.wait_until_written("talk", curated["watermark"].as_str().unwrap())
        .await;
    let (first, again) = (find_event(api, "1").await, find_event(api, "3").await);
    assert_eq!(
        (&first["status"], &again["status"]),
        (&json!("active"), &json!("active"))
    );
    assert!(
        first.get("absorbed").is_none() && again.get("merged_into").is_none(),
        "{first} {again}"
    );
    running.end().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_that_is_reported_twice_is_merged_standalone() {
    let dir = tempfile::tempdir().unwrap();
    check_merges(Running::standalone(dir.path(), &[]).await.unwrap()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_that_is_reported_twice_is_merged_distributed() {
    let Some(servers) = shared_servers().await else { return };
    check_merges(Running::distributed(servers, &[]).await.unwrap()).await;
}
