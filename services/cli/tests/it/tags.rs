//! Tags from the command line to the answer, over the real services: set at import, exported, and used as filters.

use std::fs;

use serde_json::{Value, json};

use crate::import::run;
use crate::server::{Server, fresh_directory, line};

fn ask_about_dog(server: &Server, tag: &str) -> Value {
    let question = "What is the name of the dog that Ines adopted?";
    let options = ["--tag", tag, "--json", "--time-ms", "20000"];
    let (_, stdout, stderr) = run(server, &[&["ask", question, "-s", "pair"], &options[..]].concat());
    serde_json::from_str(&stdout).unwrap_or_else(|_| panic!("{stdout}{stderr}"))
}

#[tokio::test]
async fn tags_filter_lists_and_questions_and_survive_an_export() {
    let server = Server::with_talk(
        "tags",
        "pair",
        &json!({ "records": [
            line("1", "Ines", "2026-03-02T18:00:00Z", "I finally adopted a greyhound. His name is Zebulon."),
        ]}),
    )
    .await;
    let dir = fresh_directory("tags-files");
    let (file, copy) = (dir.join("work.jsonl"), dir.join("copy.jsonl"));
    let mut records = [
        line(
            "2",
            "Ines",
            "2026-03-03T09:00:00Z",
            "The name of the new project is Halcyon.",
        ),
        line(
            "3",
            "Omar",
            "2026-03-03T09:01:00Z",
            "I will paint the canoe blue on Sunday.",
        ),
    ];
    records[0]["tags"] = json!(["project"]);
    records[0]["metadata"] = json!({ "priority": "3" });
    let text: String = records.iter().map(|it| format!("{it}\n")).collect();
    fs::write(&file, text).unwrap();
    let import = ["import", file.to_str().unwrap(), "-s", "pair", "--tag", "work"];
    let (code, stdout, stderr) = run(&server, &import);
    assert_eq!(code, Some(0), "{stdout}{stderr}");

    let ids = |arguments: &[&str]| -> Vec<String> {
        let (code, stdout, stderr) = run(&server, &[&["records", "-s", "pair"], arguments].concat());
        assert_eq!((code, stderr.as_str()), (Some(0), ""), "{stdout}");
        let id = |it: &str| it.split_whitespace().next().unwrap().to_owned();
        stdout.lines().map(id).collect()
    };
    assert_eq!(ids(&["--tag", "work"]), ["2", "3"]);
    assert_eq!(ids(&["--tag", "work", "--tag", "project"]), ["2"]);
    let (_, units, _) = run(&server, &["units", "-s", "pair", "--tag", "project"]);
    assert!(units.lines().count() == 1 && units.contains("Halcyon"), "{units}");

    let found = ask_about_dog(&server, "work");
    assert!(!found.to_string().contains("Zebulon"), "{found}");
    assert_ne!(found["verdict"]["status"], "supported", "{found}");
    let metadata = json!({
        "question": "What is the name of the project?",
        "filter": {"tags": {"any": ["work"]}, "metadata": {"key": "priority", "gte": 3}},
        "budget": {"ms": 20_000},
    });
    let (status, found) = server.post("/spaces/pair/query", &metadata).await;
    assert_eq!((status, &found["cost"]["units"]), (200, &json!(1)), "{found}");
    assert!(found["pack"]["text"].as_str().unwrap().contains("Halcyon"), "{found}");
    let tool = "/spaces/pair/tools/lexical_retrieve?tag=work";
    let (_, found) = server.post(tool, &json!({"query": "greyhound Zebulon name"})).await;
    let found = found.to_string();
    assert!(found.contains("Halcyon") && !found.contains("Zebulon"), "{found}");

    let (code, _, stderr) = run(&server, &["export", "-s", "pair", "--out", copy.to_str().unwrap()]);
    assert_eq!(code, Some(0), "{stderr}");
    let (code, _, stderr) = run(&server, &["import", copy.to_str().unwrap(), "-s", "copy"]);
    assert_eq!(code, Some(0), "{stderr}");
    let (_, stdout, _) = run(&server, &["records", "-s", "copy", "--tag", "project"]);
    assert!(stdout.starts_with("2 ") && stdout.lines().count() == 1, "{stdout}");
}

#[tokio::test]
async fn a_file_that_is_imported_with_other_tags_is_sent_again() {
    let server = Server::with_talk(
        "tags-again",
        "pair",
        &json!({ "records": [line("1", "Ines", "2026-03-02T18:00:00Z", "Hi.")] }),
    )
    .await;
    let file = fresh_directory("tags-again-files").join("work.jsonl");
    let record = line(
        "2",
        "Ines",
        "2026-03-03T09:00:00Z",
        "The new project is called Halcyon.",
    );
    fs::write(&file, format!("{record}\n")).unwrap();
    let import = |tags: &[&str]| {
        let options = tags.iter().flat_map(|it| ["--tag", *it]);
        let arguments: Vec<&str> = ["import", file.to_str().unwrap(), "-s", "pair"]
            .into_iter()
            .chain(options)
            .collect();
        run(&server, &arguments)
    };
    assert_eq!(import(&["a", "b"]).1, "1 records in; all searchable\n");
    let resumed = "0 records in, 1 lines were read earlier; all searchable\n";
    assert_eq!(import(&["b", "a"]).1, resumed);
    let (code, stdout, stderr) = import(&["c"]);
    assert_eq!(code, Some(3), "{stdout}{stderr}");
    assert!(
        stderr.starts_with("line 1: "),
        "the tags of a stored record do not change: {stderr}"
    );
}
