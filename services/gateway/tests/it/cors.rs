//! Web pages that may read responses.

use axum::http::StatusCode;

use crate::access::KEYS;
use crate::harness::{Gateway, Reply};

const PAGE: &str = "https://app.example";

/// Headers of the API, and headers that clients of OpenAI, MCP and mem0 add.
const REQUESTED: &str = "authorization,content-type,idempotency-key,x-stainless-lang,x-stainless-retry-count,\
                         mcp-method,mcp-name,mem0-user-id";

async fn preflight(gateway: &Gateway, origin: &str) -> Reply {
    let headers = [
        ("origin", origin),
        ("access-control-request-method", "PATCH"),
        ("access-control-request-headers", REQUESTED),
    ];
    gateway.send_with("OPTIONS /v1/spaces/s/records/1", "", &headers).await
}

async fn get(gateway: &Gateway, key: &str, origin: &str) -> Reply {
    let authorization = format!("Bearer {key}");
    let headers = [("origin", origin), ("authorization", authorization.as_str())];
    gateway.send_with("GET /v1/spaces/s", "", &headers).await
}

fn allowed(reply: &Reply) -> Option<&str> {
    let origin = reply.headers.get("access-control-allow-origin");
    origin.map(|it| it.to_str().unwrap())
}

#[tokio::test]
async fn pages_of_listed_origins_may_read_responses() {
    let settings = format!("[gateway.cors]\norigins = [\"{PAGE}\", \"http://localhost:3000\"]\n{KEYS}");
    let gateway = Gateway::with(&settings).await;
    for origin in [PAGE, "http://localhost:3000"] {
        let reply = preflight(&gateway, origin).await;
        assert_eq!(
            (reply.status, allowed(&reply)),
            (StatusCode::OK, Some(origin)),
            "{reply:?}"
        );
        let header = |name: &str| reply.headers[name].to_str().unwrap().to_ascii_lowercase();
        for method in ["get", "post", "put", "patch", "delete"] {
            assert!(header("access-control-allow-methods").contains(method), "{reply:?}");
        }
        let headers = header("access-control-allow-headers");
        let allowed_names: Vec<&str> = headers.split(',').map(str::trim).collect();
        for name in REQUESTED.split(',') {
            assert!(allowed_names.contains(&name), "{name}: {reply:?}");
        }
        assert!(
            !reply.headers.contains_key("access-control-allow-credentials"),
            "{reply:?}"
        );
        assert_eq!(header("access-control-max-age"), "3600");
        assert!(header("vary").contains("origin"), "{reply:?}");
    }
    let read = get(&gateway, "reader", PAGE).await;
    assert_eq!((read.status, allowed(&read)), (StatusCode::OK, Some(PAGE)));
    let exposed = read.headers["access-control-expose-headers"].to_str().unwrap();
    assert!(
        exposed.contains("x-trace-id") && exposed.contains("retry-after"),
        "{exposed}"
    );
    let refused = get(&gateway, "nobody", PAGE).await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED, "an origin is no key");
    assert_eq!(allowed(&refused), Some(PAGE), "a page may read why");
    for reply in [&read, &refused] {
        assert!(!reply.headers.contains_key("access-control-allow-credentials"));
    }
}

#[tokio::test]
async fn pages_of_other_origins_may_not_read_responses() {
    let settings = format!("[gateway.cors]\norigins = [\"{PAGE}\"]\n{KEYS}");
    let gateway = Gateway::with(&settings).await;
    for origin in [
        "https://other.example",
        "http://app.example",
        "https://app.example.evil",
        "https://app.example:8443",
        "null",
    ] {
        assert_eq!(allowed(&preflight(&gateway, origin).await), None, "{origin}");
        let read = get(&gateway, "reader", origin).await;
        assert_eq!((read.status, allowed(&read)), (StatusCode::OK, None), "{origin}");
    }
    assert_eq!(allowed(&preflight(&gateway, PAGE).await), Some(PAGE));
}

#[tokio::test]
async fn no_page_may_read_responses_by_default_and_every_page_with_a_star() {
    let gateway = Gateway::with(KEYS).await;
    let reply = preflight(&gateway, PAGE).await;
    assert!(reply.status.is_client_error() && allowed(&reply).is_none(), "{reply:?}");
    let open = gateway.another(&format!("[gateway.cors]\norigins = [\"*\"]\n{KEYS}"));
    let reply = preflight(&open, PAGE).await;
    assert_eq!((reply.status, allowed(&reply)), (StatusCode::OK, Some("*")));
    assert!(!reply.headers.contains_key("access-control-allow-credentials"));
}

/// A server without keys only answers pages of this machine, whatever the list contains.
#[tokio::test]
async fn a_list_of_origins_does_not_open_a_server_without_keys() {
    let gateway = Gateway::with("[gateway.cors]\norigins = [\"*\"]").await;
    for (origin, expected) in [("http://localhost:3000", 200), (PAGE, 421)] {
        let headers = [("host", "localhost:7077"), ("origin", origin)];
        let reply = gateway.send_with("GET /v1/spaces/s", "", &headers).await;
        assert_eq!(reply.status.as_u16(), expected, "{origin}: {reply:?}");
    }
}

#[tokio::test]
async fn an_invalid_origin_in_the_settings_is_an_error() {
    for origins in ["[\"https://app.example/\"]", "[\"*\", \"https://app.example\"]"] {
        let dir = tempfile::tempdir().unwrap();
        let settings = format!("[gateway.cors]\norigins = {origins}");
        let settings = host::Settings::from_toml(&settings, "test").unwrap();
        let context = host::Context::embedded_with(dir.path(), settings).await.unwrap();
        let error = format!("{:#}", gateway::run(context).await.unwrap_err());
        assert!(error.contains("[gateway.cors] origins"), "{error}");
    }
}
