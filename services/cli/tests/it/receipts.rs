//! Erasures have receipts, and a check searches every store and file for the erased data.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use fixtures::wait_for;
use serde_json::{Value, json};

use crate::server::{Server, fresh_directory, line, mnemic};

/// The beginning of the records of one session.
const ERASED: &str = "Oona moved to Snorkelfax because of her job";

/// Runs `mnemic erasures ARGUMENTS` against a server, with `text` on standard input; returns exit code and output.
fn erasures(server: &Server, arguments: &[&str], text: &str) -> (i32, String) {
    let mut child = mnemic()
        .arg("erasures")
        .args(arguments)
        .env("MNEMIC_URL", server.base.trim_end_matches("/v1"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let printed = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8(printed).unwrap())
}

async fn erase(server: &Server, path: &str) -> String {
    let (status, body) = server.delete(&format!("/spaces/ann/{path}")).await;
    assert_eq!(status, 202, "{body}");
    server.written("ann", body["watermark"].as_str().unwrap()).await;
    body["erasure"].as_str().unwrap().to_owned()
}

async fn checked(server: &Server, space: &str, id: &str) -> Value {
    let (status, receipt) = server
        .post(&format!("/spaces/{space}/erasures/{id}/check"), &json!({}))
        .await;
    assert_eq!(status, 200, "{receipt}");
    assert_eq!(receipt["absent"], true, "{receipt}");
    receipt
}

fn talk() -> Value {
    let mut records = vec![
        line(
            "e1",
            "Ann",
            "2026-03-02T18:00:00Z",
            "I live in Quaxbank with my sister Oona.",
        ),
        line(
            "e2",
            "Ben",
            "2026-03-02T18:01:00Z",
            "How long have you lived in Quaxbank, Ann?",
        ),
        line(
            "k1",
            "Ann",
            "2026-03-03T18:00:00Z",
            "I bought a green bicycle in Grimblestead.",
        ),
        line("k2", "Ben", "2026-03-03T18:01:00Z", "My sister Oona has a bicycle too."),
    ];
    for number in 0..12 {
        let at = format!("2026-03-04T18:{number:02}:00Z");
        let text = format!("{ERASED} number {number}, she likes the opera there.");
        records.push(line(&format!("s{number}"), "Ann", &at, &text));
    }
    json!({ "records": records })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_receipt_describes_the_erased_data_and_a_check_confirms_their_absence() {
    let data = fresh_directory("receipts");
    let server = Server::start(&data).await;
    for space in ["ann", "gone"] {
        server.put(&format!("/spaces/{space}")).await;
        let (status, body) = server.post(&format!("/spaces/{space}/records"), &talk()).await;
        assert_eq!(status, 202, "{body}");
        server.written(space, body["watermark"].as_str().unwrap()).await;
    }
    for space in ["ann", "gone"] {
        server.settled(space).await;
    }
    let facts = server.list("/spaces/ann/facts").await;
    assert!(facts.len() >= 3, "{facts:?}");
    let record = erase(&server, "records/e1").await;
    let session = erase(&server, "sessions/2026-03-04").await;
    let (status, receipt) = server.get(&format!("/spaces/ann/erasures/{record}")).await;
    assert_eq!(
        (status, &receipt["state"], &receipt["kind"]),
        (200, &json!("complete"), &json!("records"))
    );
    assert_eq!(receipt["erased"]["records"], 1, "{receipt}");
    assert!(receipt["erased"]["facts"].as_u64().unwrap() >= 1, "{receipt}");
    assert_eq!(receipt["sessions"], json!([]), "e2 is left of it: {receipt}");
    let receipt = checked(&server, "ann", &session).await;
    assert_eq!(receipt["erasure"]["erased"]["records"], 12, "{receipt}");
    assert_eq!(receipt["erasure"]["sessions"].as_array().unwrap().len(), 1, "{receipt}");
    checked(&server, "ann", &record).await;
    // A record of the other space has the same text and was not erased.
    let (code, printed) = in_files(&server, &data, &session, &[], ERASED);
    assert!(code == 3 && printed.contains("mnemic.sqlite: found"), "{printed}");

    let delete = server.http.delete(format!("{}/spaces/gone", server.base));
    let deleted = delete.send().await.unwrap();
    assert_eq!(deleted.status().as_u16(), 204);
    let place = deleted.headers()["location"].to_str().unwrap().to_owned();
    let space = place.rsplit('/').next().unwrap();
    let receipt = checked(&server, "gone", space).await;
    assert_eq!(receipt["erasure"]["erased"]["records"], 16, "{receipt}");
    is_in_no_file_but_the_export(&server, &data, &session).await;
    is_found_in_a_mapped_file(&server, &data, &session);
    // A later space with the same name is a different space.
    server.put("/spaces/gone").await;
    let (_, receipt) = server
        .post(&format!("/spaces/gone/erasures/{space}/check"), &json!({}))
        .await;
    assert_eq!(
        (&receipt["erasure"]["state"], &receipt["stores"][0]["outcome"]),
        (&json!("complete"), &json!("absent"))
    );
    let (code, printed) = erasures(&server, &["list", "--space", "gone"], "");
    assert!(
        code == 0 && printed.contains(space) && printed.contains("16 records"),
        "{printed}"
    );
}

/// Runs the check with a text and the files of the memory.
fn in_files(server: &Server, data: &Path, id: &str, more: &[&str], text: &str) -> (i32, String) {
    let mut arguments = vec![
        "check",
        "--space",
        "ann",
        id,
        "--stdin",
        "--data",
        data.to_str().unwrap(),
    ];
    arguments.extend(more);
    erasures(server, &arguments, text)
}

/// Waits until the erased text has disappeared from all files, and asserts that its copy in an export is found.
async fn is_in_no_file_but_the_export(server: &Server, data: &Path, id: &str) {
    let printed = wait_for("no file holds the text", async || {
        let (code, printed) = in_files(server, data, id, &[], ERASED);
        if code == 0 { Ok(printed) } else { Err(printed) }
    })
    .await;
    assert!(
        printed.contains("mnemic.sqlite: absent") && printed.contains("graph: absent"),
        "{printed}"
    );
    let export = data.join("export.jsonl");
    std::fs::write(&export, format!("{{\"text\": \"{ERASED}\"}}")).unwrap();
    let (code, printed) = in_files(server, data, id, &[export.to_str().unwrap()], ERASED);
    assert!(
        code == 3 && printed.contains("export.jsonl: found: the text, 1 times"),
        "{printed}"
    );
}

/// Asserts that the text is found in a file in a folder next to the database, where mapped files are.
fn is_found_in_a_mapped_file(server: &Server, data: &Path, id: &str) {
    let folder = data.join("mnemic.blocks");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("left.units"), ERASED).unwrap();
    let (code, printed) = in_files(server, data, id, &[], ERASED);
    assert!(
        code == 3 && printed.contains("left.units: found: the text, 1 times"),
        "{printed}"
    );
}
