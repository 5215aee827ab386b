//! Deletes a space while Qdrant is away. Its points are removed when Qdrant is back, without another request.

use fixtures::wait_until;
use qdrant_client::Qdrant;
use qdrant_client::qdrant::{Condition, CountPointsBuilder, Filter};
use serde_json::json;
use system::running::Running;
use system::servers::qdrant::Server;

use super::{cited_ids, sample_talk, shared_servers};

/// Returns the number of points of a space, including its marker.
async fn count_points(url: &str, prefix: &str, space: &str) -> u64 {
    let driver = Qdrant::from_url(url).skip_compatibility_check().build().unwrap();
    let aliases = driver.list_aliases().await.unwrap().aliases;
    let ours = aliases
        .into_iter()
        .find(|it| it.alias_name.starts_with(&format!("{prefix}_")));
    let of = Filter::must([Condition::matches("space", space.to_owned())]);
    let count = CountPointsBuilder::new(ours.unwrap().collection_name)
        .filter(of)
        .exact(true);
    driver.count(count).await.unwrap().result.unwrap().count
}

/// Waits until no erasure of a space is unfinished. Then its name is unknown, or belongs to the new space.
async fn wait_until_deleted(running: &Running, space: &str) {
    let erasing = async || {
        let (status, body) = running.api.get(&format!("/spaces/{space}/progress")).await;
        status != 404 && body["erasing"] != json!(false)
    };
    wait_until("no erasure is unfinished", async || !erasing().await).await;
}

/// The deletion survives a restart of every service. A space that is created under the name in the meantime keeps its
/// content, and so does another space.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deletion_finishes_when_the_server_is_back() {
    let Some(servers) = shared_servers().await else { return };
    let mut qdrant = Server::start("").unwrap();
    let mut settings = servers.settings();
    let prefix = settings.iter().find(|it| it.0 == "qdrant.prefix").unwrap().1.clone();
    let url = qdrant.options(&prefix).url;
    settings
        .iter_mut()
        .find(|it| it.0 == "qdrant.url")
        .unwrap()
        .1
        .clone_from(&url);
    let running = Running::start_with_servers(&settings).await.unwrap();
    let api = &running.api;
    for space in ["gone", "again", "neighbour"] {
        assert_eq!(api.put(&format!("/spaces/{space}")).await.0, 201);
        let watermark = api.send_records(space, &sample_talk()).await;
        api.wait_until_written(space, &watermark).await;
    }
    let before = count_points(&url, &prefix, "neighbour").await;
    assert!(before > 6, "{before}");
    assert_eq!(count_points(&url, &prefix, "gone").await, before);

    qdrant.stop_listening().await.unwrap();
    for space in ["gone", "again"] {
        let (status, body) = api.delete(&format!("/spaces/{space}")).await;
        assert_eq!((status, &body["space"]), (202, &json!(space)), "{body}");
        assert_eq!(api.get(&format!("/spaces/{space}")).await.0, 404);
        let (status, progress) = api.get(&format!("/spaces/{space}/progress")).await;
        assert_eq!((status, &progress["erasing"]), (200, &json!(true)), "{progress}");
        // A repeated request reports the same unfinished deletion.
        assert_eq!(api.delete(&format!("/spaces/{space}")).await.0, 202);
    }
    assert_eq!(
        api.delete("/spaces/never").await.0,
        503,
        "what an earlier version left cannot be looked for"
    );
    running.end().await.unwrap();

    let running = Running::start_services(&settings).await.unwrap();
    let api = &running.api;
    wait_until("the gateway answers", async || {
        let request = api.http.get(format!("{}/spaces", api.base));
        api.try_send(request).await.is_ok()
    })
    .await;
    wait_until("a space is created", async || api.put("/spaces/again").await.0 == 201).await;
    let watermark = api.send_records("again", &json!([sample_talk()[2]])).await;
    qdrant.listen_again().unwrap();
    running.wait_until_ready().await.unwrap();
    api.wait_until_written("again", &watermark).await;
    wait_until_deleted(&running, "gone").await;
    assert_eq!(count_points(&url, &prefix, "gone").await, 0);
    wait_until("the new space holds its points", async || {
        count_points(&url, &prefix, "again").await == 2
    })
    .await;
    assert_eq!(count_points(&url, &prefix, "neighbour").await, before);
    assert_eq!(
        cited_ids(&api.ask("again", "What is the name of the dog of Ines?").await),
        ["3"]
    );
    assert_eq!(api.delete("/spaces/gone").await.0, 404);
    assert_eq!(api.delete("/spaces/neighbour").await.0, 204);
    running.end().await.unwrap();
}
