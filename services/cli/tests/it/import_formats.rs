//! Imports of exports of other programs, and of documents.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::import::run;
use crate::server::{Server, fresh_directory, mnemic};

async fn started(name: &str) -> (Server, PathBuf) {
    let folder = fresh_directory(name);
    let server = Server::start(&folder.join("data")).await;
    (server, folder)
}

fn import<'a>(file: &'a Path, more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["import", file.to_str().unwrap(), "-s", "ann"];
    arguments.extend(more);
    arguments
}

/// Returns a conversation in the export format of ChatGPT: a system message, a question, and any number of answers to
/// it, of which the last one is shown.
fn conversation(id: &str, question: &str, answers: &[&str]) -> Value {
    let node = |parent: &str, role: &str, at: f64, text: &str| {
        json!({ "parent": parent, "children": [], "message": { "author": { "role": role }, "create_time": at,
            "content": { "content_type": "text", "parts": [text] } } })
    };
    let mut nodes = json!({
        "root": { "message": null, "parent": null },
        "system": node("root", "system", 1_772_474_400.0, ""),
        format!("{id}-q"): node("system", "user", 1_772_474_401.25, question),
    });
    for (index, answer) in answers.iter().enumerate() {
        nodes[format!("{id}-a{index}")] = node(&format!("{id}-q"), "assistant", 1_772_474_402.0, answer);
    }
    let last = format!("{id}-a{}", answers.len() - 1);
    json!({ "title": format!("About {id}"), "id": id, "mapping": nodes, "current_node": last })
}

fn conversations() -> [Value; 2] {
    [
        conversation("c1", "I adopted a greyhound called Miso.", &["No.", "How nice!"]),
        conversation("c2", "I moved to Oslo.", &["Welcome."]),
    ]
}

#[tokio::test]
async fn conversations_of_chatgpt_are_imported_once_and_a_broken_one_is_skipped() {
    let (server, folder) = started("import-chatgpt").await;
    let file = folder.join("conversations.json");
    let [first, second] = conversations();
    std::fs::write(&file, format!("[{first}, {{\"mapping\": 7}}, {{\"a\": [1}}, {second}]")).unwrap();

    let (code, stdout, stderr) = run(&server, &import(&file, &["--dry-run"]));
    assert_eq!(code, Some(3), "{stderr}");
    assert!(
        stdout.starts_with("an export of ChatGPT: 4 conversations with 4 records in 2 sessions\n"),
        "{stdout}"
    );
    for expected in [
        "observed from 2026-03-02 to 2026-03-02\n",
        "by assistant: 2, user: 2\n",
        "  2026-03-02T18:00  user: I adopted a greyhound called Miso.\n",
        "nothing was sent\n",
        "not imported: messages on other branches: 1, system messages: 2\n",
    ] {
        assert!(stdout.contains(expected), "{expected} is not in {stdout}");
    }
    assert!(server.list("/spaces").await.is_empty());

    let (code, stdout, stderr) = run(&server, &import(&file, &["--batch", "1"]));
    assert_eq!(
        (code, stdout.as_str()),
        (
            Some(3),
            "4 records in, 2 left out as invalid; all searchable\n\
             not imported: messages on other branches: 1, system messages: 2\n"
        )
    );
    let places: Vec<&str> = stderr.lines().filter_map(|it| it.split(": ").next()).collect();
    assert_eq!(places, ["conversation 2", "conversation 3"], "{stderr}");
    let records = server.list("/spaces/ann/records").await;
    let shown: Vec<String> = records
        .iter()
        .map(|it| format!("{} {} {}", it["id"], it["actor"], it["observed_at"]))
        .collect();
    assert_eq!(
        shown,
        [
            r#""chatgpt:c1-q" "user" "2026-03-02T18:00:01.250Z""#,
            r#""chatgpt:c1-a1" "assistant" "2026-03-02T18:00:02Z""#,
            r#""chatgpt:c2-q" "user" "2026-03-02T18:00:01.250Z""#,
            r#""chatgpt:c2-a0" "assistant" "2026-03-02T18:00:02Z""#,
        ]
    );
    assert_eq!(
        (&records[0]["session"], &records[0]["metadata"]["title"]),
        (&json!("chatgpt:c1"), &json!("About c1"))
    );

    let stdout = run(&server, &import(&file, &[])).1;
    assert!(
        stdout.starts_with("0 records in, 4 conversations were read earlier, 2 left out as invalid"),
        "{stdout}"
    );
    std::fs::write(&file, json!(conversations()).to_string()).unwrap();
    let (code, stdout, stderr) = run(&server, &import(&file, &[]));
    assert_eq!(code, Some(0), "{stderr}");
    assert!(
        stdout.starts_with("0 records in, 4 were there before; all searchable\n"),
        "{stdout}"
    );
    assert!(
        stderr.contains("the conversations read earlier have changed"),
        "{stderr}"
    );
}

#[tokio::test]
async fn exports_of_other_memories_and_of_claude_are_recognised() {
    let (server, folder) = started("import-memories").await;
    let file = folder.join("export.json");
    let at = "2026-03-02T18:00:00Z";
    let claude = json!([{ "uuid": "k1", "name": "Cats", "chat_messages": [
        { "uuid": "m1", "sender": "human", "text": "My cat is called Miso.", "created_at": at },
        { "uuid": "m2", "sender": "assistant", "content": [{ "type": "text", "text": "Nice." }], "created_at": at },
    ] }]);
    let mem0 = json!({ "results": [{ "id": "m1", "memory": "Prefers green tea", "user_id": "ann", "created_at": at }, { "id": "m2" }],
        "relations": [{ "source": "ann" }] });
    let hindsight = json!({ "items": [{ "id": "h1", "text": "Ann moved to Oslo.", "fact_type": "world", "mentioned_at": at }], "total": 1 });
    for (export, code, expected) in [
        (claude, Some(0), "2 records in; all searchable\n"),
        (
            mem0,
            Some(3),
            "1 records in, 1 left out as invalid; all searchable\nnot imported: `relations`\n",
        ),
        (hindsight, Some(0), "1 records in; all searchable\n"),
    ] {
        std::fs::write(&file, export.to_string()).unwrap();
        assert_eq!(run(&server, &import(&file, &["--restart"])).0, code, "{expected}");
        let (_, stdout, _) = run(&server, &["import", file.to_str().unwrap(), "-s", "again", "--restart"]);
        assert_eq!(stdout, expected);
    }
    let ids: Vec<Value> = server
        .list("/spaces/ann/records")
        .await
        .iter()
        .map(|it| it["id"].clone())
        .collect();
    assert_eq!(ids, ["claude:m1", "claude:m2", "mem0:m1", "hindsight:h1"]);

    let changed = json!([{ "id": "m1", "memory": "Prefers coffee", "user_id": "ann", "created_at": at }]);
    std::fs::write(&file, changed.to_string()).unwrap();
    let (code, stdout, stderr) = run(&server, &import(&file, &[]));
    assert_eq!(
        (code, stdout.as_str()),
        (Some(3), "0 records in, 1 left out as invalid; all searchable\n")
    );
    assert!(stderr.contains("memory 1 (mem0:m1): "), "{stderr}");
}

#[tokio::test]
async fn a_folder_of_documents_is_imported_and_its_new_parts_later() {
    let (server, folder) = started("import-documents").await;
    let notes = folder.join("notes");
    std::fs::create_dir_all(notes.join("trips")).unwrap();
    std::fs::create_dir_all(notes.join(".git")).unwrap();
    for (name, text) in [
        (
            "trips/oslo.md",
            "---\ndate: 2026-03-02\n---\n# Oslo\nWe moved to Oslo.\n\n## Food\nFish.\n",
        ),
        ("boat.txt", "The boat is blue.\n\nIt is called Ines."),
        (".git/x.md", "hidden"),
        ("photo.png", "no text"),
    ] {
        std::fs::write(notes.join(name), text).unwrap();
    }
    let left_out = "not imported: files that are neither .md nor .txt: 1, hidden files and folders: 1\n";
    let (code, stdout, stderr) = run(&server, &import(&notes, &[]));
    assert_eq!(
        (code, stdout, stderr.as_str()),
        (Some(0), format!("3 records in; all searchable\n{left_out}"), "")
    );
    let records = server.list("/spaces/ann/records").await;
    let shown: Vec<String> = records
        .iter()
        .map(|it| format!("{} {} {}", it["session"], it["text"], it["metadata"]["heading"]))
        .collect();
    assert_eq!(
        shown,
        [
            r#""boat.txt" "The boat is blue.\n\nIt is called Ines." null"#,
            r##""trips/oslo.md" "# Oslo\n\nWe moved to Oslo." "Oslo""##,
            r###""trips/oslo.md" "## Food\n\nFish." "Oslo > Food""###,
        ]
    );
    assert_eq!(records[1]["observed_at"], "2026-03-02T00:00:00Z");

    let (_, stdout, _) = run(&server, &import(&notes, &[]));
    assert!(
        stdout.starts_with("0 records in, 3 parts were read earlier; "),
        "{stdout}"
    );
    std::fs::write(
        notes.join("boat.txt"),
        "The boat is blue.\n\nIt is called Ines.\n\nIt leaks.",
    )
    .unwrap();
    let (code, stdout, _) = run(&server, &import(&notes, &["--restart"]));
    assert_eq!(code, Some(0));
    assert!(stdout.starts_with("1 records in, 2 were there before; "), "{stdout}");
}

/// The server refuses a time in the future, and the dry run agrees with the import about it.
#[tokio::test]
async fn documents_keep_a_date_in_the_future_in_their_metadata() {
    let (server, folder) = started("import-future").await;
    let notes = folder.join("notes");
    std::fs::create_dir_all(&notes).unwrap();
    for (name, text) in [
        ("2999-01-15 fair.md", "The fair opens.\n"),
        ("plan.md", "---\ndate: 2999-02-01\n---\nThe boat will be blue.\n"),
        ("old.md", "---\ndate: March 2, 2026\n---\nThe boat is red.\n"),
        ("rule.md", "---\nWe met Oona at the harbour.\n---\n\nLater we sailed.\n"),
        ("empty.md", "---\ntitle: Nothing\n---\n"),
    ] {
        std::fs::write(notes.join(name), text).unwrap();
    }
    let left_out = "not imported: documents with nothing but front matter: 1, times in the future: 2, \
                    times that could not be read: 1\n";
    let (code, stdout, stderr) = run(&server, &import(&notes, &["--dry-run"]));
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert!(
        stdout.ends_with(left_out) && !stdout.contains("observed from"),
        "{stdout}"
    );
    let (code, stdout, stderr) = run(&server, &import(&notes, &[]));
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{stdout}");
    assert!(stdout.ends_with(left_out), "{stdout}");
    let records = server.list("/spaces/ann/records").await;
    let dates: Vec<(&Value, &Value)> = records
        .iter()
        .map(|it| (&it["session"], &it["metadata"]["date"]))
        .collect();
    assert!(
        dates.contains(&(&json!("2999-01-15 fair.md"), &json!("2999-01-15T00:00:00Z")))
            && dates.contains(&(&json!("plan.md"), &json!("2999-02-01"))),
        "{dates:?}"
    );
    assert!(
        records.iter().any(|it| it["text"].to_string().contains("We met Oona")),
        "{records:?}"
    );
}

#[test]
fn inputs_of_unknown_format_are_refused_with_advice() {
    let folder = fresh_directory("import-unsure");
    for (name, content, expected) in [
        ("notes", "Dear diary", "--format"),
        ("export.zip", "PK\u{3}\u{4}", "unzip"),
        ("list.json", "[{\"x\": 1}]", "jq -c '.[]'"),
    ] {
        let file = folder.join(name);
        std::fs::write(&file, content).unwrap();
        let output = mnemic().args(import(&file, &["--dry-run"])).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{name}: {stderr}");
        assert!(stderr.contains(expected), "{name}: {stderr}");
    }
    let file = folder.join("notes");
    let output = mnemic()
        .args(import(&file, &["--dry-run", "--format", "text"]))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(
        stdout.starts_with("plain text: 1 part with 1 records in 1 sessions\n"),
        "{stdout}"
    );
    assert!(stdout.contains("  without a time  -: Dear diary\n"), "{stdout}");
}
