//! Imports of chat messages: some become several records, and some none.

use std::path::PathBuf;
use std::process::Output;

use serde_json::{Value, json};

use crate::scripted_server::{Reply, ScriptedServer};
use crate::server::{fresh_directory, mnemic};

const SEND: &str = "POST /v1/spaces/ann/records";
const TOO_LONG: &str = "tool.arguments: has 40000 bytes, more than 32768";

/// Writes a file of three messages: a system message, a message with two tool calls, and a message of Ann.
fn talk(folder: &str) -> PathBuf {
    let calls = json!([
        { "id": "c1", "function": { "name": "look", "arguments": "{}" } },
        { "id": "c2", "function": { "name": "write", "arguments": "{}" } },
    ]);
    let messages = [
        json!({ "id": "m1", "role": "system", "content": "Be short." }),
        json!({ "id": "m2", "role": "assistant", "content": "Let me look.", "tool_calls": calls }),
        json!({ "id": "m3", "role": "user", "name": "Ann", "content": [{ "type": "text", "text": "I moved to Oslo." }] }),
    ];
    let file = fresh_directory(folder).join("talk.jsonl");
    let text: String = messages.iter().map(|it| format!("{it}\n")).collect();
    std::fs::write(&file, text).unwrap();
    file
}

fn item(index: usize, id: &str, problem: Option<&str>) -> Value {
    let mut item = json!({ "index": index, "id": id, "status": "accepted" });
    if let Some(detail) = problem {
        let kind = "urn:mnemic:problem:invalid";
        item["status"] = json!("rejected");
        item["problem"] = json!({ "type": kind, "title": "invalid", "status": 422, "detail": detail });
    }
    item
}

/// Starts a server that answers writes with `answer`.
fn server(mut answer: impl FnMut() -> Reply + Send + 'static) -> ScriptedServer {
    ScriptedServer::start(move |call| match call {
        "PUT /v1/spaces/ann" => Reply::new("200 OK", json!({})),
        "GET /v1/spaces/ann" => {
            let at = "2026-03-02T18:00:00Z";
            let space = json!({ "space": "ann", "created_at": at, "records": 0, "units": 0, "watermark": "w" });
            Reply::new("200 OK", space)
        }
        SEND => answer(),
        "GET /v1/spaces/ann/progress" => {
            Reply::new("200 OK", json!({ "watermark": "w", "written": true, "backlog": 0 }))
        }
        _ => Reply::problem("404 Not Found", "there is no such route", &json!({})),
    })
}

/// Returns the exit code, the output and the error output.
fn captured(output: Output) -> (Option<i32>, String, String) {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_rejected_tool_call_is_reported_by_its_line_and_its_id() {
    let file = talk("import-messages-call");
    let server = server(|| {
        let items = [
            item(1, "m2", None),
            item(1, "m2/1", None),
            item(1, "m2/2", Some(TOO_LONG)),
            item(2, "m3", None),
        ];
        Reply::new(
            "202 Accepted",
            json!({ "watermark": "w", "items": items, "left_out": 1 }),
        )
    });
    let (code, stdout, stderr) = captured(server.run(&["import", file.to_str().unwrap(), "-s", "ann"]));
    assert_eq!(
        (code, stdout.as_str()),
        (
            Some(3),
            "3 records in, 1 left out as invalid; all searchable\n\
             not imported: system, developer and empty messages: 1\n"
        )
    );
    assert_eq!(stderr, format!("line 2 (m2/2): {TOO_LONG}\n"));
}

#[test]
fn a_rejected_record_beyond_the_lines_is_counted_and_reported_by_its_id() {
    let file = talk("import-messages-beyond");
    let server = server(|| {
        let items = [item(0, "m2", None), item(3, "m2/2", Some(TOO_LONG))];
        Reply::new("202 Accepted", json!({ "watermark": "w", "items": items }))
    });
    let (code, stdout, stderr) = captured(server.run(&["import", file.to_str().unwrap(), "-s", "ann"]));
    assert_eq!(
        (code, stdout.as_str()),
        (Some(3), "1 records in, 1 left out as invalid; all searchable\n")
    );
    assert_eq!(stderr, format!("a record of this batch (m2/2): {TOO_LONG}\n"));
}

#[test]
fn a_system_message_alone_in_a_batch_is_not_invalid() {
    let file = talk("import-messages-alone");
    let mut sent = 0;
    let server = server(move || {
        sent += 1;
        if sent == 1 {
            let why = "records: must be 1 to 1000, this request has 0";
            return Reply::problem("422 Unprocessable Content", why, &json!({}));
        }
        let items = [item(0, &format!("m{sent}"), None)];
        Reply::new("202 Accepted", json!({ "watermark": "w", "items": items }))
    });
    let import = ["import", file.to_str().unwrap(), "-s", "ann", "--batch", "1"];
    let (code, stdout, stderr) = captured(server.run(&import));
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert_eq!(
        stdout,
        "2 records in; all searchable\nnot imported: system, developer and empty messages: 1\n"
    );
    assert_eq!(server.calls().iter().filter(|it| *it == SEND).count(), 3);
}

#[test]
fn a_dry_run_shows_messages_with_their_authors_and_texts() {
    let file = talk("import-messages-dry");
    let import = ["import", file.to_str().unwrap(), "-s", "ann", "--dry-run"];
    let (code, stdout, stderr) = captured(mnemic().args(import).output().unwrap());
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    for expected in [
        "records of Mnemic: 3 lines with 2 records in 1 sessions\n",
        "tool calls of messages, which become records of their own: 2\n",
        "  assistant: Let me look.\n",
        "  Ann: I moved to Oslo.\n",
        "not imported: system, developer and empty messages: 1\n",
    ] {
        assert!(stdout.contains(expected), "{expected} is not in {stdout}");
    }
}

#[test]
fn a_dry_run_shows_what_a_record_without_text_is() {
    let file = fresh_directory("import-messages-textless").join("talk.jsonl");
    let call = json!([{ "id": "c1", "function": { "name": "look", "arguments": "{}" } }]);
    let records = [
        json!({ "id": "1", "actor": "Ann", "text": "" }),
        json!({ "id": "2", "actor": "Ben", "tool": { "name": "look", "arguments": {} } }),
        json!({ "id": "3", "role": "assistant", "content": null, "tool_calls": call }),
        json!({ "id": "4", "actor": "Eva", "image_caption": "A red kayak." }),
    ];
    let text: String = records.iter().map(|it| format!("{it}\n")).collect();
    std::fs::write(&file, text).unwrap();
    let import = ["import", file.to_str().unwrap(), "-s", "ann", "--dry-run"];
    let (_, stdout, _) = captured(mnemic().args(import).output().unwrap());
    for expected in [
        "  Ann: no text\n",
        "  Ben: a call of a tool\n",
        "  assistant: a call of a tool\n",
        "  Eva: A red kayak.\n",
    ] {
        assert!(stdout.contains(expected), "{expected} is not in {stdout}");
    }
}
