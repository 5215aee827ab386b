//! Imports with a key that may write and not read.

use std::process::Command;

use serde_json::{Value, json};

use crate::scripted_server::{Reply, ScriptedServer};
use crate::server::{Server, fresh_directory, line, mnemic};

/// The key `owner` with all rights and the key `writer` with the right `write`; their tokens are their names.
const KEYS: &str = r#"
[[gateway.keys]]
name = "owner"
sha256 = "4c1029697ee358715d3a14a2add817c4b01651440de808371f78165ac90dc581"
spaces = ["*"]
rights = ["read", "write", "admin"]
[[gateway.keys]]
name = "writer"
sha256 = "b93006774cbdd4b299389a03ac3d88c3a76b460d538795bc12718011a909fba5"
spaces = ["ann"]
rights = ["write"]
"#;

fn input(readings: &[Value]) -> String {
    let records = [
        line("1", "Ines", "2026-03-02T18:00:00Z", "I finally adopted a greyhound."),
        line("2", "Omar", "2026-03-02T18:01:00Z", "The canoe is green now."),
    ];
    records.iter().chain(readings).map(|it| format!("{it}\n")).collect()
}

#[tokio::test]
async fn an_import_with_a_key_that_may_not_read_sends_the_records_and_does_not_wait() {
    let folder = fresh_directory("import-write-only");
    std::fs::write(folder.join("mnemic.toml"), KEYS).unwrap();
    let server = Server::start_with(&folder.join("data"), |program| {
        let mut command = Command::new(program);
        command.arg("serve").current_dir(&folder);
        command
    })
    .await;
    let file = folder.join("talk.jsonl");
    std::fs::write(&file, input(&[])).unwrap();
    let import = || {
        let mut command = mnemic();
        command.args(["import", file.to_str().unwrap(), "-s", "ann", "--key", "writer"]);
        let output = command
            .env("MNEMIC_URL", server.base.trim_end_matches("/v1"))
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let (code, stdout, stderr) = import();
    assert_eq!(
        (code, stdout.as_str()),
        (
            Some(0),
            "2 records in; the key may not check whether they are searchable\n"
        ),
        "{stderr}"
    );
    assert!(stderr.contains("lacks the right `read`"), "{stderr}");
    let (code, stdout, _) = import();
    assert_eq!(
        (code, stdout.as_str()),
        (
            Some(0),
            "0 records in, 2 were there before; the key may not check whether they are searchable\n"
        ),
        "the whole input is sent again"
    );
    fixtures::wait_for("the records are stored", async || {
        let list = server.http.get(format!("{}/spaces/ann/records", server.base));
        let (_, page) = server.send(list.bearer_auth("owner")).await;
        match page["items"].as_array() {
            Some(items) if items.len() == 2 => Ok(()),
            _ => Err(page),
        }
    })
    .await;
}

/// A reading is stored only after its records are searchable, which the key may not check.
#[test]
fn an_import_with_a_key_that_may_not_read_leaves_out_readings() {
    let file = fresh_directory("import-write-only-readings").join("talk.jsonl");
    let reading = json!({ "reading": { "kind": "passage" } });
    std::fs::write(&file, input(&[reading.clone(), reading])).unwrap();
    let server = ScriptedServer::start(|call| match call {
        "PUT /v1/spaces/ann" => Reply::new("200 OK", json!({})),
        "POST /v1/spaces/ann/records" => {
            let item = |index: usize| json!({ "index": index, "id": index.to_string(), "status": "accepted" });
            Reply::new("202 Accepted", json!({ "watermark": "w", "items": [item(0), item(1)] }))
        }
        _ => Reply::problem("403 Forbidden", "the key lacks the right `read`", &json!({})),
    });
    let output = server.run(&["import", file.to_str().unwrap(), "-s", "ann"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "2 records in, 2 of 4 lines left out; the key may not check whether they are searchable\n"
    );
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(
        stderr.matches("lines with readings are left out").count(),
        1,
        "{stderr}"
    );
    assert_eq!(
        server.calls(),
        [
            "PUT /v1/spaces/ann",
            "GET /v1/spaces/ann",
            "POST /v1/spaces/ann/records"
        ]
    );
}
