//! Versions of records, over HTTP against the binary: questions use the newest version, and earlier moments keep the
//! version before.

use fixtures::wait_for;
use serde_json::{Value, json};

use crate::server::{Server, fresh_directory, line, mnemic};

const MAY: &str = "2026-05-04T09:00:00Z";
const QUESTION: &str = "Which door code does the cellar have?";

fn talk() -> Value {
    json!({ "records": [
        line("code", "Tilda", "2026-03-02T18:00:00Z", "The door code of the cellar is 4711."),
        line("other", "Ruben", "2026-03-02T18:01:00Z", "Thanks, I will bring the olives down on Friday."),
        line("home", "Tilda", "2026-03-03T18:00:00Z", "I live in Aarhus, close to the harbour."),
    ]})
}

async fn put(server: &Server, id: &str, record: &Value, if_match: Option<&str>) -> (u16, Value) {
    let request = server
        .http
        .put(format!("{}/spaces/pair/records/{id}", server.base))
        .json(record);
    let request = match if_match {
        Some(tag) => request.header("if-match", tag),
        None => request,
    };
    server.send(request).await
}

/// Stores a version and waits until it is searchable.
async fn put_written(server: &Server, id: &str, text: &str, at: &str) -> Value {
    let (status, body) = put(server, id, &json!({"text": text, "observed_at": at}), None).await;
    assert_eq!(status, 202, "{body}");
    server.written("pair", body["watermark"].as_str().unwrap()).await;
    body["items"][0].clone()
}

async fn evidence(server: &Server, as_of: Option<&str>) -> String {
    let (status, body) = server
        .post(
            "/spaces/pair/query",
            &json!({"question": QUESTION, "as_of": as_of, "budget": {"ms": 20_000}}),
        )
        .await;
    assert_eq!(status, 200, "{body}");
    body["pack"]["text"].as_str().unwrap().to_owned()
}

async fn with_two_versions(name: &str) -> Server {
    let server = Server::with_talk(name, "pair", &talk()).await;
    let item = put_written(&server, "code", "The door code of the cellar is 9023.", MAY).await;
    assert_eq!((&item["id"], &item["status"]), (&json!("code#v2"), &json!("accepted")));
    server
}

#[tokio::test]
async fn questions_use_the_newest_version_and_earlier_moments_the_one_before() {
    let server = with_two_versions("versions-told").await;
    let now = evidence(&server, None).await;
    assert!(now.contains("9023") && !now.contains("4711"), "{now}");
    let then = evidence(&server, Some("2026-04-01T00:00:00Z")).await;
    assert!(then.contains("4711") && !then.contains("9023"), "{then}");
    let (_, newest) = server.get("/spaces/pair/records/code").await;
    assert_eq!((&newest["id"], &newest["actor"]), (&json!("code#v2"), &json!("Tilda")));
    assert_eq!(newest["version"], json!({"of": "code", "number": 2}));
    let (_, versions) = server.get("/spaces/pair/records/code/versions").await;
    let texts: Vec<&Value> = versions["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["text"])
        .collect();
    assert_eq!(
        texts,
        [
            "The door code of the cellar is 4711.",
            "The door code of the cellar is 9023."
        ]
    );
}

#[tokio::test]
async fn facts_follow_the_newest_version() {
    let server = with_two_versions("versions-facts").await;
    put_written(&server, "home", "I live in Malmö, close to the harbour.", MAY).await;
    for (as_of, expected) in [("", "Malmö"), ("&as_of=2026-04-01T00:00:00Z", "Aarhus")] {
        let path = format!("/spaces/pair/facts?subject=Tilda&current=true{as_of}");
        wait_for(&format!("{path} holds {expected} only"), async || {
            let seen = server.get(&path).await.1;
            let sentences: Vec<&str> = seen["items"]
                .as_array()
                .unwrap()
                .iter()
                .filter_map(|it| it["object"].as_str())
                .collect();
            let lives = |city: &str| sentences.iter().any(|it| it.contains(city));
            match lives(expected) && lives("Malmö") != lives("Aarhus") {
                true => Ok(()),
                false => Err(seen),
            }
        })
        .await;
    }
}

#[tokio::test]
async fn unchanged_content_makes_no_version_and_a_missing_record_can_be_refused() {
    let server = with_two_versions("versions-again").await;
    let same = json!({"text": "The door code of the cellar is 9023."});
    let (_, body) = put(&server, "code", &same, None).await;
    assert_eq!(body["items"][0]["status"], "duplicate", "{body}");
    let (status, body) = put(&server, "gone", &same, Some("*")).await;
    assert_eq!((status, &body["type"]), (412, &json!("urn:mnemic:problem:no-record")));
    let (status, body) = put(
        &server,
        "gone",
        &json!({"role": "user", "content": "Hello there."}),
        None,
    )
    .await;
    assert_eq!((status, &body["items"][0]["id"]), (202, &json!("gone")), "{body}");
    for (id, record, if_match) in [
        ("code%23v2", same.clone(), None),
        ("code", json!({"id": "x", "text": "a"}), None),
        ("code", same.clone(), Some("\"7\"")),
        ("code", json!({"text": ""}), None),
    ] {
        let (status, body) = put(&server, id, &record, if_match).await;
        assert_eq!(status, 422, "{id}: {body}");
    }
    let taken = json!({"records": [{"id": "a#v2", "text": "a"}]});
    assert_eq!(server.post("/spaces/pair/records", &taken).await.0, 422);
}

#[tokio::test]
async fn versions_are_erased_together_and_restored_by_an_import() {
    let server = with_two_versions("versions-moved").await;
    let file = fresh_directory("versions-file").join("pair.jsonl");
    let run = |arguments: &[&str]| {
        let mut command = mnemic();
        command
            .args(arguments)
            .args(["--space", "pair", "--url"])
            .arg(server.base.trim_end_matches("/v1"));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
    };
    run(&["export", "--out", file.to_str().unwrap()]);
    let request = server.http.delete(format!("{}/spaces/pair/records/code", server.base));
    let (status, body) = server.send(request).await;
    assert_eq!(status, 202, "{body}");
    server.written("pair", body["watermark"].as_str().unwrap()).await;
    let left = evidence(&server, None).await;
    assert!(!left.contains("9023") && !left.contains("4711"), "{left}");
    assert_eq!(server.get("/spaces/pair/records/code/versions").await.0, 404);
    run(&["import", file.to_str().unwrap()]);
    let now = evidence(&server, None).await;
    assert!(now.contains("9023") && !now.contains("4711"), "{now}");
}

#[tokio::test]
async fn the_command_says_whether_all_versions_are_erased() {
    let server = with_two_versions("versions-command").await;
    put_written(&server, "home", "I live in Malmö, close to the harbour.", MAY).await;
    let erase = |id: &str, confirmed: bool| {
        let mut command = mnemic();
        command.args(["erase", id, "--space", "pair", "--url"]);
        command.arg(server.base.trim_end_matches("/v1"));
        if confirmed {
            command.arg("--yes");
        }
        let output = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        text(output.stdout) + &text(output.stderr)
    };
    let said = erase("code#v2", false);
    assert!(
        said.contains("erases code#v2 with all versions of this record and all"),
        "{said}"
    );
    let said = erase("code#v2", true);
    assert!(
        said.starts_with("code#v2 erased with all versions of this record\n"),
        "{said}"
    );
    assert_eq!(server.get("/spaces/pair/records/code/versions").await.0, 404);

    let (_, second) = server.get("/spaces/pair/records/home%23v2").await;
    let id = second["record"].as_str().unwrap();
    let said = erase(id, false);
    assert!(said.contains("if it is your id, else only this version"), "{said}");
    let said = erase(id, true);
    assert!(said.starts_with(&format!("{id} erased\n")), "{said}");
    let (_, left) = server.get("/spaces/pair/records/home/versions").await;
    assert_eq!(left["items"].as_array().unwrap().len(), 1, "{left}");
    assert_eq!(left["items"][0]["id"], "home");
}
