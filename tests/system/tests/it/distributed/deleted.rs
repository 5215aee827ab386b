//! Deletes a space while Qdrant is away. Its points are removed when Qdrant is back, without another request.

use std::time::Duration;

use qdrant_client::Qdrant;
use qdrant_client::qdrant::{Condition, CountPointsBuilder, Filter};
use serde_json::json;
use system::running::Running;
use system::servers::qdrant::Server;

use super::{cited, shared, talk};

const PAUSE: Duration = Duration::from_millis(50);

/// Returns the number of points of a space, including its marker.
async fn held(url: &str, prefix: &str, space: &str) -> u64 {
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
async fn finished(running: &Running, space: &str) {
    let erasing = async || {
        let (status, body) = running.api.get(&format!("/spaces/{space}/progress")).await;
        status != 404 && body["erasing"] != json!(false)
    };
    while erasing().await {
        tokio::time::sleep(PAUSE).await;
    }
}

/// The deletion survives a restart of every service. A space that is created under the name in the meantime keeps its
/// content, and so does another space.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deletion_finishes_when_the_server_is_back() {
    let Some(servers) = shared().await else { return };
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
    let running = Running::over(&settings).await.unwrap();
    let api = &running.api;
    for space in ["gone", "again", "neighbour"] {
        assert_eq!(api.put(&format!("/spaces/{space}")).await.0, 201);
        let watermark = api.accepted(space, &talk()).await;
        api.written(space, &watermark).await;
    }
    let before = held(&url, &prefix, "neighbour").await;
    assert!(before > 6, "{before}");
    assert_eq!(held(&url, &prefix, "gone").await, before);

    qdrant.away().await.unwrap();
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

    let running = Running::begun(&settings).await.unwrap();
    let api = &running.api;
    while api
        .try_send(api.http.get(format!("{}/spaces", api.base)))
        .await
        .is_err()
    {
        tokio::time::sleep(PAUSE).await;
    }
    while api.put("/spaces/again").await.0 != 201 {
        tokio::time::sleep(PAUSE).await;
    }
    let watermark = api.accepted("again", &json!([talk()[2]])).await;
    qdrant.back().unwrap();
    running.ready().await.unwrap();
    api.written("again", &watermark).await;
    finished(&running, "gone").await;
    assert_eq!(held(&url, &prefix, "gone").await, 0);
    while held(&url, &prefix, "again").await != 2 {
        tokio::time::sleep(PAUSE).await;
    }
    assert_eq!(held(&url, &prefix, "neighbour").await, before);
    assert_eq!(
        cited(&api.ask("again", "What is the name of the dog of Ines?").await),
        ["3"]
    );
    assert_eq!(api.delete("/spaces/gone").await.0, 404);
    assert_eq!(api.delete("/spaces/neighbour").await.0, 204);
    running.end().await.unwrap();
}
