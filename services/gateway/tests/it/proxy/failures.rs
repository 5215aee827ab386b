//! Failures: invalid requests, a memory that is not available, and a language model that fails.

use axum::http::StatusCode;
use domain::message::RouteV1;
use serde_json::json;
use tokio::net::TcpListener;

use super::upstream::{End, ScriptedReply, Upstream};
use super::{CHAT, EVENTS, MODELS, SPACE, bare, before, header, saying, stored};
use crate::harness::Gateway;

#[tokio::test]
async fn the_proxy_is_off_by_default() {
    let gateway = Gateway::new().await;
    for call in [CHAT, MODELS] {
        let reply = gateway.send_with(call, &saying("Hi."), &[SPACE]).await;
        let problem = reply.problem();
        assert!(problem.starts_with("404 the proxy with memory is off"), "{problem}");
        assert!(problem.contains("`[gateway.proxy] enabled = true`"), "{problem}");
    }
}

#[tokio::test]
async fn settings_that_cannot_work_are_refused() {
    for (settings, expected) in [
        ("", "[gateway.proxy] has no endpoint"),
        ("url = \"ftp://x\"", "[gateway.proxy] `url` must start with"),
        ("url = \"http://x/v1\"\ntimeout_ms = 0", "timeout_ms must be at least 1"),
        (
            "url = \"http://x/v1\"\nspace_prefix = \"A\"",
            "space_prefix cannot begin",
        ),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let text = format!("[gateway.proxy]\nenabled = true\n{settings}");
        let settings = host::Settings::from_toml(&text, "test").unwrap();
        let context = host::Context::embedded_with(dir.path(), settings).await.unwrap();
        let error = gateway::build_router(context).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[tokio::test]
async fn a_chat_creates_no_space_if_the_settings_forbid_it() {
    let upstream = Upstream::start().await;
    let url = &upstream.url;
    let settings = format!("[gateway]\ncreate_spaces = false\n[gateway.proxy]\nenabled = true\nurl = \"{url}\"");
    let gateway = Gateway::with(&settings).await;
    upstream.says(ScriptedReply::Text("Hello."));
    let new = ("x-mnemic-space", "new");
    let reply = gateway.send_with(CHAT, &saying("Hi."), &[new]).await;
    assert_eq!(reply.json()["choices"][0]["message"]["content"], "Hello.");
    assert_eq!(header(&reply, "x-mnemic-stored"), "none; unknown space");
    let reply = gateway.send("GET /v1/spaces/new", "").await;
    assert!(reply.problem().starts_with("404 "), "{reply:?}");
}

#[tokio::test]
async fn invalid_requests_are_refused_in_the_form_of_the_api() {
    let upstream = Upstream::start().await;
    let gateway = bare(&upstream, "").await;
    let hi = saying("Hi.");
    let user = |name: &str| json!({ "user": name, "messages": [{ "role": "user", "content": "Hi." }] }).to_string();
    for (body, headers, code) in [
        (hi.as_str(), vec![], "space_missing"),
        (&user("Ann Smith"), vec![], "space_invalid"),
        (&hi, vec![("x-mnemic-space", "../s")], "space_invalid"),
        (&hi, vec![SPACE, ("x-mnemic-session", "..")], "session_invalid"),
        (&hi, vec![SPACE, ("x-mnemic-session", " ")], "session_invalid"),
        (&hi, vec![SPACE, ("idempotency-key", "")], "invalid"),
        ("{", vec![SPACE], "invalid_json"),
        (r#"{"messages":[]}"#, vec![SPACE], "invalid"),
    ] {
        let reply = gateway.send_with(CHAT, body, &headers).await;
        let error = &reply.json()["error"];
        assert_eq!(
            (reply.status, error["code"].as_str()),
            (StatusCode::BAD_REQUEST, Some(code)),
            "{reply:?}"
        );
        assert_eq!(error["type"], "invalid_request_error");
        assert!(error["message"].as_str().is_some_and(|it| !it.is_empty()));
    }
    assert!(upstream.asked().is_empty());
}

#[tokio::test]
async fn an_error_of_the_endpoint_is_returned_unchanged_and_the_message_is_stored() {
    let upstream = Upstream::start().await;
    let gateway = before(&upstream, "").await;
    let error = r#"{"error": {"message":"no such model"}}"#;
    upstream.says(ScriptedReply::Status(500, error));
    let reply = gateway.send_with(CHAT, &saying("One."), &[SPACE]).await;
    assert_eq!((reply.status.as_u16(), reply.text.as_str()), (500, error));
    assert_eq!(
        (header(&reply, "x-request-id"), header(&reply, "x-mnemic-stored")),
        ("r1", "user")
    );
    assert!(!reply.headers.contains_key("set-cookie"));
    upstream.says(ScriptedReply::Redirect);
    let reply = gateway.send_with(CHAT, &saying("Two."), &[SPACE]).await;
    assert_eq!(
        (reply.status.as_u16(), reply.text.as_str()),
        (302, "elsewhere"),
        "nobody is led elsewhere"
    );
    upstream.says(ScriptedReply::Half);
    let reply = gateway.send_with(CHAT, &saying("Three."), &[SPACE]).await;
    assert_eq!(
        (reply.status.as_u16(), &reply.json()["error"]["code"]),
        (502, &json!("upstream_cut"))
    );
    let expected = ["default user One.", "default user Three.", "default user Two."];
    assert_eq!(stored(&gateway, "s", 3).await, expected);
}

#[tokio::test]
async fn an_unavailable_or_slow_endpoint_is_a_502_or_504_and_the_message_is_stored() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = |it: &TcpListener| format!("http://{}/v1", it.local_addr().unwrap());
    let cases = [
        (url(&silent), 504, "upstream_timeout"),
        (url(&closed), 502, "upstream_unreachable"),
    ];
    drop(closed);
    for (url, status, code) in cases {
        let gateway = before(&Upstream::at(url), "timeout_ms = 2000").await;
        let reply = gateway.send_with(CHAT, &saying("Hi."), &[SPACE]).await;
        assert_eq!(reply.status.as_u16(), status, "{reply:?}");
        let error = &reply.json()["error"];
        assert_eq!((&error["code"], &error["type"]), (&json!(code), &json!("server_error")));
        assert!(!reply.text.contains("127.0.0.1"), "{reply:?}");
        assert_eq!(header(&reply, "x-mnemic-stored"), "user");
        assert_eq!(stored(&gateway, "s", 1).await, ["default user Hi."]);
    }
}

#[tokio::test]
async fn a_stream_that_breaks_off_breaks_off_for_the_caller_and_is_stored_as_cut() {
    let upstream = Upstream::start().await;
    let gateway = before(&upstream, "").await;
    upstream.says(ScriptedReply::Stream(EVENTS[..2].to_vec(), End::Broken));
    let request = axum::http::Request::post("/v1/chat/completions")
        .header("content-type", "application/json")
        .header(SPACE.0, SPACE.1);
    let request = request.body(axum::body::Body::from(saying("Where?"))).unwrap();
    let body = gateway.response(request).await.into_body();
    assert!(
        axum::body::to_bytes(body, usize::MAX).await.is_err(),
        "it must not look whole"
    );
    let expected = ["default assistant In Oslo. [cut]", "default user Where?"];
    assert_eq!(stored(&gateway, "s", 2).await, expected);
}

#[tokio::test]
async fn a_slow_or_unavailable_memory_does_not_stop_a_chat() {
    let upstream = Upstream::start().await;
    for (late, evidence_ms, reason) in [
        (true, 200, "none; memory took too long"),
        (false, 20_000, "none; memory cannot be reached"),
    ] {
        let gateway = bare(&upstream, &format!("evidence_ms = {evidence_ms}")).await;
        if late {
            gateway.never::<RouteV1>();
            gateway.settled().await;
        }
        upstream.says(ScriptedReply::Text("Hi."));
        let reply = gateway.send_with(CHAT, &saying("Hi."), &[SPACE]).await;
        assert_eq!(
            (reply.status, header(&reply, "x-mnemic-evidence")),
            (StatusCode::OK, reason)
        );
        assert_eq!(upstream.asked()[0].text, saying("Hi."));
    }
}
