//! The steps of a user, over HTTP against the binary: send, ask, repeat, ask wrongly, stop and start again.

use std::time::Duration;

use serde_json::{Value, json};

use crate::server::{Server, fresh_directory, line, mnemic};

fn talk() -> Value {
    json!({ "records": [
        line("1", "Ines", "2026-03-02T18:00:00Z", "Hi Omar! I finally adopted a greyhound from the shelter yesterday."),
        line("2", "Omar", "2026-03-02T18:01:00Z", "Congratulations, Ines! What did you call her?"),
        line("3", "Ines", "2026-03-02T18:02:00Z", "Marzipan, because of her colour."),
        line("4", "Omar", "2026-03-02T18:03:00Z", "I am still repairing the old canoe with my father in the garage."),
        line("5", "Ines", "2026-03-09T20:00:00Z", "My new job at the harbour office starts next Monday."),
        line("6", "Omar", "2026-03-09T20:01:00Z", "Great news! My sister moved to Lisbon last week, so I have more room now."),
        line("7", "Ines", "2026-03-09T20:02:00Z", "We walked along the river and Marzipan chased two geese."),
        line("8", "Omar", "2026-03-09T20:03:00Z", "昨日、カヌーを青く塗りました。"),
    ]})
}

async fn with_talk(name: &str) -> Server {
    Server::with_talk(name, "talk", &talk()).await
}

async fn ask(server: &Server, question: &str) -> Value {
    let (status, body) = server
        .post(
            "/spaces/talk/query",
            &json!({ "question": question, "answer": true, "budget": { "ms": 20_000 } }),
        )
        .await;
    assert_eq!(status, 200, "{body}");
    body
}

fn cited(body: &Value) -> Vec<&str> {
    let items = body["pack"]["items"].as_array().unwrap();
    items
        .iter()
        .flat_map(|it| it["external_ids"].as_array().unwrap())
        .filter_map(Value::as_str)
        .collect()
}

#[tokio::test]
async fn a_question_gets_dated_evidence_an_answer_and_its_cost() {
    let server = with_talk("journey-ask").await;
    let body = ask(&server, "When did Ines adopt the greyhound?").await;
    assert!(cited(&body).contains(&"1"), "{body}");
    assert_eq!(body["answer"]["text"], "1 March 2026", "{body}");
    assert_eq!(body["verdict"]["status"], "supported");
    assert!(body["pack"]["text"].as_str().unwrap().contains("2 Mar 2026"), "{body}");
    assert!(body["pack"]["tokens"].as_u64().unwrap() <= 512);
    assert_eq!(body["cost"]["model_calls"], 0);
    assert!(!body["cost"]["steps"].as_array().unwrap().is_empty());
    assert_eq!(body["trace_id"].as_str().unwrap().len(), 32);
    let body = ask(&server, "What is the name of the dog of Ines?").await;
    assert!(cited(&body).contains(&"3"), "{body}");
}

#[tokio::test]
async fn a_question_about_the_wrong_person_is_refused() {
    let server = with_talk("journey-refuse").await;
    let body = ask(&server, "When did Omar adopt a greyhound from the shelter?").await;
    assert_eq!(body["verdict"]["status"], "insufficient", "{body}");
    assert_eq!(body["answer"], Value::Null);
    assert!(!body["verdict"]["nearest"].as_array().unwrap().is_empty(), "{body}");
}

#[tokio::test]
async fn texts_in_any_script_are_found_by_their_words() {
    let server = with_talk("journey-script").await;
    let body = ask(&server, "カヌーは何色ですか").await;
    assert!(cited(&body).contains(&"8"), "{body}");
}

#[tokio::test]
async fn the_same_question_gives_the_same_bytes_and_survives_a_restart() {
    let data = fresh_directory("journey-same");
    let server = Server::start(&data).await;
    server.put("/spaces/talk").await;
    let (_, body) = server.post("/spaces/talk/records", &talk()).await;
    server.written("talk", body["watermark"].as_str().unwrap()).await;
    server.settled("talk").await;
    let question = "Where did the sister of Omar move?";
    let first = ask(&server, question).await;
    assert_eq!(ask(&server, question).await["pack"], first["pack"]);
    server.kill();
    let server = Server::start(&data).await;
    assert_eq!(ask(&server, question).await["pack"], first["pack"]);
    assert!(cited(&first).contains(&"6"), "{first}");
}

#[tokio::test]
async fn a_repeated_batch_changes_nothing() {
    let server = with_talk("journey-repeat").await;
    let (status, body) = server.post("/spaces/talk/records", &talk()).await;
    assert_eq!(status, 202, "{body}");
    assert!(
        body["items"]
            .as_array()
            .unwrap()
            .iter()
            .all(|it| it["status"] == "duplicate"),
        "{body}"
    );
    assert_eq!(server.list("/spaces/talk/records").await.len(), 8);
}

#[tokio::test]
async fn other_content_under_a_known_id_is_a_conflict() {
    let server = with_talk("journey-conflict").await;
    let other = json!({ "records": [{ "id": "1", "actor": "Ines", "text": "Something else", "observed_at": "2026-03-02T18:00:00Z" }] });
    let (status, body) = server.post("/spaces/talk/records", &other).await;
    assert_eq!(status, 409, "{body}");
    let (_, record) = server.get("/spaces/talk/records/1").await;
    assert!(record["text"].as_str().unwrap().contains("greyhound"), "{record}");
}

#[tokio::test]
async fn an_invalid_record_is_reported_and_the_others_are_stored() {
    let server = with_talk("journey-bad").await;
    let records = json!({ "records": [
        { "id": "9", "actor": "Ines", "text": "", "observed_at": "2026-03-10T10:00:00Z" },
        { "id": "10", "actor": "Ines", "text": "A fine day.", "observed_at": "1776-07-04T10:00:00Z" },
        { "id": "11", "actor": "Ines", "text": "Tomorrow's news.", "observed_at": "2999-01-01T10:00:00Z" },
        { "id": "12", "actor": "Ines", "text": "The geese came back.", "observed_at": "2026-03-10T10:00:00Z" },
    ]});
    let (status, body) = server.post("/spaces/talk/records", &records).await;
    assert_eq!(status, 202, "{body}");
    let outcome: Vec<&str> = body["items"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|it| it["status"].as_str())
        .collect();
    assert_eq!(outcome, ["rejected", "rejected", "rejected", "accepted"], "{body}");
    for item in &body["items"].as_array().unwrap()[..3] {
        assert!(!item["problem"]["detail"].as_str().unwrap().is_empty(), "{item}");
    }
}

#[tokio::test]
async fn an_unknown_space_is_a_problem_and_an_erased_one_is_gone() {
    let server = with_talk("journey-space").await;
    let (status, body) = server
        .post("/spaces/nowhere/query", &json!({ "question": "Who?" }))
        .await;
    assert_eq!((status, &body["status"]), (404, &json!(404)), "{body}");
    let deleted = server
        .send(server.http.delete(format!("{}/spaces/talk", server.base)))
        .await;
    assert_eq!(deleted.0, 204);
    assert_eq!(server.get("/spaces/talk").await.0, 404);
    assert_eq!(server.put("/spaces/talk").await.0, 201);
    let body = ask(&server, "When did Ines adopt the greyhound?").await;
    assert_eq!(
        (&body["verdict"]["status"], cited(&body).len()),
        (&json!("insufficient"), 0),
        "{body}"
    );
}

#[tokio::test]
async fn a_space_answers_questions_during_a_rebuild() {
    let server = with_talk("journey-rebuild").await;
    server.settled("talk").await;
    let question = "When did Ines adopt the greyhound?";
    let before = ask(&server, question).await;
    assert!(!cited(&before).is_empty(), "{before}");
    assert_eq!(server.get("/spaces/talk/rebuild").await.0, 404);
    let (status, body) = server.post("/spaces/talk/rebuild", &json!({})).await;
    assert_eq!((status, &body["state"]), (202, &json!("running")), "{body}");
    let done = async {
        loop {
            assert_eq!(ask(&server, question).await["pack"], before["pack"]);
            let (_, body) = server.get("/spaces/talk/rebuild").await;
            if body["state"] != "running" {
                return body;
            }
        }
    };
    let done = tokio::time::timeout(Duration::from_secs(60), done).await.unwrap();
    assert_eq!(
        (&done["state"], &done["records"]),
        (&json!("done"), &done["of"]),
        "{done}"
    );
    assert_eq!(ask(&server, question).await["pack"], before["pack"]);
    let output = mnemic()
        .args(["rebuild", "talk", "--url", server.base.trim_end_matches("/v1")])
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && stdout.contains("talk rebuilt"), "{output:?}");
    let output = mnemic()
        .args(["rebuild", "nowhere", "--url", server.base.trim_end_matches("/v1")])
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && stdout.contains("no space"), "{output:?}");
}

#[tokio::test]
async fn records_that_arrive_out_of_order_are_read_in_order() {
    let server = Server::start(&fresh_directory("journey-order")).await;
    let mut records = talk()["records"].as_array().unwrap().clone();
    records.reverse();
    for record in &mut records {
        let ordinal: u64 = record["id"].as_str().unwrap().parse().unwrap();
        record["ordinal"] = json!(ordinal);
    }
    server.put("/spaces/talk").await;
    for record in records {
        let (status, body) = server
            .post("/spaces/talk/records", &json!({ "records": [record] }))
            .await;
        assert_eq!(status, 202, "{body}");
        server.written("talk", body["watermark"].as_str().unwrap()).await;
    }
    server.drained("talk").await;
    let body = ask(&server, "What is the name of the dog of Ines?").await;
    assert!(cited(&body).contains(&"3"), "{body}");
}
