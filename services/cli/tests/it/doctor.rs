//! What `mnemic doctor` says of the stores.

use domain::id::SpaceId;
use domain::unit::{Grain, Unit};
use host::Context;
use serde_json::json;

use crate::server::{Server, fresh_directory, mnemic};

#[tokio::test]
async fn units_of_older_rules_are_counted() {
    let data = fresh_directory("doctor-older");
    let server = Server::start(&data).await;
    server.put("/spaces/one").await;
    let record = |id: &str| json!({ "id": id, "text": "I repotted the fern.", "observed_at": "2026-03-02T18:00:00Z" });
    let body = json!({ "records": [record("1"), record("2")] });
    let (_, body) = server.post("/spaces/one/records", &body).await;
    server.written("one", body["watermark"].as_str().unwrap()).await;
    server.kill();

    let says = || {
        let mut command = mnemic();
        command
            .args(["doctor", "--url", "http://127.0.0.1:1", "--data"])
            .arg(&data);
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let said = says();
    assert!(said.contains("2 turn units") && !said.contains("older rules"), "{said}");

    let context = Context::embedded(&data).await.unwrap();
    let (graph, space) = (&context.backends.graph, "one".parse::<SpaceId>().unwrap());
    let changes = graph.changes(&space, 0, 99).await.unwrap();
    let turn = changes.into_iter().map(|it| it.unit).find(|it| it.grain == Grain::Turn);
    let older = Unit {
        derived_by: "rules/0".to_owned(),
        ..turn.unwrap()
    };
    graph.put_units(&space, &[older], &[]).await.unwrap();
    drop(context);
    let said = says();
    assert!(
        said.contains("1 units in 1 spaces were written by older rules; `mnemic rebuild one`"),
        "{said}"
    );
}
