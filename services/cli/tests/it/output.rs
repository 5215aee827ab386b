//! Standard output that cannot be written: a full disk, and a reader that closes the pipe.

use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::sync::mpsc::channel;

use serde_json::json;

use crate::scripted_server::{Reply, ScriptedServer};
use crate::server::mnemic;

/// Writes to this device fail as on a full disk; only Linux has it.
const FULL: &str = "/dev/full";

#[test]
fn a_command_whose_output_is_cut_by_a_full_disk_fails() {
    let Ok(full) = OpenOptions::new().write(true).open(FULL) else {
        return;
    };
    let output = mnemic().args(["config", "--sample"]).stdout(full).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(
        stderr.starts_with("error: cannot write to standard output: "),
        "{stderr}"
    );
    let output = mnemic().args(["config", "--sample"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_list_whose_reader_is_gone_requests_no_more_pages() {
    let (gone, is_gone) = channel();
    let mut pages = 0;
    let server = ScriptedServer::start(move |_| {
        pages += 1;
        if pages == 2 {
            is_gone.recv().unwrap();
        }
        let record = json!({ "id": format!("n{pages}"), "record": "00000000-0000-0000-0000-000000000000", "session": "s",
            "ordinal": 0, "modality": "text", "actor": "Ann", "text": "A fine day.",
            "observed_at": "2026-03-02T18:00:00Z", "metadata": {} });
        let next = (pages < 20).then_some("more");
        Reply::new("200 OK", json!({ "items": [record], "next": next }))
    });
    let mut command = mnemic();
    command.args(["records", "-s", "ann", "--url", server.url()]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    reader.read_line(&mut first).unwrap();
    drop(reader);
    gone.send(()).unwrap();
    assert!(child.wait().unwrap().success());
    assert!(first.ends_with("Ann: A fine day.\n"), "{first}");
    assert_eq!(server.calls().len(), 2, "{:?}", server.calls());
}
