//! Faults: a full disk, a damaged file, two processes over one directory, a wrong setting.

use std::io::{Seek, SeekFrom, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};

use serde_json::json;

use crate::server::{Server, fresh_directory, mnemic};

fn refused(mut command: Command) -> String {
    let Output { status, stderr, stdout } = command.output().unwrap();
    assert!(!status.success(), "it started: {}", String::from_utf8_lossy(&stdout));
    String::from_utf8(stderr).unwrap()
}

#[tokio::test]
async fn a_damaged_file_is_refused_with_the_way_back() {
    let data = fresh_directory("damage-file");
    let server = Server::start(&data).await;
    server.put("/spaces/one").await;
    server.kill();
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .open(data.join("mnemic.sqlite"))
        .unwrap();
    file.seek(SeekFrom::Start(0)).unwrap();
    file.write_all(&[0x5a; 512]).unwrap();
    drop(file);
    // The write-ahead log holds a good copy of the page and would repair it.
    std::fs::remove_file(data.join("mnemic.sqlite-wal")).unwrap();
    let mut command = mnemic();
    command
        .arg("serve")
        .env("MNEMIC_BACKENDS__DIR", &data)
        .env("MNEMIC_GATEWAY__LISTEN", "127.0.0.1:0");
    command.env("MNEMIC_ADMIN__LISTEN", "127.0.0.1:0");
    let error = refused(command);
    assert!(
        error.contains("mnemic.sqlite") && error.contains("mnemic backup"),
        "{error}"
    );
}

#[tokio::test]
async fn a_second_process_over_the_same_directory_is_refused() {
    let data = fresh_directory("damage-twice");
    let _first = Server::start(&data).await;
    let mut command = mnemic();
    command
        .arg("serve")
        .env("MNEMIC_BACKENDS__DIR", &data)
        .env("MNEMIC_GATEWAY__LISTEN", "127.0.0.1:0");
    command.env("MNEMIC_ADMIN__LISTEN", "127.0.0.1:0");
    let error = refused(command);
    assert!(error.contains(data.to_str().unwrap()), "{error}");
}

#[test]
fn an_unknown_setting_is_refused_by_name() {
    let mut command = mnemic();
    command.arg("config").env("MNEMIC_GATEWAY__LISTENS", "127.0.0.1:0");
    let error = refused(command);
    assert!(error.contains("listens"), "{error}");
}

#[test]
fn an_open_address_without_keys_is_refused() {
    let mut command = mnemic();
    command
        .arg("serve")
        .env("MNEMIC_BACKENDS__DIR", fresh_directory("damage-open"));
    command
        .env("MNEMIC_GATEWAY__LISTEN", "0.0.0.0:0")
        .env("MNEMIC_ADMIN__LISTEN", "127.0.0.1:0");
    let error = refused(command);
    assert!(error.contains("key"), "{error}");
}

/// A limit on file size simulates the full disk: writes fail, reads still work.
#[tokio::test]
async fn a_full_disk_acknowledges_nothing_and_recovers() {
    let data = fresh_directory("damage-full");
    let server = Server::start_with(&data, |program| {
        let mut shell = Command::new("bash");
        shell
            .args(["-c", "trap '' XFSZ; ulimit -f 2000; exec \"$0\" serve"])
            .arg(program)
            .process_group(0);
        shell.stderr(Stdio::null());
        shell
    })
    .await;
    server.put("/spaces/full").await;
    let mut accepted = Vec::new();
    let mut refused = None;
    for number in 0..400 {
        let text = format!("entry {number} {}", "of a long list of things ".repeat(400));
        let body =
            json!({ "records": [{ "id": number.to_string(), "text": text, "observed_at": "2026-03-02T18:00:00Z" }] });
        let (status, body) = server.post("/spaces/full/records", &body).await;
        if status != 202 {
            refused = Some((status, body));
            break;
        }
        accepted.push((number.to_string(), body["watermark"].as_str().unwrap().to_owned()));
    }
    let (status, body) = refused.expect("the limit was never reached");
    assert_eq!((status, &body["status"]), (503, &json!(503)), "{body}");
    server.kill();
    let server = Server::start(&data).await;
    assert!(accepted.len() > 10, "only {} went in", accepted.len());
    server.written("full", &accepted.last().unwrap().1).await;
    server.drained("full").await;
    let stored = server.list("/spaces/full/records").await;
    for (id, _) in &accepted {
        assert!(
            stored.iter().any(|it| it["id"] == json!(id)),
            "{id} was acknowledged and is lost"
        );
    }
}
