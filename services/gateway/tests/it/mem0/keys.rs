//! Rights of keys, and the entities that they see.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::{error, start};
use crate::harness::{Gateway, Reply};

/// Digests of the keys "reader", which opens one user, and "owner".
pub(super) const KEYS: &str = r#"
[gateway.mem0]
enabled = true
[[gateway.keys]]
name = "ann"
sha256 = "3d0941964aa3ebdcb00ccef58b1bb399f9f898465e9886d5aec7f31090a0fb30"
spaces = ["mem0-ann"]
rights = ["read", "write", "admin"]
[[gateway.keys]]
name = "owner"
sha256 = "4c1029697ee358715d3a14a2add817c4b01651440de808371f78165ac90dc581"
spaces = ["*"]
rights = ["read", "write", "admin"]
[[gateway.keys]]
name = "writer"
sha256 = "b93006774cbdd4b299389a03ac3d88c3a76b460d538795bc12718011a909fba5"
spaces = ["*"]
rights = ["read", "write"]
"#;

pub(super) async fn send_as(gateway: &Gateway, key: &str, call: &str, body: Value) -> Reply {
    let body = if body.is_null() {
        String::new()
    } else {
        body.to_string()
    };
    let key = format!("Token {key}");
    gateway.send_with(call, &body, &[("authorization", key.as_str())]).await
}

#[tokio::test]
async fn a_key_learns_nothing_about_other_users() {
    let gateway = start(KEYS).await;
    let body = |user: &str| json!({"messages": format!("I am {user}."), "user_id": user});
    let added = send_as(&gateway, "owner", "POST /mem0/memories", body("bob"))
        .await
        .json();
    let (id, event) = (
        added["results"][0]["id"].as_str().unwrap(),
        added["event_id"].as_str().unwrap(),
    );
    let own = send_as(&gateway, "reader", "POST /mem0/memories", body("ann"))
        .await
        .json();
    let own = own["results"][0]["id"].as_str().unwrap();
    let nobody = "00000000-0000-4000-8000-000000000000";
    let batch = |id: &str| json!({"memories": [{"memory_id": own}, {"memory_id": id, "text": "Mine."}]});
    // Existing and missing targets of another user get equal responses.
    for (call, there, missing) in [
        ("GET /mem0/v1/memories/ID/", Value::Null, Value::Null),
        ("GET /mem0/v1/memories/ID/history/", Value::Null, Value::Null),
        ("PUT /mem0/v1/memories/ID/", json!({"text": "x"}), json!({"text": "x"})),
        ("DELETE /mem0/memories/ID", Value::Null, Value::Null),
        ("PUT /mem0/v1/batch/", batch(id), batch(nobody)),
        ("DELETE /mem0/v1/batch/", batch(id), batch(nobody)),
        (
            "POST /mem0/v1/feedback/",
            json!({"memory_id": id}),
            json!({"memory_id": nobody}),
        ),
    ] {
        let there = send_as(&gateway, "reader", &call.replace("ID", id), there).await;
        let missing = send_as(&gateway, "reader", &call.replace("ID", nobody), missing).await;
        assert_eq!(error(&there), "404 there is no memory with this id", "{call}");
        assert_eq!(error(&there), error(&missing), "{call}");
    }
    spaces_of_others_are_as_if_they_were_not(&gateway).await;
    let call = format!("GET /mem0/v1/event/{event}/");
    let unknown = error(&send_as(&gateway, "reader", &call, Value::Null).await);
    assert_eq!(
        unknown,
        error(&send_as(&gateway, "reader", "GET /mem0/v1/event/00/", Value::Null).await)
    );
    assert_eq!(
        send_as(&gateway, "owner", &call, Value::Null).await.status,
        StatusCode::OK
    );
    // The memory is unchanged.
    let kept = send_as(&gateway, "owner", &format!("GET /mem0/memories/{id}"), Value::Null).await;
    assert!(
        kept.json()["memory"].as_str().unwrap().ends_with("I am bob."),
        "{kept:?}"
    );
}

/// Searches for bob with the key that opens only the space of ann.
async fn spaces_of_others_are_as_if_they_were_not(gateway: &Gateway) {
    let body = |user: &str| json!({"messages": format!("I am {user}."), "user_id": user});
    let search = |filters: Value| json!({"query": "x", "filters": filters});
    for user in ["bob", "nobody"] {
        let refusal = |reply: Reply| error(&reply).replace(user, "USER");
        let expected = "404 there is no space `mem0-USER`; PUT /v1/spaces/mem0-USER creates it";
        for filters in [
            json!({"user_id": user}),
            json!({"OR": [{"user_id": "ann"}, {"user_id": user}]}),
            json!({"user_id": {"in": ["ann", user]}}),
        ] {
            let call = "POST /mem0/v3/memories/search/";
            assert_eq!(
                refusal(send_as(gateway, "reader", call, search(filters.clone())).await),
                expected
            );
            let call = "POST /mem0/v3/memories/";
            assert_eq!(
                refusal(send_as(gateway, "reader", call, search(filters)).await),
                expected
            );
        }
        let call = format!("DELETE /mem0/v2/entities/user/{user}/");
        assert_eq!(refusal(send_as(gateway, "reader", &call, Value::Null).await), expected);
        let call = format!("DELETE /mem0/v1/memories/?user_id={user}");
        assert_eq!(refusal(send_as(gateway, "reader", &call, Value::Null).await), expected);
        assert_eq!(
            refusal(send_as(gateway, "reader", "POST /mem0/memories", body(user)).await),
            expected
        );
    }
    let everybody = send_as(
        gateway,
        "reader",
        "POST /mem0/v3/memories/",
        search(json!({"user_id": "*"})),
    )
    .await;
    assert_eq!(everybody.json()["count"], 1);
    let entities = send_as(gateway, "reader", "GET /mem0/v1/entities/", Value::Null)
        .await
        .json();
    assert_eq!(
        (&entities["count"], &entities["results"][0]["name"]),
        (&json!(1), &json!("ann"))
    );
}

#[tokio::test]
async fn requests_without_a_valid_key_or_the_required_right_are_rejected() {
    let gateway = start(KEYS).await;
    for headers in [
        vec![],
        vec![("authorization", "Token wrong")],
        vec![("x-api-key", "wrong")],
    ] {
        let reply = gateway.send_with("GET /mem0/v1/ping/", "", &headers).await;
        assert!(error(&reply).starts_with("401 "), "{reply:?}");
    }
    for header in [
        ("authorization", "Token owner"),
        ("authorization", "Bearer owner"),
        ("x-api-key", "owner"),
    ] {
        let reply = gateway.send_with("GET /mem0/v1/ping/", "", &[header]).await;
        assert_eq!(reply.status, StatusCode::OK, "{reply:?}");
    }
    let body = json!({"messages": "Hi.", "user_id": "ann"});
    let added = send_as(&gateway, "writer", "POST /mem0/memories", body).await.json();
    let id = added["results"][0]["id"].as_str().unwrap();
    let one = format!("DELETE /mem0/memories/{id}");
    for call in [
        one.as_str(),
        "DELETE /mem0/memories?user_id=ann",
        "DELETE /mem0/v2/entities/user/ann/",
        "POST /mem0/reset",
    ] {
        let refused = error(&send_as(&gateway, "writer", call, Value::Null).await);
        assert_eq!(refused, "403 the key has no right `admin` here", "{call}");
    }
}
