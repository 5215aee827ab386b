//! Reports of `mnemic doctor` about the stores and the server.

use std::process::Command;

use chrono::DateTime;
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
    let report = says();
    assert!(
        report.contains("2 turn units") && !report.contains("older rules"),
        "{report}"
    );

    let context = Context::embedded_with_defaults(&data).await.unwrap();
    let (graph, space) = (&context.backends.graph, "one".parse::<SpaceId>().unwrap());
    let changes = graph.changes(&space, 0, 99).await.unwrap();
    let turn = changes.into_iter().map(|it| it.unit).find(|it| it.grain == Grain::Turn);
    let older = Unit {
        tags: Vec::new(),
        metadata: Default::default(),
        derived_by: "rules/0".to_owned(),
        ..turn.unwrap()
    };
    graph.put_units(&space, &[older], &[]).await.unwrap();
    drop(context);
    let report = says();
    assert!(
        report.contains("1 units in 1 spaces were written by older rules; `mnemic rebuild one`"),
        "{report}"
    );
}

#[tokio::test]
async fn unfinished_erasures_are_counted_and_finished() {
    let data = fresh_directory("doctor-unfinished");
    let context = Context::embedded_with_defaults(&data).await.unwrap();
    let space = "one".parse::<SpaceId>().unwrap();
    context
        .backends
        .records
        .create_space(&space, DateTime::UNIX_EPOCH)
        .await
        .unwrap();
    context.backends.records.delete_space(&space).await.unwrap();
    drop(context);
    let says = |more: &[&str]| {
        let mut command = mnemic();
        command
            .args(["doctor", "--url", "http://127.0.0.1:1", "--data"])
            .arg(&data)
            .args(more);
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let unfinished = "1 deleted spaces are not erased in every store yet, such as one";
    for _ in 0..2 {
        let report = says(&[]);
        assert!(report.contains(unfinished), "{report}");
    }
    let report = says(&["--repair"]);
    assert!(
        report.contains("0 spaces") && !report.contains("deleted spaces"),
        "{report}"
    );
    let report = says(&[]);
    assert!(
        report.contains("0 spaces") && !report.contains("deleted spaces"),
        "{report}"
    );
}

#[tokio::test]
async fn a_server_that_needs_a_key_is_not_reported_as_wrong() {
    let output = mnemic().args(["keys", "new"]).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let key = printed.lines().next().unwrap();
    let digest = printed.split("sha256 = \"").nth(1).unwrap().split('"').next().unwrap();
    let keys = format!(r#"[{{name = "one", sha256 = "{digest}", spaces = ["*"], rights = ["read"]}}]"#);
    let data = fresh_directory("doctor-key");
    let server = Server::start_with(&data, |program| {
        let mut command = Command::new(program);
        command.arg("serve").env("MNEMIC_GATEWAY__KEYS", keys);
        command
    })
    .await;
    let says = |key: &[&str]| {
        let mut command = mnemic();
        command.args(["doctor", "--url", server.base.trim_end_matches("/v1"), "--data"]);
        let output = command.arg(&data).args(key).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    for (key, words) in [
        (&[][..], "answers; it needs a key (MNEMIC_KEY)"),
        (&["--key", "another"], "answers, but refuses the key (MNEMIC_KEY): 401"),
        (&["--key", key], "answers; visible spaces: 0"),
    ] {
        let (code, report) = says(key);
        assert!(code == Some(0) && report.contains(words), "{code:?} {report}");
    }
}

#[tokio::test]
async fn the_server_is_looked_for_where_the_settings_listen() {
    let data = fresh_directory("doctor-listen");
    let server = Server::start(&data).await;
    let url = server.base.trim_end_matches("/v1");
    let listen = url.trim_start_matches("http://");
    let file = fresh_directory("doctor-listen-file").join("m.toml");
    std::fs::write(&file, format!("[gateway]\nlisten = \"{listen}\"\n")).unwrap();
    let says = |more: &[&str]| {
        let mut command = mnemic();
        command
            .arg("doctor")
            .arg("--config")
            .arg(&file)
            .arg("--data")
            .arg(&data);
        String::from_utf8(command.args(more).output().unwrap().stdout).unwrap()
    };
    let report = says(&[]);
    assert!(
        report.contains(&format!("{url} answers; visible spaces: 0")),
        "{report}"
    );
    let report = says(&["--url", "127.0.0.1:1"]);
    let expected =
        format!("no server answers at http://127.0.0.1:1 (--url or MNEMIC_URL; the settings listen on {listen})");
    assert!(report.contains(&expected), "{report}");
}

#[tokio::test]
async fn a_disk_that_is_too_full_for_writes_is_wrong() {
    let data = fresh_directory("doctor-disk");
    drop(Context::embedded_with_defaults(&data).await.unwrap());
    for (least, is_full) in [("1000000000000000000", true), ("1", false)] {
        let mut command = mnemic();
        command
            .env("MNEMIC_ADMIN__DISK_FREE_BYTES_MIN", least)
            .args(["doctor", "--url", "http://127.0.0.1:1", "--data"])
            .arg(&data);
        let output = command.output().unwrap();
        let (code, report) = (output.status.code(), String::from_utf8(output.stdout).unwrap());
        assert_eq!(report.contains("wrong    disk       full: "), is_full, "{report}");
        assert_eq!(code == Some(3), is_full, "{code:?} {report}");
    }
}
