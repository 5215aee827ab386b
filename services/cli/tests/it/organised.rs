//! The data that the memory derives from a conversation, over HTTP against the binary: facts with two times, people,
//! tools, curations, erasure and hints. They appear after the watermark is reached, so these tests poll until they are
//! there.

use fixtures::wait_for;
use serde_json::{Value, json};

use crate::server::{Server, line};

fn talk() -> Value {
    json!({ "records": [
        line("1", "Tilda", "2026-01-12T18:00:00Z", "I live in Aarhus, close to the harbour."),
        line("2", "Ruben", "2026-01-12T18:01:00Z", "Lucky you! I work as a carpenter out in the woods."),
        line("3", "Tilda", "2026-01-12T18:02:00Z", "My sister Oona is allergic to peanuts, so no satay for us."),
        line("4", "Ruben", "2026-01-12T18:03:00Z", "Good to know. I'll bring olives when we meet."),
        line("5", "Tilda", "2026-04-20T09:00:00Z", "Big news, Ruben: I live in Malmö now."),
        line("6", "Ruben", "2026-04-20T09:01:00Z", "That was quick! The choir will miss you."),
        line("7", "Tilda", "2026-04-20T09:02:00Z", "Always answer me in Danish, please, I want to keep it up."),
        line("8", "Ruben", "2026-04-20T09:03:00Z", "My secret locker code is 7731, keep it to yourself."),
    ]})
}

async fn with_talk(name: &str) -> Server {
    Server::with_talk(name, "pair", &talk()).await
}

/// Polls `path` until `good` returns true for the response.
async fn until(server: &Server, path: &str, good: impl Fn(&Value) -> bool) -> Value {
    wait_for(&format!("{path} is as expected"), async || {
        let (status, body) = server.get(path).await;
        if status == 200 && good(&body) {
            Ok(body)
        } else {
            Err(body)
        }
    })
    .await
}

fn items(body: &Value) -> &[Value] {
    body["items"].as_array().map_or(&[], Vec::as_slice)
}

fn says(body: &Value, subject: &str, object: &str) -> bool {
    fact(body, subject, object).is_some()
}

fn fact<'a>(body: &'a Value, subject: &str, object: &str) -> Option<&'a Value> {
    items(body).iter().find(|it| {
        it["subject"] == subject
            && it["object"]
                .as_str()
                .is_some_and(|it| it.to_lowercase().contains(object))
    })
}

#[tokio::test]
async fn a_newer_fact_closes_the_older_one_and_both_can_be_asked_for() {
    let server = with_talk("organised-facts").await;
    let facts = "/spaces/pair/facts?aspect=place";
    let both = until(&server, facts, |it| {
        says(it, "Tilda", "malmö") && fact(it, "Tilda", "aarhus").is_some_and(|it| it["valid_until"].is_string())
    })
    .await;
    let older = fact(&both, "Tilda", "aarhus").unwrap();
    assert_eq!(
        older["retired_by"],
        fact(&both, "Tilda", "malmö").unwrap()["id"],
        "{both}"
    );
    let (_, now) = server.get("/spaces/pair/facts?aspect=place&current=true").await;
    assert!(says(&now, "Tilda", "malmö") && !says(&now, "Tilda", "aarhus"), "{now}");
    let (_, then) = server
        .get("/spaces/pair/facts?aspect=place&current=true&as_of=2026-02-01T00:00:00Z")
        .await;
    assert!(
        says(&then, "Tilda", "aarhus") && !says(&then, "Tilda", "malmö"),
        "{then}"
    );

    let (status, found) = server
        .post(
            "/spaces/pair/tools/query_personal_information",
            &json!({ "person": "Tilda" }),
        )
        .await;
    assert!(status == 200 && found.to_string().contains("place"), "{found}");
    let (status, refused) = server
        .post("/spaces/pair/tools/query_personal_information", &json!({}))
        .await;
    assert!(
        status == 200 && refused["error"]["code"] == "bad_arguments",
        "{refused}"
    );
}

#[tokio::test]
async fn a_sister_is_a_person_and_curations_stay_in_effect() {
    let server = with_talk("organised-curation").await;
    let facts = until(&server, "/spaces/pair/facts", |it| says(it, "Oona", "peanuts")).await;
    let allergy = fact(&facts, "Oona", "peanuts").unwrap();
    let people = until(&server, "/spaces/pair/entities?name=oona", |it| items(it).len() == 1).await;
    assert_eq!(allergy["entity"], items(&people)[0]["id"], "{people}");

    let act = json!({ "id": "no", "act": { "kind": "retire_fact", "fact": allergy["id"] }, "reason": "it was a joke" });
    let (status, curated) = server.post("/spaces/pair/curations", &act).await;
    assert_eq!(status, 202, "{curated}");
    until(&server, "/spaces/pair/facts", |it| {
        fact(it, "Oona", "peanuts").is_some_and(|it| it["withdrawn"] == true)
    })
    .await;
    let undo = json!({ "act": { "kind": "undo", "curation": "no" } });
    assert_eq!(server.post("/spaces/pair/curations", &undo).await.0, 202);
    until(&server, "/spaces/pair/facts", |it| {
        fact(it, "Oona", "peanuts").is_some_and(|it| it["withdrawn"] != true)
    })
    .await;
}

#[tokio::test]
async fn a_question_gets_the_corrected_fact() {
    let server = with_talk("organised-correction").await;
    let facts = until(&server, "/spaces/pair/facts", |it| says(it, "Ruben", "carpenter")).await;
    let job = fact(&facts, "Ruben", "carpenter").unwrap()["id"].clone();
    let ask = async || {
        let question = json!({ "question": "What does Ruben work as?", "budget": { "ms": 20_000 } });
        server.post("/spaces/pair/query", &question).await.1
    };
    let until_said = async |expected: &str| {
        wait_for(&format!("the answer contains {expected}"), async || {
            let reply = ask().await;
            let answer_text = reply["answer"]["text"].as_str().unwrap_or("nothing");
            if answer_text.contains(expected) {
                Ok(reply)
            } else {
                Err(reply)
            }
        })
        .await
    };
    until_said("carpenter").await;
    let correct = json!({ "id": "fix", "act": { "kind": "correct_fact", "fact": job, "object": "luthier" } });
    assert_eq!(server.post("/spaces/pair/curations", &correct).await.0, 202);
    let corrected = until_said("luthier").await;
    let pack = corrected["pack"].to_string();
    assert!(
        pack.contains(r#"[corrected since: \"a carpenter out in the woods\" is \"luthier\"]"#),
        "{pack}"
    );
    let undo = json!({ "act": { "kind": "undo", "curation": "fix" } });
    assert_eq!(server.post("/spaces/pair/curations", &undo).await.0, 202);
    until_said("carpenter").await;
    let retire = json!({ "act": { "kind": "retire_fact", "fact": job } });
    let (status, body) = server.post("/spaces/pair/curations", &retire).await;
    assert_eq!(status, 202, "{body}");
    server.written("pair", body["watermark"].as_str().unwrap()).await;
    let retired = until_said("nothing").await;
    assert!(retired["pack"].to_string().contains("[taken back since:"), "{retired}");
}

#[tokio::test]
async fn an_erased_record_is_gone_from_evidence_and_from_lists() {
    let server = with_talk("organised-erasure").await;
    let question = json!({ "question": "What is the code of Ruben's secret locker?", "budget": { "ms": 20_000 } });
    let (_, before) = server.post("/spaces/pair/query", &question).await;
    assert!(before.to_string().contains("7731"), "{before}");
    let (status, body) = server.delete("/spaces/pair/records/8").await;
    assert_eq!(status, 202, "{body}");
    server.written("pair", body["watermark"].as_str().unwrap()).await;
    assert_eq!(server.get("/spaces/pair/records/8").await.0, 404);
    let (status, after) = server.post("/spaces/pair/query", &question).await;
    assert!(status == 200 && !after.to_string().contains("7731"), "{after}");
    for list in ["records", "units", "facts", "entities", "topics", "pages", "curations"] {
        until(&server, &format!("/spaces/pair/{list}"), |it| {
            !it.to_string().contains("7731")
        })
        .await;
    }
    assert_eq!(server.delete("/spaces/pair/records/never").await.0, 404);
}

#[tokio::test]
async fn a_hint_is_given_once_and_only_when_there_is_something_to_say() {
    let server = with_talk("organised-recall").await;
    until(&server, "/spaces/pair/facts", |it| says(it, "Oona", "peanuts")).await;
    let message = |session: &str, text: &str| {
        let mut message = json!({ "message": text, "actor": "Ruben", "session": session, "sensitive": true });
        message["budget"] = json!({ "ms": 20_000 });
        message
    };
    let baking = "I am baking peanut biscuits for Oona's visit.";
    let (status, first) = server.post("/spaces/pair/recall", &message("kitchen", baking)).await;
    assert_eq!(status, 200, "{first}");
    let hint = &first["hints"][0];
    assert!(
        hint["text"].as_str().is_some_and(|it| it.contains("peanuts")),
        "{first}"
    );
    assert!(
        !hint["reason"].as_str().unwrap().is_empty() && hint["trigger"].is_string(),
        "{hint}"
    );
    let (_, again) = server.post("/spaces/pair/recall", &message("kitchen", baking)).await;
    let ids = |body: &Value| -> Vec<String> {
        let hints = body["hints"].as_array().unwrap();
        hints.iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect()
    };
    assert!(ids(&again).iter().all(|it| !ids(&first).contains(it)), "{again}");
    let (_, quiet) = server
        .post("/spaces/pair/recall", &message("street", "Good morning! How are you?"))
        .await;
    assert!(ids(&quiet).is_empty() && quiet["silent"].is_string(), "{quiet}");

    let dismissal = json!({ "hints": ids(&first) });
    assert_eq!(server.post("/spaces/pair/recall/dismiss", &dismissal).await.0, 204);
    let (_, elsewhere) = server.post("/spaces/pair/recall", &message("market", baking)).await;
    assert!(
        ids(&elsewhere).iter().all(|it| !ids(&first).contains(it)),
        "{elsewhere}"
    );
}
