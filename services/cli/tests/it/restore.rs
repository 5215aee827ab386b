//! Operations on the files of the memory: backup and restore, permissions, changes from outside.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::server::{Server, fresh_directory, line, mnemic};

/// Runs a command over a data folder; returns true if it succeeded, and its output.
fn run(data: &Path, arguments: &[&str]) -> (bool, String) {
    let mut command = mnemic();
    command.args(arguments).env("MNEMIC_BACKENDS__DIR", data);
    command.env("MNEMIC_GATEWAY__LISTEN", "127.0.0.1:0");
    command.env("MNEMIC_ADMIN__LISTEN", "127.0.0.1:0");
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).unwrap())
}

async fn remember(server: &Server, id: &str, text: &str) {
    let body = json!({ "records": [line(id, "Ann", "2026-03-02T18:00:00Z", text)] });
    let (status, body) = server.post("/spaces/one/records", &body).await;
    assert_eq!(status, 202, "{body}");
    server.written("one", body["watermark"].as_str().unwrap()).await;
}

#[tokio::test]
async fn a_copy_is_restored_once_the_server_is_stopped() {
    let data = fresh_directory("restore-data");
    let copy = fresh_directory("restore-copies").join("copy.sqlite");
    let shown = copy.to_str().unwrap();
    let server = Server::start(&data).await;
    server.put("/spaces/one").await;
    remember(&server, "1", "I moved to Oslo.").await;
    assert!(run(&data, &["backup", shown]).0);
    assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
    remember(&server, "2", "I moved to Bergen.").await;
    let (done, printed) = run(&data, &["restore", shown]);
    assert!(
        !done && printed.contains("in use by another mnemic process"),
        "{printed}"
    );
    server.kill();
    let (done, printed) = run(&data, &["restore", shown]);
    assert!(!done && printed.contains("mnemic.sqlite-wal"), "{printed}");
    fs::remove_file(data.join("mnemic.sqlite-wal")).unwrap();
    fs::remove_file(data.join("mnemic.sqlite-shm")).unwrap();
    let (done, printed) = run(&data, &["restore", shown]);
    assert!(done && printed.contains("mnemic.sqlite.before-"), "{printed}");

    let server = Server::start(&data).await;
    assert_eq!(server.get("/spaces/one/records/1").await.0, 200);
    assert_eq!(
        server.get("/spaces/one/records/2").await.0,
        404,
        "written after the copy"
    );
}

#[tokio::test]
async fn a_record_that_was_changed_in_the_file_is_detected_and_not_used() {
    let data = fresh_directory("restore-changed");
    let copy = fresh_directory("restore-changed-copies").join("copy.sqlite");
    let server = Server::start(&data).await;
    server.put("/spaces/one").await;
    remember(&server, "1", "The doctor told me to take 100 mg of aspirin.").await;
    // No queue holds the text any more, from which the record would be written again.
    server.settled("one").await;
    // A copy holds everything in one file, without a write-ahead log.
    assert!(run(&data, &["backup", copy.to_str().unwrap()]).0);
    server.kill();
    let changed = fresh_directory("restore-changed-data");
    let mut bytes = fs::read(&copy).unwrap();
    let places: Vec<usize> = (0..bytes.len() - 6)
        .filter(|at| bytes[*at..].starts_with(b"100 mg"))
        .collect();
    assert!(places.len() >= 2, "record and unit have it");
    for at in places {
        bytes[at] = b'9';
    }
    fs::write(changed.join("mnemic.sqlite"), bytes).unwrap();

    let (done, printed) = run(&changed, &["doctor", "--url", "http://127.0.0.1:1"]);
    assert!(
        !done && printed.contains("record ") && printed.contains("unit ") && printed.contains("was changed"),
        "{printed}"
    );
    let (done, printed) = run(
        &fresh_directory("restore-changed-back"),
        &["restore", changed.join("mnemic.sqlite").to_str().unwrap()],
    );
    assert!(!done && printed.contains("was changed"), "{printed}");

    let server = Server::start(&changed).await;
    let question = json!({ "question": "How much aspirin should I take?", "answer": true, "budget": { "ms": 20_000 } });
    let (status, body) = server.post("/spaces/one/query", &question).await;
    assert!(status >= 500 && !body.to_string().contains("900 mg"), "{status} {body}");
    assert_eq!(body["type"], "urn:mnemic:problem:damaged", "{body}");
    assert!(body["detail"].as_str().unwrap().contains("mnemic doctor"), "{body}");
    let (status, body) = server.get("/spaces/one/records/1").await;
    assert!(status >= 500 && !body.to_string().contains("900 mg"), "{status} {body}");
}

#[tokio::test]
async fn a_second_server_is_refused_after_the_lock_file_is_removed() {
    let data = fresh_directory("restore-lock");
    let _first = Server::start(&data).await;
    fs::remove_file(data.join("mnemic.lock")).unwrap();
    let (done, printed) = run(&data, &["serve"]);
    assert!(
        !done && printed.contains("in use by another mnemic process"),
        "{printed}"
    );
}

#[test]
fn a_file_without_bytes_is_refused() {
    let data = fresh_directory("restore-empty");
    fs::write(data.join("mnemic.sqlite"), b"").unwrap();
    for command in [
        &["serve"][..],
        &["doctor", "--url", "http://127.0.0.1:1"],
        &["backup", "never"],
    ] {
        let (done, printed) = run(&data, command);
        assert!(
            !done && printed.contains("mnemic.sqlite is empty"),
            "{command:?}: {printed}"
        );
    }
}

#[tokio::test]
async fn exports_are_written_for_their_owner_only() {
    let data = fresh_directory("restore-export");
    let server = Server::start(&data).await;
    server.put("/spaces/one").await;
    let out = data.join("one.jsonl");
    let url = server.base.trim_end_matches("/v1").to_owned();
    let (done, printed) = run(
        &data,
        &["export", "-s", "one", "--url", &url, "--out", out.to_str().unwrap()],
    );
    assert!(done, "{printed}");
    assert_eq!(fs::metadata(out).unwrap().permissions().mode() & 0o777, 0o600);
}

/// An import that the restored copy does not have is not skipped as one that was sent earlier.
#[tokio::test]
async fn a_file_is_imported_again_after_an_older_copy_was_restored() {
    let data = fresh_directory("restore-import");
    let folder = fresh_directory("restore-import-files");
    let copy = folder.join("copy.sqlite");
    let at = "2026-03-02T18:00:00Z";
    let files = [("a", "I moved to Oslo."), ("b", "I moved to Bergen.")].map(|(id, text)| {
        let file = folder.join(id).with_extension("jsonl");
        fs::write(&file, format!("{}\n", line(id, "Ann", at, text))).unwrap();
        file
    });
    let import = |server: &Server, file: &Path| {
        let url = server.base.trim_end_matches("/v1").to_owned();
        run(&data, &["import", file.to_str().unwrap(), "-s", "one", "--url", &url])
    };
    let sent = (true, "1 records in; all searchable\n".to_owned());
    let server = Server::start(&data).await;
    assert_eq!(import(&server, &files[0]), sent);
    server.settled("one").await;
    assert!(run(&data, &["backup", copy.to_str().unwrap()]).0);
    assert_eq!(import(&server, &files[1]), sent);
    let base = server.base.clone();
    server.kill();
    for rest in ["mnemic.sqlite-wal", "mnemic.sqlite-shm"] {
        fs::remove_file(data.join(rest)).unwrap();
    }
    let (done, printed) = run(&data, &["restore", copy.to_str().unwrap()]);
    assert!(done, "{printed}");

    // The progress of an import belongs to the address of its server.
    let address = base.trim_start_matches("http://").trim_end_matches("/v1").to_owned();
    let mut server = Server::start_with(&data, |program| {
        let mut command = Command::new(program);
        command.args(["serve", "--listen", &address]);
        command
    })
    .await;
    server.base = base;
    let (done, printed) = import(&server, &files[1]);
    assert!(
        done && printed.starts_with(&sent.1) && printed.contains("does not have the earlier import any more"),
        "{printed}"
    );
    assert_eq!(server.get("/spaces/one/records/b").await.0, 200);
    let skipped = "0 records in, 1 lines were read earlier; all searchable\n";
    for file in &files {
        assert_eq!(import(&server, file), (true, skipped.to_owned()));
    }
}
