//! Imports and exports of files: records erased in between, files of other programs, states that cannot be stored.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use crate::scripted_server::{FAILED_WRITE, Reply, ScriptedServer};
use crate::server::{Server, fresh_directory, line, mnemic};

/// Runs a command against a server; returns its exit code, its output and its error output.
pub(crate) fn run(server: &Server, arguments: &[&str]) -> (Option<i32>, String, String) {
    captured_output(mnemic().args(arguments).args(["--url", url(server)]).output().unwrap())
}

fn url(server: &Server) -> &str {
    server.base.trim_end_matches("/v1")
}

fn captured_output(output: Output) -> (Option<i32>, String, String) {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn lines() -> Vec<Value> {
    vec![
        line("1", "Ines", "2026-03-02T18:00:00Z", "I finally adopted a greyhound."),
        line("2", "Omar", "2026-03-02T18:01:00Z", "Der Kanusteg ist grün gestrichen."),
        line("3", "Ines", "2026-03-09T20:00:00Z", "昨日、カヌーを青く塗りました。"),
    ]
}

fn written(file: &Path, lines: &[Value]) {
    let text: String = lines.iter().map(|it| format!("{it}\n")).collect();
    std::fs::write(file, text).unwrap();
}

async fn started(name: &str) -> (Server, PathBuf) {
    let folder = fresh_directory(name);
    let server = Server::start(&folder.join("data")).await;
    (server, folder.join("talk.jsonl"))
}

/// Returns the listed records without the fields that differ between spaces.
async fn listed(server: &Server, space: &str) -> Vec<Value> {
    let mut records = server.list(&format!("/spaces/{space}/records")).await;
    for record in &mut records {
        record.as_object_mut().unwrap().remove("record");
    }
    records
}

#[tokio::test]
async fn a_file_is_imported_again_after_its_space_was_erased_and_recreated() {
    let (server, file) = started("import-erased-space").await;
    written(&file, &lines());
    let import = ["import", file.to_str().unwrap(), "-s", "ann"];
    assert_eq!(run(&server, &import).1, "3 records in; all searchable\n");
    assert_eq!(
        run(&server, &import).1,
        "0 records in, 3 lines were read earlier; all searchable\n"
    );
    assert_eq!(run(&server, &["spaces", "delete", "ann", "--yes"]).0, Some(0));
    let (code, stdout, stderr) = run(&server, &import);
    assert_eq!((code, stdout.as_str()), (Some(0), "3 records in; all searchable\n"));
    assert!(stderr.contains("created again"), "{stderr}");
    assert_eq!(listed(&server, "ann").await.len(), 3);
}

#[tokio::test]
async fn an_erased_record_is_imported_again_with_restart() {
    let (server, file) = started("import-erased-record").await;
    written(&file, &lines());
    let import = ["import", file.to_str().unwrap(), "-s", "ann"];
    let again = ["import", file.to_str().unwrap(), "-s", "ann", "--restart"];
    run(&server, &import);
    let (code, stdout, stderr) = run(&server, &["erase", "2", "-s", "ann"]);
    assert_eq!((code, stdout.as_str()), (Some(1), ""));
    assert!(
        stderr.contains("erases 2 with all versions of this record and"),
        "{stderr}"
    );
    let stdout = run(&server, &["erase", "2", "-s", "ann", "--yes"]).1;
    assert!(
        stdout.starts_with("2 erased with all versions of this record\nreceipt "),
        "{stdout}"
    );
    assert_eq!(listed(&server, "ann").await.len(), 2);
    let (code, stdout, _) = run(&server, &again);
    assert_eq!(
        (code, stdout.as_str()),
        (Some(0), "1 records in, 2 were there before; all searchable\n")
    );
    assert_eq!(listed(&server, "ann").await.len(), 3);
}

#[tokio::test]
async fn listed_and_exported_records_are_imported_unchanged() {
    let (server, file) = started("import-round").await;
    let mut lines = lines();
    lines.push(
        json!({ "id": "4", "actor": "agent", "observed_at": "2026-03-10T08:00:00+01:00", "metadata": { "run": "7" },
        "tool": { "name": "ls", "arguments": { "path": "/tmp" }, "result": "a\nb" } }),
    );
    lines.push(json!({ "id": "5", "session": "pictures", "image_caption": "a blue canoe", "image_uri": "https://example.org/1" }));
    lines.push(json!({ "text": "Without an id, a time or anybody." }));
    written(&file, &lines);
    run(
        &server,
        &["import", file.to_str().unwrap(), "-s", "ann", "--batch", "2"],
    );
    let there = listed(&server, "ann").await;
    assert_eq!(there.len(), 6);

    written(&file, &server.list("/spaces/ann/records").await);
    let (code, stdout, stderr) = run(&server, &["import", file.to_str().unwrap(), "-s", "copy"]);
    assert_eq!(
        (code, stdout.as_str(), stderr.as_str()),
        (Some(0), "6 records in; all searchable\n", "")
    );
    assert_eq!(listed(&server, "copy").await, there);

    let target = file.with_file_name("out.jsonl");
    let export = ["export", "-s", "ann", "--out", target.to_str().unwrap()];
    let (code, stdout, _) = run(&server, &export);
    assert_eq!(code, Some(0));
    assert!(stdout.starts_with("6 records written to "), "{stdout}");
    run(&server, &["import", target.to_str().unwrap(), "-s", "third"]);
    assert_eq!(listed(&server, "third").await, there);
    let (code, stdout, _) = run(&server, &["export", "-s", "ann"]);
    assert_eq!((code, stdout), (Some(0), std::fs::read_to_string(&target).unwrap()));

    let (code, _, stderr) = run(&server, &export);
    assert_eq!(code, Some(1));
    assert!(stderr.contains("exists"), "{stderr}");
    let (code, _, stderr) = run(&server, &["export", "-s", "nowhere"]);
    assert_eq!(code, Some(1));
    assert!(stderr.contains("no space `nowhere`; `mnemic spaces list`"), "{stderr}");
}

#[tokio::test]
async fn an_export_has_every_page() {
    let (server, file) = started("import-pages").await;
    let many: Vec<Value> = (0..250)
        .map(|it| json!({ "id": format!("n{it}"), "text": format!("The number {it}.") }))
        .collect();
    written(&file, &many);
    run(&server, &["import", file.to_str().unwrap(), "-s", "ann"]);
    let (code, stdout, _) = run(&server, &["export", "-s", "ann"]);
    let ids: Vec<Value> = stdout
        .lines()
        .map(|it| serde_json::from_str::<Value>(it).unwrap()["id"].take())
        .collect();
    let sent: Vec<Value> = many.iter().map(|it| it["id"].clone()).collect();
    assert_eq!((code, ids), (Some(0), sent));
    let (code, stdout, _) = run(&server, &["records", "-s", "ann"]);
    assert_eq!((code, stdout.lines().count()), (Some(0), 250));
    assert!(
        stdout.lines().next().unwrap().ends_with("  -: The number 0."),
        "{stdout}"
    );
    let (_, stdout, _) = run(&server, &["records", "n7", "-s", "ann"]);
    assert_eq!(serde_json::from_str::<Value>(&stdout).unwrap()["text"], "The number 7.");
}

#[tokio::test]
async fn standard_input_is_imported_without_stored_progress() {
    let (server, file) = started("import-stdin").await;
    let folder = file.with_file_name("here");
    std::fs::create_dir(&folder).unwrap();
    for expected in [
        "3 records in; all searchable\n",
        "0 records in, 3 were there before; all searchable\n",
    ] {
        let mut command = mnemic();
        command.args(["import", "-", "-s", "ann", "--url", url(&server)]);
        command
            .current_dir(&folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        for line in lines() {
            writeln!(child.stdin.as_mut().unwrap(), "{line}").unwrap();
        }
        let (code, stdout, stderr) = captured_output(child.wait_with_output().unwrap());
        assert_eq!((code, stdout.as_str(), stderr.as_str()), (Some(0), expected, ""));
    }
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
}

#[tokio::test]
async fn long_texts_are_imported_and_one_that_is_too_long_is_skipped() {
    let (server, file) = started("import-long").await;
    let at = "2026-03-02T18:00:00Z";
    let text = |bytes: usize| {
        let paragraphs = (0..).map(|it| format!("Paragraph {it} of the ledger, “copied” by Ines.\r\n\n"));
        let mut out = String::new();
        paragraphs
            .take_while(|it| {
                out.push_str(it);
                out.len() < bytes
            })
            .for_each(drop);
        out
    };
    let mut all = vec![
        line("1", "Ines", at, &text(53_000)),
        line("2", "Ines", at, &text(1_100 << 10)),
        line("3", "Ines", at, &text(348_000)),
    ];
    // Together, these records exceed the limit of one request.
    all.extend((4..100).map(|it| line(&it.to_string(), "Ines", at, &text(53_000))));
    written(&file, &all);
    let (code, stdout, stderr) = run(&server, &["import", file.to_str().unwrap(), "-s", "ann"]);
    assert_eq!(
        (code, stdout.as_str()),
        (Some(3), "98 records in, 1 of 99 lines left out; all searchable\n"),
        "{stderr}"
    );
    assert!(
        stderr.starts_with("line 2: text: has ") && stderr.contains("more than 1048576"),
        "{stderr}"
    );
    let out = file.with_file_name("out.jsonl");
    let (code, _, stderr) = run(&server, &["export", "-s", "ann", "--out", out.to_str().unwrap()]);
    assert_eq!(code, Some(0), "{stderr}");
    let exported: Vec<Value> = std::fs::read_to_string(&out)
        .unwrap()
        .lines()
        .map(|it| serde_json::from_str(it).unwrap())
        .collect();
    for wanted in all.iter().filter(|it| it["id"] != "2") {
        let found = exported.iter().find(|it| it["id"] == wanted["id"]).unwrap();
        assert!(found["text"] == wanted["text"], "{} came out otherwise", wanted["id"]);
    }
}

#[tokio::test]
async fn a_byte_order_mark_loses_no_line_and_a_list_is_refused_with_advice() {
    let (server, file) = started("import-forms").await;
    let text: String = lines().iter().map(|it| format!("{it}\r\n")).collect();
    std::fs::write(&file, format!("\u{feff}{text}")).unwrap();
    let import = ["import", file.to_str().unwrap(), "-s", "ann"];
    assert_eq!(run(&server, &import).1, "3 records in; all searchable\n");

    // Concatenated files, each with its own mark.
    let joined: String = lines().iter().map(|it| format!("\u{feff}{it}\n")).collect();
    std::fs::write(&file, joined).unwrap();
    let import = ["import", file.to_str().unwrap(), "-s", "joined"];
    assert_eq!(run(&server, &import).1, "3 records in; all searchable\n");
    for little in [true, false] {
        let units = "\u{feff}".encode_utf16().chain(text.encode_utf16());
        let bytes = units.flat_map(|it| if little { it.to_le_bytes() } else { it.to_be_bytes() });
        std::fs::write(&file, bytes.collect::<Vec<u8>>()).unwrap();
        let (code, stdout, stderr) = run(&server, &["import", file.to_str().unwrap(), "-s", "wide"]);
        assert_eq!((code, stdout.as_str()), (Some(1), ""));
        assert!(stderr.contains("iconv -f UTF-16 -t UTF-8"), "{stderr}");
    }

    for list in [json!(lines()).to_string(), format!("\u{feff}{:#}", json!(lines()))] {
        std::fs::write(&file, list).unwrap();
        let (code, stdout, stderr) = run(&server, &["import", file.to_str().unwrap(), "-s", "list"]);
        assert_eq!((code, stdout.as_str()), (Some(1), ""));
        assert!(stderr.contains("jq -c '.[]'"), "{stderr}");
    }
    std::fs::write(&file, "[1]\n{\"text\": \"A fine day.\"}\n").unwrap();
    let (code, stdout, stderr) = run(&server, &["import", file.to_str().unwrap(), "-s", "wrong"]);
    assert_eq!(
        (code, stdout.as_str(), stderr.as_str()),
        (
            Some(3),
            "1 records in, 1 of 2 lines left out; all searchable\n",
            "line 1: not a JSON object\n"
        )
    );
    let (code, stdout, _) = run(&server, &["import", file.to_str().unwrap(), "-s", "wrong"]);
    assert_eq!(
        (code, stdout.as_str()),
        (
            Some(3),
            "0 records in, 2 lines were read earlier, 1 of 2 lines left out, 1 of them earlier: --restart sends them again; \
             all searchable\n"
        ),
        "what was left out is no less so the second time"
    );
}

#[tokio::test]
async fn an_import_succeeds_even_if_its_progress_cannot_be_stored() {
    let (server, file) = started("import-unkept").await;
    written(&file, &lines());
    // The user who runs the tests may be allowed to write anywhere, but no user can create a folder below a file.
    let import = || {
        let mut command = mnemic();
        command.env("XDG_STATE_HOME", file.join("below"));
        command.args([
            "import",
            file.to_str().unwrap(),
            "-s",
            "ann",
            "--batch",
            "1",
            "--url",
            url(&server),
        ]);
        captured_output(command.output().unwrap())
    };
    let (code, stdout, stderr) = import();
    assert_eq!((code, stdout.as_str()), (Some(0), "3 records in; all searchable\n"));
    assert_eq!(stderr.matches("continuing without").count(), 1, "{stderr}");
    assert_eq!(import().1, "0 records in, 3 were there before; all searchable\n");
}

/// Returns the files that commands with this state folder have stored.
fn kept(states: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(states.join("mnemic/imports")).unwrap();
    files.map(|it| it.unwrap().path()).collect()
}

#[tokio::test]
async fn an_import_leaves_nothing_next_to_the_file_and_keeps_its_state_private() {
    use std::os::unix::fs::PermissionsExt;

    let (server, file) = started("import-state").await;
    written(&file, &lines());
    let folder = file.parent().unwrap();
    let states = folder.join("states");
    let import = || {
        let mut command = mnemic();
        command.env("XDG_STATE_HOME", &states);
        command.args(["import", file.to_str().unwrap(), "-s", "ann", "--url", url(&server)]);
        captured_output(command.output().unwrap())
    };
    assert_eq!(import().1, "3 records in; all searchable\n");
    let former = folder.join("talk.jsonl.ann.imported");
    assert!(!former.exists() && kept(&states).len() == 1);
    let state = kept(&states).remove(0);
    assert_eq!(state.metadata().unwrap().permissions().mode() & 0o777, 0o600);

    // The state as an earlier release stored it is read once and then moved.
    std::fs::rename(&state, &former).unwrap();
    let resumed = "0 records in, 3 lines were read earlier; all searchable\n";
    assert_eq!(import().1, resumed);
    assert!(!former.exists() && state.exists());

    // A watermark that the server cannot decrypt is dropped once.
    let mut saved: Value = serde_json::from_slice(&std::fs::read(&state).unwrap()).unwrap();
    saved["watermark"] = json!("another server's");
    std::fs::write(&state, saved.to_string()).unwrap();
    let (code, stdout, stderr) = import();
    assert_eq!((code, stdout.as_str()), (Some(0), resumed));
    assert!(stderr.contains("watermark of the earlier import"), "{stderr}");
    assert_eq!(import(), (Some(0), resumed.to_owned(), String::new()));
}

/// An import with a write that failed permanently does not wait for it. The next import sends the file again.
#[test]
fn a_write_that_failed_permanently_ends_an_import() {
    const SEND: &str = "POST /v1/spaces/ann/records";
    let file = fresh_directory("import-failed").join("talk.jsonl");
    written(&file, &lines());
    let server = ScriptedServer::start(|call| match call {
        "PUT /v1/spaces/ann" => Reply::new("200 OK", json!({})),
        "GET /v1/spaces/ann" => {
            let at = "2026-03-02T18:00:00Z";
            let space = json!({ "space": "ann", "created_at": at, "records": 0, "units": 0, "watermark": "w" });
            Reply::new("200 OK", space)
        }
        SEND => {
            let item = |index: usize| json!({ "index": index, "id": index.to_string(), "status": "accepted" });
            let items = json!([item(0), item(1), item(2)]);
            Reply::new("202 Accepted", json!({ "watermark": "w", "items": items }))
        }
        _ => Reply::failed_write(),
    });
    for sent in [1, 2] {
        let output = server.run(&["import", file.to_str().unwrap(), "-s", "ann"]);
        let (code, stdout, stderr) = captured_output(output);
        assert_eq!((code, stdout.as_str()), (Some(3), ""), "{stderr}");
        assert_eq!(stderr, format!("{FAILED_WRITE}\n"));
        let calls = server.calls();
        assert_eq!(calls.iter().filter(|it| *it == SEND).count(), sent, "{calls:?}");
        let waits = calls.iter().filter(|it| it.ends_with("/progress")).count();
        assert_eq!(waits, sent, "{calls:?}");
    }
}
