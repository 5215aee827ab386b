//! Filtered lists of records, and the erasure of a session, over the real services.

use serde_json::{Value, json};

use crate::import::run;
use crate::scripted_server::{FAILED_WRITE, Reply, ScriptedServer};
use crate::server::{Server, line};

fn talk() -> Value {
    json!({ "records": [
        line("1", "Ines", "2026-03-02T18:00:00Z", "I finally adopted a greyhound. His name is Zebulon."),
        line("2", "Omar", "2026-03-02T18:01:00Z", "Zebulon, what a name for a dog!"),
        line("3", "Ines", "2026-03-09T20:00:00Z", "I painted the canoe blue yesterday."),
        line("4", "Omar", "2026-03-09T20:01:00Z", "Blue suits it."),
    ]})
}

/// Returns the ids of the records that a command lists.
fn ids(server: &Server, arguments: &[&str]) -> Vec<String> {
    let (code, stdout, stderr) = run(server, &[&["records", "-s", "pair"], arguments].concat());
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{stdout}");
    let id = |it: &str| it.split_whitespace().next().unwrap().to_owned();
    stdout.lines().map(id).collect()
}

async fn pack(server: &Server, body: &Value) -> Value {
    let (status, mut answer) = server.post("/spaces/pair/query", body).await;
    assert_eq!(status, 200, "{answer}");
    answer["pack"].take()
}

#[tokio::test]
async fn records_are_filtered_and_a_session_is_erased_everywhere() {
    let server = Server::with_talk("records-session", "pair", &talk()).await;
    assert_eq!(ids(&server, &["--session", "2026-03-02"]), ["1", "2"]);
    assert_eq!(ids(&server, &["--actor", "INES"]), ["1", "3"]);
    assert_eq!(
        ids(
            &server,
            &["--from", "2026-03-02T18:01:00Z", "--until", "2026-03-09T20:01:00Z"]
        ),
        ["2", "3"]
    );
    assert_eq!(ids(&server, &["--actor", "Ines", "--session", "2026-03-09"]), ["3"]);
    assert_eq!(ids(&server, &["--actor", "Nobody"]), ["no"], "no records");

    let units = |arguments: &[&str]| -> Vec<String> {
        let (code, stdout, stderr) = run(&server, &[&["units", "-s", "pair"], arguments].concat());
        assert_eq!((code, stderr.as_str()), (Some(0), ""), "{stdout}");
        stdout.lines().map(str::to_owned).collect()
    };
    let stdout = units(&["--session", "2026-03-09", "--actor", "omar"]);
    let turns: Vec<&String> = stdout.iter().filter(|it| it.contains("  turn  ")).collect();
    assert!(
        turns.len() == 1 && turns[0].ends_with("Omar: Blue suits it."),
        "{stdout:?}"
    );
    let id = turns[0].split_whitespace().next().unwrap();
    assert!(units(&[id]).concat().contains("\"text\": \"Blue suits it.\""));
    assert_eq!(units(&["--actor", "Nobody"]), ["no units"]);

    // The session name in a pack restricts a question to that session, and names it for an erasure.
    let question = json!({ "question": "What is the name of the dog of Ines?", "budget": { "ms": 20_000 } });
    let found = pack(&server, &question).await;
    let best = |it: &Value| it["text"].as_str().unwrap().contains("Zebulon");
    let session = found["items"].as_array().unwrap().iter().find(|it| best(it)).unwrap()["session"].clone();
    let mut inside = question.clone();
    inside["filter"] = json!({ "sessions": [session], "actors": ["ines"] });
    let only: Vec<Value> = pack(&server, &inside).await["items"].as_array().unwrap().clone();
    assert_eq!(only.len(), 1, "{only:?}");
    assert_eq!(only[0]["external_ids"], json!(["1"]));

    let session = session.as_str().unwrap();
    let erase = ["erase", "--session", session, "-s", "pair"];
    let (code, _, stderr) = run(&server, &erase);
    assert!(code == Some(1) && stderr.contains("--yes"), "{stderr}");
    let (code, stdout, _) = run(&server, &[&erase[..], &["--yes"]].concat());
    let expected = format!("the session {session} erased, 2 records\nreceipt ");
    assert!(code == Some(0) && stdout.starts_with(&expected), "{stdout}");
    assert_eq!(ids(&server, &[]), ["3", "4"]);
    for path in ["records", "units"] {
        let left = server.list(&format!("/spaces/pair/{path}")).await;
        assert!(!json!(left).to_string().contains("Zebulon"), "{path}");
    }
    assert!(!pack(&server, &question).await.to_string().contains("Zebulon"));
    let (code, _, stderr) = run(&server, &[&erase[..], &["--yes"]].concat());
    assert!(
        code == Some(1) && stderr.contains("the session has no records"),
        "{stderr}"
    );

    // An erasure is not a ban: the same records are accepted again.
    let (_, body) = server.post("/spaces/pair/records", &talk()).await;
    server.written("pair", body["watermark"].as_str().unwrap()).await;
    assert_eq!(ids(&server, &["--session", "2026-03-02"]), ["1", "2"]);
    assert!(pack(&server, &question).await.to_string().contains("Zebulon"));
}

#[test]
fn an_erasure_that_failed_permanently_is_not_waited_for() {
    const ERASE: &str = "DELETE /v1/spaces/pair/sessions/talk";
    let none = "00000000-0000-0000-0000-000000000000";
    let server = ScriptedServer::start(move |call| match call {
        ERASE => Reply::new(
            "202 Accepted",
            json!({ "watermark": "w", "session": none, "records": 2, "more": false, "erasure": none }),
        ),
        _ => Reply::failed_write(),
    });
    let output = server.run(&["erase", "--session", "talk", "-s", "pair", "--yes"]);
    let (stdout, stderr) = (String::from_utf8(output.stdout), String::from_utf8(output.stderr));
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(stdout.unwrap(), "");
    assert_eq!(stderr.unwrap(), format!("error: {FAILED_WRITE}\n"));
    assert_eq!(server.calls(), [ERASE, "GET /v1/spaces/pair/progress"]);
}

#[test]
fn a_server_that_holds_requests_for_less_time_is_asked_at_intervals() {
    const ERASE: &str = "DELETE /v1/spaces/pair/sessions/talk";
    let none = "00000000-0000-0000-0000-000000000000";
    let mut checks = 0;
    let server = ScriptedServer::start(move |call| {
        if call == ERASE {
            let erased = json!({ "watermark": "w", "session": none, "records": 2, "more": false, "erasure": none });
            return Reply::new("202 Accepted", erased);
        }
        checks += 1;
        let progress = json!({ "watermark": "w", "written": checks > 2, "backlog": 0 });
        match checks {
            1 => Reply::problem("422 Unprocessable Entity", "wait_ms: is more than 5000", &json!({})),
            2 => Reply::problem("504 Gateway Timeout", "not yet", &json!({ "progress": progress })),
            _ => Reply::new("200 OK", progress),
        }
    });
    let output = server.run(&["erase", "--session", "talk", "-s", "pair", "--yes"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let check = "GET /v1/spaces/pair/progress";
    assert_eq!(server.calls(), [ERASE, check, check, check]);
}
