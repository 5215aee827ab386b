//! Exports: lists of memories under an id that holds their filters.

use serde_json::{Value, json};

use super::keys::{KEYS, send_as};
use super::{ENABLED, add, call, error, start};

#[tokio::test]
async fn an_export_contains_the_memories_that_match_when_it_is_fetched() {
    let gateway = start(ENABLED).await;
    add(&gateway, "I live in Oslo.", "ann").await;
    add(&gateway, "I am Bob.", "bob").await;
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let body = json!({"schema": schema, "filters": {"user_id": "ann"}, "export_instructions": "Be short."});
    let made = call(&gateway, "POST /mem0/v1/exports/", body.clone()).await;
    assert!(
        made["message"]
            .as_str()
            .unwrap()
            .contains("no language model fills the schema"),
        "{made}"
    );
    let again = call(&gateway, "POST /mem0/v1/exports/", body).await;
    assert_eq!(made["id"], again["id"]);

    let memories = |it: &Value| -> Vec<String> {
        let memories = it["memories"].as_array().unwrap().iter();
        memories.map(|it| it["memory"].as_str().unwrap().to_owned()).collect()
    };
    let by_id = json!({"memory_export_id": made["id"]});
    let fetched = call(&gateway, "POST /mem0/v1/exports/get/", by_id.clone()).await;
    assert_eq!((&fetched["count"], &fetched["truncated"]), (&json!(1), &json!(false)));
    assert!(memories(&fetched)[0].ends_with("user: I live in Oslo."), "{fetched}");
    assert_eq!(
        (&fetched["id"], &fetched["memories"][0]["user_id"]),
        (&made["id"], &json!("ann"))
    );

    // The Python client sends the user next to the schema, as text.
    let other = json!({"schema": schema.to_string(), "user_id": "ann", "start_date": "2020-01-01"});
    let other = call(&gateway, "POST /mem0/v1/exports", other).await;
    assert_ne!(other["id"], made["id"]);
    let body =
        json!({"message": "x", "messages": "I moved to Bergen.", "user_id": "ann", "expiration_date": "2020-01-01"});
    call(&gateway, "POST /mem0/memories", body).await;
    add(&gateway, "I ski.", "ann").await;
    assert_eq!(
        call(&gateway, "POST /mem0/v1/exports/get/", by_id).await["count"],
        2,
        "as it is now, without what has ended"
    );
    let expired = json!({"user_id": "ann", "show_expired": true});
    let fetched = call(&gateway, "POST /mem0/v1/exports/get", expired).await;
    assert_eq!((&fetched["count"], memories(&fetched).len()), (&json!(3), 3));
    let nobody = json!({"filters": {"user_id": "nobody"}});
    assert_eq!(call(&gateway, "POST /mem0/v1/exports/get/", nobody).await["count"], 0);
}

#[tokio::test]
async fn invalid_exports_are_refused() {
    let gateway = start(ENABLED).await;
    let many: Vec<Value> = (0..1_001).map(|it| json!({"agent_id": it.to_string()})).collect();
    let user = json!({"user_id": "ann"});
    for (path, body, expected) in [
        ("", json!({"filters": user}), "400 schema: is missing"),
        (
            "",
            json!({"filters": user, "schema": "City"}),
            "400 schema: must be a JSON object",
        ),
        (
            "",
            json!({"filters": user, "schema": [1]}),
            "400 schema: must be a JSON object",
        ),
        ("", json!({"schema": {}}), "400 filters: name no user"),
        (
            "",
            json!({"schema": {}, "filters": {"AND": [user, {"OR": many}]}}),
            "400 filters: have",
        ),
        (
            "",
            json!({"schema": {}, "filters": {"user_id": {"in": vec!["a"; 1_001]}}}),
            "400 filters: have more than 1000",
        ),
        ("get/", json!({}), "400 filters: name no user"),
        (
            "get/",
            json!({"memory_export_id": "abc"}),
            "404 there is no export with this id",
        ),
        (
            "get/",
            json!({"memory_export_id": "00".repeat(40)}),
            "404 there is no export with this id",
        ),
        (
            "get/",
            json!({"memory_export_id": 7}),
            "400 memory_export_id: is not a text",
        ),
    ] {
        let refused = error(
            &gateway
                .send(&format!("POST /mem0/v1/exports/{path}"), &body.to_string())
                .await,
        );
        assert!(refused.starts_with(expected), "{refused}");
    }
}

#[tokio::test]
async fn the_id_of_an_export_grants_no_access() {
    let gateway = start(KEYS).await;
    let body = json!({"messages": "I am Bob.", "user_id": "bob"});
    send_as(&gateway, "owner", "POST /mem0/memories", body).await;
    let of_bob = json!({"schema": {}, "filters": {"user_id": "bob"}});
    let made = send_as(&gateway, "owner", "POST /mem0/v1/exports/", of_bob.clone())
        .await
        .json();
    let by_id = json!({"memory_export_id": made["id"]});
    let get = "POST /mem0/v1/exports/get/";
    assert_eq!(send_as(&gateway, "owner", get, by_id.clone()).await.json()["count"], 1);
    for (call, body) in [(get, by_id), (get, of_bob.clone()), ("POST /mem0/v1/exports/", of_bob)] {
        let refused = error(&send_as(&gateway, "reader", call, body).await);
        assert!(refused.starts_with("404 there is no space `mem0-bob`"), "{refused}");
    }
    // `*` means every user whose space the key opens.
    let all = json!({"filters": {"user_id": "*"}});
    assert_eq!(send_as(&gateway, "reader", get, all.clone()).await.json()["count"], 0);
    assert_eq!(send_as(&gateway, "owner", get, all).await.json()["count"], 1);
}
