use axum::body::Body;
use axum::http::{Request, StatusCode};
use domain::message::RouteV1;
use serde_json::json;

use crate::harness::Gateway;

/// Digests of the keys "reader", "writer" and "owner".
pub(crate) const KEYS: &str = r#"
[[gateway.keys]]
name = "reader"
sha256 = "3d0941964aa3ebdcb00ccef58b1bb399f9f898465e9886d5aec7f31090a0fb30"
spaces = ["s", "team-*"]
rights = ["read"]
[[gateway.keys]]
name = "writer"
sha256 = "b93006774cbdd4b299389a03ac3d88c3a76b460d538795bc12718011a909fba5"
spaces = ["s"]
rights = ["read", "write"]
[[gateway.keys]]
name = "owner"
sha256 = "4c1029697ee358715d3a14a2add817c4b01651440de808371f78165ac90dc581"
spaces = ["*"]
rights = ["read", "write", "admin"]
"#;

const RECORDS: &str = r#"{"records":[{"text":"x"}]}"#;
const RETIRE: &str = r#"{"act":{"kind":"retire_fact","fact":"00000000-0000-0000-0000-000000000001"}}"#;
const ERASE: &str = r#"{"act":{"kind":"erase_record","record":"1"}}"#;
const DISMISS: &str = r#"{"hints":["00000000-0000-0000-0000-000000000001"]}"#;

/// Key, call and body of requests, with the expected status.
const CALLS: &[(&str, &str, &str, u16)] = &[
    ("owner", "PUT /v1/spaces/other", "", 201),
    ("owner", "PUT /v1/spaces/team-a", "", 201),
    ("reader", "GET /v1/spaces/s", "", 200),
    ("reader", "GET /v1/spaces/team-a", "", 200),
    ("reader", "GET /v1/spaces/other", "", 404),
    ("reader", "GET /v1/spaces/nobody", "", 404),
    ("reader", "GET /v1/spaces/team-b", "", 404),
    ("reader", "POST /v1/spaces/other/query", r#"{"question":"x"}"#, 404),
    ("reader", "POST /v1/spaces/s/records", RECORDS, 403),
    ("reader", "POST /v1/spaces/other/records", RECORDS, 404),
    ("reader", "PUT /v1/spaces/s", "", 403),
    ("writer", "PUT /v1/spaces/mine", "", 403),
    ("writer", "PUT /v1/spaces/other", "", 403),
    ("writer", "POST /v1/spaces/s/records", RECORDS, 202),
    ("writer", "DELETE /v1/spaces/s", "", 403),
    ("writer", "DELETE /v1/spaces/other", "", 404),
    ("writer", "GET /v1/admin/dead-letters", "", 403),
    ("reader", "GET /v1/spaces/s/curations", "", 200),
    ("reader", "POST /v1/spaces/s/curations", RETIRE, 403),
    ("reader", "POST /v1/spaces/other/curations", RETIRE, 404),
    ("reader", "POST /v1/spaces/s/recall/dismiss", DISMISS, 403),
    ("reader", "POST /v1/spaces/other/recall", r#"{"message":"x"}"#, 404),
    ("writer", "POST /v1/spaces/s/curations", RETIRE, 404),
    ("writer", "POST /v1/spaces/s/curations", ERASE, 403),
    ("writer", "DELETE /v1/spaces/s/records/1", "", 403),
    ("writer", "DELETE /v1/spaces/s/sessions/default", "", 403),
    ("owner", "DELETE /v1/spaces/s/sessions/nobody", "", 404),
    ("writer", "POST /v1/spaces/s/recall/dismiss", DISMISS, 204),
    ("writer", "POST /v1/spaces/other/recall/dismiss", DISMISS, 404),
    ("owner", "POST /v1/spaces/s/curations", ERASE, 404),
    ("owner", "DELETE /v1/spaces/s/records/1", "", 404),
    ("reader", "GET /v1/spaces/other/topics", "", 404),
    ("reader", "GET /v1/spaces/other/pages", "", 404),
    ("reader", "GET /v1/spaces/other/merges", "", 404),
    ("", "GET /v1/tools", "", 401),
    ("reader", "GET /v1/spaces/other/tools", "", 404),
    ("reader", "POST /v1/spaces/other/tools/expand_unit", "{}", 404),
    ("", "POST /v1/spaces/s/mcp", "{}", 401),
    ("reader", "POST /v1/spaces/other/mcp", "{}", 404),
    ("owner", "GET /v1/admin/dead-letters", "", 200),
    ("owner", "GET /v1/admin/dead-letters/7", "", 404),
    ("owner", "POST /v1/admin/dead-letters/7/replay", "", 404),
    ("owner", "DELETE /v1/admin/dead-letters/x", "", 404),
    ("nobody", "GET /v1/spaces/s", "", 401),
    ("", "GET /v1/spaces", "", 401),
    ("", "GET /docs", "", 200),
    ("", "GET /openapi.json", "", 200),
    ("", "GET /v1/nowhere", "", 404),
];

#[tokio::test]
async fn a_key_opens_only_its_spaces() {
    let gateway = Gateway::with(KEYS).await;
    for &(key, call, body, expected) in CALLS {
        let value = format!("Bearer {key}");
        let headers = if key.is_empty() {
            vec![]
        } else {
            vec![("authorization", value.as_str())]
        };
        let reply = gateway.send_with(call, body, &headers).await;
        assert_eq!(reply.status.as_u16(), expected, "{key} {call}: {reply:?}");
        if !reply.status.is_success() {
            reply.problem();
        }
    }
    let foreign = gateway
        .send_with("GET /v1/spaces/other", "", &[("authorization", "Bearer reader")])
        .await
        .text;
    let unknown = gateway
        .send_with("GET /v1/spaces/nobody", "", &[("authorization", "Bearer reader")])
        .await
        .text;
    assert_eq!(
        foreign.replace("other", "nobody"),
        unknown,
        "a foreign space looks like no space"
    );
    let seen = gateway
        .send_with("GET /v1/spaces", "", &[("authorization", "Bearer reader")])
        .await
        .json();
    let names: Vec<&str> = seen["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["space"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["s", "team-a"]);
}

#[tokio::test]
async fn a_request_above_the_limit_of_concurrent_ones_gets_429_with_retry_after() {
    let gateway = Gateway::with("[gateway]\nin_flight_max = 1").await;
    let mark = gateway
        .send("POST /v1/spaces/s/records", r#"{"records":[{"text":"x"}]}"#)
        .await
        .json();
    let wait = format!(
        "GET /v1/spaces/s/progress?wait_ms=500&watermark={}",
        mark["watermark"].as_str().unwrap()
    );
    let (first, second) = tokio::join!(gateway.send(&wait, ""), gateway.send("GET /v1/spaces/s", ""));
    assert!(
        first.problem().starts_with("504 the write is not searchable yet"),
        "{first:?}"
    );
    assert_eq!(second.status, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(second.headers["retry-after"], "1");
    second.problem();
}

#[tokio::test]
async fn slow_bodies_of_one_key_do_not_block_other_callers() {
    let gateway = Gateway::with(&format!(
        "[gateway]\nin_flight_max = 3\nin_flight_per_key_max = 2\nrequest_ms_max = 3000\n{KEYS}"
    ))
    .await;
    let slow = async || {
        let never = futures::stream::pending::<Result<Vec<u8>, std::io::Error>>();
        let request = Request::post("/v1/spaces/s/query")
            .header("content-type", "application/json")
            .header("authorization", "Bearer reader");
        gateway.raw(request.body(Body::from_stream(never)).unwrap()).await
    };
    let get = async |key: &str| {
        let key = format!("Bearer {key}");
        gateway
            .send_with("GET /v1/spaces/s", "", &[("authorization", &key)])
            .await
    };
    let post = async || {
        let headers = [("authorization", "Bearer writer")];
        gateway.send_with("POST /v1/spaces/s/query", "{}", &headers).await
    };
    let (first, second, third, other, own, posted) =
        tokio::join!(slow(), slow(), slow(), get("writer"), get("reader"), post());
    for late in [first, second] {
        assert_eq!(late.problem(), "504 the request took longer than 3000 ms");
    }
    assert_eq!(third.json()["type"], "urn:mnemic:problem:share-exhausted");
    assert_eq!(third.headers["retry-after"], "1");
    assert_eq!([other.status, own.status], [StatusCode::OK; 2]);
    assert!(posted.problem().starts_with("422"), "{posted:?}");
}

#[tokio::test]
async fn questions_of_one_key_do_not_wait_for_another_key() {
    let settings = format!("[gateway]\nquestions_max = 8\nquestions_per_key_max = 1\n{KEYS}");
    let gateway = Gateway::with(&settings).await;
    gateway.never::<RouteV1>();
    gateway.settled().await;
    let ask = async |key: &str, ms: u64| {
        let key = format!("Bearer {key}");
        let body = format!(r#"{{"question": "What?", "budget": {{"ms": {ms}}}}}"#);
        let reply = gateway
            .send_with("POST /v1/spaces/s/query", &body, &[("authorization", &key)])
            .await;
        reply.problem()
    };
    let (first, second, other) = tokio::join!(ask("reader", 3_000), ask("reader", 200), ask("writer", 3_000));
    assert!(
        first.starts_with("504") && other == first,
        "the router was asked: {first} {other}"
    );
    assert_eq!(
        second,
        "504 the time limit was reached while other questions of this key were in progress"
    );
}

#[tokio::test]
async fn questions_have_a_separate_limit() {
    let gateway = Gateway::with("[gateway]\nquestions_max = 1").await;
    gateway.never::<RouteV1>();
    gateway.settled().await;
    gateway.send("PUT /v1/spaces/s", "").await;
    let ask = r#"{"question": "What?", "budget": {"ms": 500}}"#;
    let (first, second, list) = tokio::join!(
        gateway.send("POST /v1/spaces/s/query", ask),
        gateway.send("POST /v1/spaces/s/query", ask),
        gateway.send("GET /v1/spaces/s", "")
    );
    assert_eq!(first.status, StatusCode::GATEWAY_TIMEOUT, "{first:?}");
    assert_eq!(second.status, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(second.headers["retry-after"], "1");
    assert_eq!(
        second.problem(),
        "429 1 questions are in progress, which is the maximum; try again"
    );
    assert_eq!(list.status, StatusCode::OK);
}

#[tokio::test]
async fn a_request_that_takes_too_long_ends() {
    let unhurried = Gateway::new().await;
    let gateway = unhurried.another("[gateway]\nrequest_ms_max = 50");
    // A wait of the maximum length reports the progress of the writer, and not a timeout of the request.
    let sent = unhurried
        .send("POST /v1/spaces/s/records", r#"{"records":[{"text":"x"}]}"#)
        .await;
    let sent = sent.json();
    let mark = sent["watermark"].as_str().unwrap();
    let call = format!("GET /v1/spaces/s/progress?wait_ms=50&watermark={mark}");
    let reply = gateway.send(&call, "").await;
    assert!(
        reply.status.as_u16() == 504 && reply.json()["progress"].is_object(),
        "{reply:?}"
    );
    // A body that never arrives: only the time limit of the whole request ends it.
    let never = futures::stream::pending::<Result<Vec<u8>, std::io::Error>>();
    let request = Request::post("/v1/spaces/s/tools/semantic_retrieve").header("content-type", "application/json");
    let reply = gateway.raw(request.body(Body::from_stream(never)).unwrap()).await;
    assert_eq!(reply.problem(), "504 the request took longer than 50 ms");
}

#[tokio::test]
async fn without_keys_only_local_names_are_answered() {
    let gateway = Gateway::new().await;
    for (host, expected) in [
        ("127.0.0.1:7077", 200),
        ("localhost", 200),
        ("[::1]:7077", 200),
        ("memory.example", 421),
        ("10.0.0.1:7077", 421),
        ("localhost.example", 421),
        ("a b", 421),
    ] {
        let reply = gateway.send_with("GET /v1/spaces", "", &[("host", host)]).await;
        assert_eq!(reply.status.as_u16(), expected, "{host}");
    }
    for (origin, expected) in [
        ("http://127.0.0.1:7077", 202),
        ("http://localhost:3000", 202),
        ("http://[::1]:7077", 202),
        ("https://memory.example", 421),
        ("http://localhost.example", 421),
        ("null", 421),
    ] {
        let headers = [("host", "localhost:7077"), ("origin", origin)];
        let reply = gateway.send_with("POST /v1/spaces/s/rebuild", "", &headers).await;
        let status = reply.status.as_u16();
        assert_eq!(status == 421, expected == 421, "{origin}: {status}");
    }
}

#[tokio::test]
async fn an_open_server_without_keys_is_refused() {
    for (settings, expected) in [
        ("[gateway]\nlisten = \"0.0.0.0:0\"", "but has no keys"),
        ("[gateway]\nlisten = \"nonsense\"", "nonsense is not an address"),
        ("[gateway]\nbatch_max = 0", "batch_max must be 1 to 1024"),
        (
            "[[gateway.keys]]\nname = \"k\"\nsha256 = \"zz\"\nspaces = [\"*\"]\nrights = []",
            "of the key `k`",
        ),
        ("[gateway]\nport = 1", "unknown field `port`, expected one of `listen`"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let settings = host::Settings::from_toml(settings, "test").unwrap();
        let context = host::Context::embedded_with(dir.path(), settings).await.unwrap();
        let error = format!("{:#}", gateway::run(context).await.unwrap_err());
        assert!(error.contains(expected), "{error}");
    }
}

#[tokio::test]
async fn a_key_can_read_its_spaces_and_rights() {
    let gateway = Gateway::with(KEYS).await;
    let read = async |key: &str| {
        let authorization = format!("Bearer {key}");
        gateway
            .send_with("GET /v1/access", "", &[("authorization", &authorization)])
            .await
    };
    assert_eq!(
        read("reader").await.json(),
        json!({"name": "reader", "spaces": ["s", "team-*"], "rights": ["read"]})
    );
    assert_eq!(read("owner").await.json()["rights"], json!(["read", "write", "admin"]));
    assert_eq!(read("nobody").await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn without_keys_everything_is_allowed() {
    let gateway = Gateway::new().await;
    let access = gateway.send("GET /v1/access", "").await.json();
    assert_eq!(
        access,
        json!({"name": "", "spaces": ["*"], "rights": ["read", "write", "admin"]})
    );
}
