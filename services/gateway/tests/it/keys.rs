//! Keys that are created through the API.

use axum::http::StatusCode;
use chrono::TimeDelta;
use fixtures::{wait_for, wait_until};
use serde_json::{Value, json};

use crate::access::KEYS;
use crate::harness::{Gateway, Reply};

/// Creates a key as `owner` and returns its token.
pub(crate) async fn made(gateway: &Gateway, key: Value) -> String {
    let reply = gateway.send_as("owner", "POST /v1/keys", &key.to_string()).await;
    assert_eq!(reply.status, StatusCode::CREATED, "{reply:?}");
    reply.json()["token"].as_str().unwrap().to_owned()
}

pub(crate) fn key(name: &str, spaces: &[&str], rights: &[&str]) -> Value {
    json!({"name": name, "spaces": spaces, "rights": rights})
}

async fn status(gateway: &Gateway, token: &str, call: &str) -> u16 {
    gateway.send_as(token, call, "").await.status.as_u16()
}

/// Rotates `assistant` as `owner`.
async fn rotated(gateway: &Gateway, grace_seconds: u32) -> Reply {
    let body = json!({"grace_seconds": grace_seconds}).to_string();
    gateway.send_as("owner", "POST /v1/keys/assistant/rotate", &body).await
}

/// Waits until a token is refused.
async fn until_refused(gateway: &Gateway, token: &str) {
    let is_refused = async || status(gateway, token, "GET /v1/access").await == 401;
    wait_until("the token is refused", is_refused).await;
}

#[tokio::test]
async fn a_created_key_opens_only_its_spaces() {
    let gateway = Gateway::with(KEYS).await;
    let new = json!({"name": "assistant", "spaces": ["s", "user-*"], "rights": ["write", "read", "read"],
        "expires_at": "2999-01-01"});
    let reply = gateway.send_as("owner", "POST /v1/keys", &new.to_string()).await;
    assert_eq!(reply.status, StatusCode::CREATED, "{reply:?}");
    assert_eq!(reply.headers["cache-control"], "no-store");
    let body = reply.json();
    let token = body["token"].as_str().unwrap();
    assert!(token.starts_with("mnk_") && token.len() == 47, "{token}");
    assert_eq!(body["key"]["rights"], json!(["read", "write"]));
    assert_eq!(body["key"]["by"], "owner");
    assert_eq!(body["key"]["expires_at"], "2999-01-01T00:00:00Z");

    assert_eq!(
        gateway.send_as(token, "GET /v1/access", "").await.json(),
        json!({"name": "assistant", "spaces": ["s", "user-*"], "rights": ["read", "write"]})
    );
    for (call, expected) in [
        ("GET /v1/spaces/s", 200),
        ("PUT /v1/spaces/user-ann", 201),
        ("PUT /v1/spaces/other", 403),
        ("GET /v1/spaces/other", 404),
        ("DELETE /v1/spaces/s", 403),
    ] {
        assert_eq!(status(&gateway, token, call).await, expected, "{call}");
    }
    let list = gateway.send_as("owner", "GET /v1/keys", "").await;
    assert_eq!(list.json()["items"][0]["name"], "assistant");
    assert!(!list.text.contains(token) && !list.text.contains("token") && !list.text.contains("digest"));
}

#[tokio::test]
async fn only_an_admin_of_all_spaces_may_administer_keys() {
    let gateway = Gateway::with(KEYS).await;
    let local = made(&gateway, key("local", &["s"], &["read", "write", "admin"])).await;
    let reading = made(&gateway, key("reading", &["*"], &["read", "write"])).await;
    let forged = format!("mnk_{}", "A".repeat(43));
    let calls = [
        ("POST /v1/keys", key("mine", &["s"], &["read"]).to_string()),
        ("GET /v1/keys", String::new()),
        ("POST /v1/keys/local/rotate", "{}".to_owned()),
        ("DELETE /v1/keys/reading", String::new()),
        ("DELETE /v1/keys/nobody", String::new()),
    ];
    for (call, body) in &calls {
        for token in [local.as_str(), &reading, "reader", "writer"] {
            let reply = gateway.send_as(token, call, body).await;
            assert!(reply.problem().starts_with("403 "), "{call}: {reply:?}");
        }
        for token in [forged.as_str(), "", "mnk_", &local[..46], &format!("{local}A")] {
            let reply = gateway.send_as(token, call, body).await;
            assert!(reply.problem().starts_with("401 "), "{call}: {reply:?}");
        }
    }
    for ((call, body), expected) in calls.iter().zip([201, 200, 200, 204, 404]) {
        let reply = gateway.send_as("owner", call, body).await;
        assert_eq!(reply.status.as_u16(), expected, "{call}: {reply:?}");
    }
}

#[tokio::test]
async fn a_key_cannot_grant_a_right_that_it_lacks() {
    let gateway = Gateway::with(KEYS).await;
    let warden = made(&gateway, key("warden", &["*"], &["admin"])).await;
    made(&gateway, key("assistant", &["s"], &["read"])).await;
    for (call, body, expected) in [
        ("POST /v1/keys", key("spy", &["s"], &["read"]).to_string(), 403),
        ("POST /v1/keys", key("deputy", &["*"], &["admin"]).to_string(), 201),
        ("POST /v1/keys/assistant/rotate", "{}".to_owned(), 403),
        ("POST /v1/keys/deputy/rotate", "{}".to_owned(), 200),
        ("DELETE /v1/keys/assistant", String::new(), 204),
    ] {
        let reply = gateway.send_as(&warden, call, &body).await;
        assert_eq!(reply.status.as_u16(), expected, "{call} {body}: {reply:?}");
    }
}

#[tokio::test]
async fn invalid_keys_are_refused() {
    let gateway = Gateway::with(KEYS).await;
    made(&gateway, key("assistant", &["s"], &["read"])).await;
    let with = |field: &str, value: Value| {
        let mut new = key("other", &["s"], &["read"]);
        new[field] = value;
        new
    };
    let long = "k".repeat(10 << 10);
    for (new, expected) in [
        (key("assistant", &["s"], &["read"]), 409),
        (key("owner", &["s"], &["read"]), 409),
        (key("", &["s"], &["read"]), 422),
        (key("a\u{1b}[2J\u{7}", &["s"], &["read"]), 422),
        (key("a\nb", &["s"], &["read"]), 422),
        (key("..", &["s"], &["read"]), 422),
        (key(&long, &["s"], &["read"]), 422),
        (key("other", &[], &["read"]), 422),
        (key("other", &["S"], &["read"]), 422),
        (key("other", &["s", "a*b"], &["read"]), 422),
        (key("other", &[long.as_str()], &["read"]), 422),
        (key("other", &["s"; 65], &["read"]), 422),
        (key("other", &["s"], &[]), 422),
        (key("other", &["s"], &["root"]), 422),
        (with("expires_at", json!("2020-01-01T00:00:00Z")), 422),
        (with("expires_at", json!("soon")), 422),
        (with("quotas", json!({"requests_per_minute": 0})), 422),
        (with("quotas", json!({"records_per_day": -1})), 422),
        (with("quotas", json!({"requests": 1})), 422),
        (with("token", json!("mnk_mine")), 422),
    ] {
        let reply = gateway.send_as("owner", "POST /v1/keys", &new.to_string()).await;
        let problem = reply.problem();
        assert_eq!(reply.status.as_u16(), expected, "{problem}");
        assert!(reply.text.len() < 1_000, "it repeats what was sent: {problem}");
        assert!(!problem.contains(|it: char| it.is_control()), "{problem:?}");
    }
    for call in [
        "DELETE /v1/keys/a%00%1b",
        "DELETE /v1/keys/%2e%2e",
        "DELETE /v1/keys/nobody",
    ] {
        let reply = gateway.send_as("owner", call, "").await;
        assert!(reply.problem().starts_with("404 "), "{call}: {reply:?}");
    }
    let list = gateway.send_as("owner", "GET /v1/keys", "").await.json();
    assert_eq!(list["items"].as_array().unwrap().len(), 1, "{list}");
}

#[tokio::test]
async fn keys_are_listed_page_by_page() {
    let gateway = Gateway::with(KEYS).await;
    for name in ["c", "a", "b"] {
        made(&gateway, key(name, &["s"], &["read"])).await;
    }
    let mut names: Vec<String> = Vec::new();
    let mut after = String::new();
    loop {
        let page = gateway
            .send_as("owner", &format!("GET /v1/keys?limit=2&after={after}"), "")
            .await
            .json();
        let items = page["items"].as_array().unwrap();
        names.extend(items.iter().map(|it| it["name"].as_str().unwrap().to_owned()));
        match page["next"].as_str() {
            Some(next) => next.clone_into(&mut after),
            None => break,
        }
    }
    assert_eq!(names, ["a", "b", "c"]);
    let forged = gateway.send_as("owner", "GET /v1/keys?after=00", "").await;
    assert!(forged.problem().starts_with("422 "), "{forged:?}");
}

#[tokio::test]
async fn an_expired_key_opens_nothing() {
    let gateway = Gateway::with(KEYS).await;
    let mut new = key("assistant", &["s"], &["read"]);
    new["expires_at"] = json!((host::clock::now() + TimeDelta::seconds(4)).to_rfc3339());
    let token = made(&gateway, new).await;
    assert_eq!(status(&gateway, &token, "GET /v1/access").await, 200);
    until_refused(&gateway, &token).await;
    let reply = rotated(&gateway, 0).await;
    assert!(reply.problem().starts_with("409 "), "{reply:?}");
}

#[tokio::test]
async fn a_previous_token_is_valid_for_its_grace_period() {
    let gateway = Gateway::with(KEYS).await;
    let first = made(&gateway, key("assistant", &["s"], &["read"])).await;
    let get = async |token: &str| status(&gateway, token, "GET /v1/spaces/s").await;
    assert_eq!(get(&first).await, 200);
    let reply = rotated(&gateway, 3_600).await;
    assert_eq!(reply.headers["cache-control"], "no-store");
    let body = reply.json();
    assert!(body["key"]["former_valid_until"].is_string(), "{body}");
    let second = body["token"].as_str().unwrap().to_owned();
    assert_ne!(first, second);
    assert_eq!([get(&first).await, get(&second).await], [200, 200]);

    let third = rotated(&gateway, 3_600).await.json();
    let third = third["token"].as_str().unwrap();
    assert_eq!(
        [get(&first).await, get(&second).await, get(third).await],
        [401, 200, 200]
    );

    let fourth = rotated(&gateway, 0).await.json();
    let fourth = fourth["token"].as_str().unwrap();
    assert_eq!(
        [get(&second).await, get(third).await, get(fourth).await],
        [401, 401, 200]
    );

    let short = rotated(&gateway, 1).await.json();
    // The grace is over.
    until_refused(&gateway, fourth).await;
    assert_eq!(get(short["token"].as_str().unwrap()).await, 200);
    assert!(rotated(&gateway, 86_401).await.problem().starts_with("422 "));
    let unknown = gateway.send_as("owner", "POST /v1/keys/nobody/rotate", "{}").await;
    assert!(unknown.problem().starts_with("404 "), "{unknown:?}");
}

#[tokio::test]
async fn a_revoked_key_opens_nothing_at_any_gateway() {
    let gateway = Gateway::with(KEYS).await;
    let another = gateway.another(KEYS);
    let token = made(&gateway, key("assistant", &["s"], &["read"])).await;
    let former = token;
    let token = rotated(&gateway, 3_600).await.json()["token"]
        .as_str()
        .unwrap()
        .to_owned();
    for it in [&gateway, &another] {
        assert_eq!(status(it, &token, "GET /v1/spaces/s").await, 200);
        assert_eq!(status(it, &former, "GET /v1/spaces/s").await, 200);
    }
    for _ in 0..2 {
        assert_eq!(status(&gateway, "owner", "DELETE /v1/keys/assistant").await, 204);
    }
    assert_eq!(status(&gateway, &token, "GET /v1/spaces/s").await, 401);
    assert_eq!(status(&gateway, &former, "GET /v1/spaces/s").await, 401);
    until_refused(&another, &token).await;
    until_refused(&another, &former).await;

    let list = gateway.send_as("owner", "GET /v1/keys", "").await.json();
    assert!(list["items"][0]["revoked_at"].is_string(), "{list}");
    assert!(rotated(&gateway, 0).await.problem().starts_with("409 "));
    let again = key("assistant", &["s"], &["read"]).to_string();
    let again = gateway.send_as("owner", "POST /v1/keys", &again).await;
    assert!(again.problem().starts_with("409 "), "{again:?}");
    assert_eq!(status(&gateway, "owner", "GET /v1/spaces/s").await, 200, "another key");
}

#[tokio::test]
async fn the_last_use_of_a_key_is_listed_to_the_minute() {
    let gateway = Gateway::with(KEYS).await;
    let token = made(&gateway, key("assistant", &["s"], &["read"])).await;
    made(&gateway, key("unused", &["s"], &["read"])).await;
    assert_eq!(status(&gateway, &token, "GET /v1/spaces/s").await, 200);
    let items = wait_for("the last use is listed", async || {
        let list = gateway.send_as("owner", "GET /v1/keys", "").await.json();
        match list["items"][0]["last_used_at"].is_string() {
            true => Ok(list["items"].clone()),
            false => Err(list),
        }
    })
    .await;
    assert!(items[0]["last_used_at"].as_str().unwrap().ends_with(":00Z"), "{items}");
    assert_eq!(items[1]["last_used_at"], Value::Null, "{items}");
}

#[tokio::test]
async fn keys_can_be_created_only_if_the_settings_have_an_admin_of_all_spaces() {
    let new = key("assistant", &["s"], &["read"]).to_string();
    let open = Gateway::new().await;
    let reply = open.send("POST /v1/keys", &new).await;
    assert_eq!(reply.json()["type"], "urn:mnemic:problem:no-admin-key", "{reply:?}");
    assert!(reply.problem().starts_with("409 "));
    assert_eq!(
        open.send("GET /v1/keys", "").await.json(),
        json!({"items": [], "next": null})
    );
    assert_eq!(
        open.send("GET /v1/spaces/s", "").await.status,
        StatusCode::OK,
        "it stays open"
    );

    let (readers, _) = KEYS.split_once("[[gateway.keys]]\nname = \"owner\"").unwrap();
    let guarded = Gateway::with(readers).await;
    let reply = guarded.send_as("writer", "POST /v1/keys", &new).await;
    assert!(reply.problem().starts_with("403 "), "{reply:?}");
}

/// The settings may lose their keys; that must not open a server that has keys in the store.
#[tokio::test]
async fn keys_in_the_store_close_a_server_without_keys_in_its_settings() {
    let gateway = Gateway::with(KEYS).await;
    let reader = made(&gateway, key("assistant", &["s"], &["read"])).await;
    let admin = made(&gateway, key("admin", &["*"], &["read", "admin"])).await;
    let without = gateway.another("");
    for token in ["", "owner", &format!("mnk_{}", "A".repeat(43))] {
        assert_eq!(status(&without, token, "GET /v1/spaces/s").await, 401, "{token}");
    }
    assert!(without.send("GET /v1/spaces/s", "").await.problem().starts_with("401 "));
    assert_eq!(status(&without, &reader, "GET /v1/spaces/s").await, 200);
    let new = key("other", &["s"], &["read"]).to_string();
    let reply = without.send_as(&admin, "POST /v1/keys", &new).await;
    assert!(reply.problem().starts_with("409 "), "{reply:?}");
    for name in ["assistant", "admin"] {
        let call = format!("DELETE /v1/keys/{name}");
        assert_eq!(status(&without, &admin, &call).await, 204);
    }
    assert_eq!(
        status(&without, "", "GET /v1/spaces/s").await,
        401,
        "a running server is not opened by a revocation"
    );
    let restarted = gateway.another("");
    assert_eq!(restarted.send("GET /v1/spaces/s", "").await.status, StatusCode::OK);
}
