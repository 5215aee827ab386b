//! Failures: invalid requests, a memory that is not available, and a language model that fails.

use axum::body::Body;
use axum::http::{Request, StatusCode};
use domain::message::RouteV1;
use serde_json::json;
use tokio::net::TcpListener;

use super::upstream::{End, ScriptedReply, Upstream};
use super::{CHAT, EVENTS, MODELS, SPACE, bare, before, header, saying, stored};
use crate::harness::{Gateway, Reply};

#[tokio::test]
async fn the_proxy_is_off_by_default() {
    let gateway = Gateway::new().await;
    for call in [CHAT, MODELS] {
        let reply = gateway.send_with(call, &saying("Hi."), &[SPACE]).await;
        let problem = refusal(&reply);
        assert!(
            problem.starts_with("404 invalid_request_error not-found the proxy with memory is off"),
            "{problem}"
        );
        assert!(problem.contains("`[gateway.proxy] enabled = true`"), "{problem}");
    }
}

/// Checks that the reply is an error in the form of OpenAI's API and returns `status type code message`.
fn refusal(reply: &Reply) -> String {
    assert_eq!(header(reply, "content-type"), "application/json", "{reply:?}");
    let error = &reply.json()["error"];
    let text = |name: &str| error[name].as_str().unwrap().to_owned();
    let (kind, code, message) = (text("type"), text("code"), text("message"));
    format!("{} {kind} {code} {message}", reply.status.as_u16())
}

#[tokio::test]
async fn refusals_of_the_layers_have_the_form_of_the_api() {
    let upstream = Upstream::start().await;
    let key = "[[gateway.keys]]\nname = \"limited\"\nspaces = [\"s\"]\nrights = [\"read\", \"write\"]\n\
               sha256 = \"3d0941964aa3ebdcb00ccef58b1bb399f9f898465e9886d5aec7f31090a0fb30\"\n\
               quotas = { requests_per_minute = 1 }\n";
    let gateway = bare(&upstream, key).await;
    for call in [CHAT, MODELS] {
        let reply = gateway.send_as("unknown", call, &saying("Hi.")).await;
        let refused = refusal(&reply);
        assert!(
            refused.starts_with("401 authentication_error unauthorized send `Authorization"),
            "{refused}"
        );
        assert_eq!(header(&reply, "www-authenticate"), "Bearer");
        assert!(!header(&reply, "x-trace-id").is_empty());
    }
    // The minute of the clock may end once meanwhile.
    let mut refused = None;
    for _ in 0..4 {
        let reply = gateway.send_as("reader", MODELS, "").await;
        if reply.status != StatusCode::OK {
            refused = Some(reply);
        }
    }
    let reply = refused.unwrap();
    let busy = refusal(&reply);
    assert!(busy.starts_with("429 rate_limit_error quota-exhausted "), "{busy}");
    let seconds: u32 = header(&reply, "retry-after").parse().unwrap();
    assert!((1..=60).contains(&seconds), "{seconds}");
    let other = gateway.send_as("unknown", "GET /v1/spaces/s", "").await;
    assert!(other.problem().starts_with("401 "), "other routes keep their form");
}

#[tokio::test]
async fn a_chat_beyond_the_time_limit_is_refused_in_the_form_of_the_api() {
    let gateway = Gateway::with("[gateway]\nrequest_ms_max = 50").await;
    // A body that never arrives: only the time limit of the whole request ends it.
    let never = futures::stream::pending::<Result<Vec<u8>, std::io::Error>>();
    let request = Request::post("/v1/chat/completions").header("content-type", "application/json");
    let reply = gateway.raw(request.body(Body::from_stream(never)).unwrap()).await;
    assert_eq!(
        refusal(&reply),
        "504 server_error timeout the request took longer than 50 ms"
    );
}

#[tokio::test]
async fn a_problem_document_of_the_endpoint_is_returned_unchanged() {
    let upstream = Upstream::start().await;
    let gateway = bare(&upstream, "").await;
    let problem = r#"{"type":"about:blank","title":"Busy","status":503,"detail":"Busy."}"#;
    upstream.says(ScriptedReply::Problem(503, problem));
    let reply = gateway.send_with(CHAT, &saying("Hi."), &[SPACE]).await;
    assert_eq!((reply.status.as_u16(), reply.text.as_str()), (503, problem));
    assert_eq!(header(&reply, "content-type"), "application/problem+json");
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
    let request = Request::post("/v1/chat/completions")
        .header("content-type", "application/json")
        .header(SPACE.0, SPACE.1);
    let request = request.body(Body::from(saying("Where?"))).unwrap();
    let body = gateway.response(request).await.into_body();
    assert!(
        axum::body::to_bytes(body, usize::MAX).await.is_err(),
        "it must not look whole"
    );
    let expected = ["default assistant In Oslo. [cut]", "default user Where?"];
    assert_eq!(stored(&gateway, "s", 2).await, expected);
}

#[tokio::test]
async fn a_stream_that_reports_an_error_is_stored_as_cut_and_its_retry_too() {
    let upstream = Upstream::start().await;
    let gateway = before(&upstream, "").await;
    let failing = vec![
        EVENTS[0],
        EVENTS[1],
        "data: {\"error\":{\"message\":\"overloaded\",\"code\":502}}\n\n",
        "data: [DONE]\n\n",
    ];
    upstream.says(ScriptedReply::Stream(failing.clone(), End::Whole));
    let headers = [SPACE, ("idempotency-key", "k1")];
    let reply = gateway.send_with(CHAT, &saying("Where?"), &headers).await;
    assert_eq!(reply.text, failing.concat(), "the caller gets the error");
    let expected = ["default assistant In Oslo. [cut]", "default user Where?"];
    assert_eq!(stored(&gateway, "s", 2).await, expected);
    upstream.says(ScriptedReply::Text("In Oslo, since May."));
    let reply = gateway.send_with(CHAT, &saying("Where?"), &headers).await;
    assert_eq!(header(&reply, "x-mnemic-stored"), "user,assistant");
    let expected = [
        "default assistant In Oslo, since May.",
        "default assistant In Oslo. [cut]",
        "default user Where?",
    ];
    assert_eq!(stored(&gateway, "s", 3).await, expected);
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
