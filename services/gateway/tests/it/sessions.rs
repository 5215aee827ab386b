use axum::http::StatusCode;
use domain::id::{SessionId, SpaceId};
use domain::recall::{NOTES_MAX, Note, NoteKind};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::harness::Gateway;
use crate::lists::walk;

const MONDAY: &str = "DELETE /v1/spaces/s/sessions/mon%20day";

fn line(id: &str, session: &str) -> Value {
    json!({"id": id, "session": session, "text": format!("The {id} of {session}.")})
}

async fn send(gateway: &Gateway, records: &[Value]) -> Value {
    let body = json!({ "records": records }).to_string();
    let reply = gateway.send("POST /v1/spaces/s/records", &body).await;
    assert_eq!(reply.status, StatusCode::ACCEPTED, "{reply:?}");
    gateway.written(reply.json()["watermark"].as_str().unwrap()).await;
    reply.json()
}

/// Requests an erasure and waits until it is complete.
async fn erased(gateway: &Gateway, call: &str) -> Value {
    let reply = gateway.send(call, "").await;
    assert_eq!(reply.status, StatusCode::ACCEPTED, "{reply:?}");
    gateway.written(reply.json()["watermark"].as_str().unwrap()).await;
    reply.json()
}

#[tokio::test]
async fn an_erased_session_can_be_written_again() {
    let gateway = Gateway::new().await;
    gateway.start_writer();
    let monday = [line("1", "mon day"), line("3", "mon day")];
    send(&gateway, &[monday[0].clone(), line("2", "tue"), monday[1].clone()]).await;
    let response = erased(&gateway, MONDAY).await;
    let id = SessionId::from_name(&"s".parse().unwrap(), "mon day");
    assert_eq!(
        (&response["session"], &response["records"], &response["more"]),
        (&json!(id), &json!(2), &json!(false))
    );
    assert_eq!(walk(&gateway, "/v1/spaces/s/records", "id").await, ["2"]);
    let acts = gateway.send("GET /v1/spaces/s/curations", "").await.json();
    let kinds: Vec<&Value> = acts["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["act"]["kind"])
        .collect();
    assert_eq!(kinds, ["erase_record", "erase_record"], "each in the audit log");
    for call in [MONDAY, "DELETE /v1/spaces/s/sessions/never"] {
        let problem = gateway.send(call, "").await.problem();
        assert!(problem.starts_with("404 the session has no records"), "{problem}");
    }

    let again = send(&gateway, &monday).await;
    assert!(
        again["items"]
            .as_array()
            .unwrap()
            .iter()
            .all(|it| it["status"] == "accepted"),
        "{again}"
    );
    let response = erased(&gateway, &format!("DELETE /v1/spaces/s/sessions/{id}")).await;
    assert_eq!(response["records"], 2, "by Mnemic's id");
    assert_eq!(walk(&gateway, "/v1/spaces/s/records", "id").await, ["2"]);
}

#[tokio::test]
async fn the_id_and_the_name_of_a_session_select_the_same_session() {
    let gateway = Gateway::new().await;
    gateway.start_writer();
    let other = SessionId::from_name(&"s".parse().unwrap(), "other").to_string();
    send(&gateway, &[line("1", &other), line("2", "other")]).await;
    erased(&gateway, &format!("DELETE /v1/spaces/s/sessions/{other}")).await;
    assert_eq!(walk(&gateway, "/v1/spaces/s/records", "id").await, ["2"]);
}

/// The erasure of a session, by either of its names, erases the hints that were given in it; hints that are dismissed
/// everywhere stay.
#[tokio::test]
async fn the_erasure_of_a_session_erases_its_ledger() {
    let gateway = Gateway::new().await;
    gateway.start_writer();
    let space: SpaceId = "s".parse().unwrap();
    let records = &gateway.context.backends.records;
    let note = |kind| Note {
        subject: Uuid::from_u128(7),
        kind,
        at: host::clock::now(),
    };
    let id = SessionId::from_name(&space, "mon day");
    for call in [MONDAY, &format!("DELETE /v1/spaces/s/sessions/{id}")] {
        send(&gateway, &[line("1", "mon day"), line("2", "tue")]).await;
        for scope in ["recall", "recall/mon day", "recall/tue"] {
            let notes = [note(NoteKind::Said), note(NoteKind::Dismissed)];
            records.note(&space, scope, &notes, NOTES_MAX).await.unwrap();
        }
        erased(&gateway, call).await;
        for (scope, left) in [("recall", 2), ("recall/mon day", 0), ("recall/tue", 2)] {
            assert_eq!(
                records.notes(&space, scope).await.unwrap().len(),
                left,
                "{call} {scope}"
            );
        }
    }
    let erasures = records.notes(&space, &format!("erased/{id}")).await.unwrap();
    assert!(erasures.iter().all(|it| it.kind == NoteKind::Erased), "{erasures:?}");
    // A session without records may have recall history.
    records
        .note(&space, "recall/mon day", &[note(NoteKind::Said)], NOTES_MAX)
        .await
        .unwrap();
    assert_eq!(gateway.send(MONDAY, "").await.status, StatusCode::NOT_FOUND);
    assert_eq!(records.notes(&space, "recall/mon day").await.unwrap(), []);
}

/// One request erases as many records as a batch holds, and reports whether there are more.
#[tokio::test]
async fn a_long_session_is_erased_in_several_requests() {
    let gateway = Gateway::new().await;
    gateway.start_writer();
    let many: Vec<Value> = (0..1_002).map(|it| line(&it.to_string(), "mon day")).collect();
    send(&gateway, &many[..600]).await;
    send(&gateway, &many[600..]).await;
    send(&gateway, &[line("stays", "tue")]).await;
    let mut responses = Vec::new();
    for _ in 0..2 {
        let it = erased(&gateway, MONDAY).await;
        responses.push((it["records"].as_u64().unwrap(), it["more"].as_bool().unwrap()));
    }
    assert_eq!(responses, [(1_000, true), (2, false)]);
    assert_eq!(walk(&gateway, "/v1/spaces/s/records", "id").await, ["stays"]);
}
