use axum::http::{StatusCode, header};

use crate::access::KEYS;
use crate::harness::Gateway;

const BROWSER: &[(&str, &str)] = &[("accept", "text/html,application/xhtml+xml,*/*;q=0.8")];

/// Returns the paths of the files that the page loads.
fn loaded(page: &str) -> Vec<String> {
    let quoted = page.split('"').filter(|text| text.starts_with("/assets/"));
    quoted.map(str::to_owned).collect()
}

#[tokio::test]
async fn browsers_get_the_explorer_without_a_key_and_other_clients_the_index() {
    let gateway = Gateway::with(KEYS).await;
    let page = gateway.send_with("GET /", "", BROWSER).await;
    assert_eq!(page.status, StatusCode::OK, "{page:?}");
    assert_eq!(page.headers[header::CONTENT_TYPE], "text/html; charset=utf-8");
    assert_eq!(page.headers[header::CACHE_CONTROL], "no-cache");
    assert_eq!(page.headers[header::VARY], "accept, accept-encoding");
    for accept in ["*/*", "application/json"] {
        let index = gateway.send_with("GET /", "", &[("accept", accept)]).await;
        assert_eq!(index.json()["name"], "mnemic", "{accept}");
        assert_eq!(index.headers[header::VARY], "accept, accept-encoding");
    }
}

#[tokio::test]
async fn the_description_of_the_api_is_a_page_of_the_explorer() {
    let gateway = Gateway::with(KEYS).await;
    let start = gateway.send_with("GET /", "", BROWSER).await;
    let docs = gateway.send("GET /docs", "").await;
    assert_eq!(docs.text, start.text);
    assert!(!docs.text.is_empty());
}

#[tokio::test]
async fn the_explorer_loads_only_its_own_files() {
    let gateway = Gateway::new().await;
    let page = gateway.send_with("GET /", "", BROWSER).await;
    assert!(!page.text.contains("http:") && !page.text.contains("https:") && !page.text.contains("<style"));
    let paths = loaded(&page.text);
    assert!(paths.len() >= 3, "{}", page.text);
    for path in paths {
        let file = gateway.send(&format!("GET {path}"), "").await;
        assert_eq!(file.status, StatusCode::OK, "{path}");
        assert_eq!(
            file.headers[header::CACHE_CONTROL],
            "public, max-age=31536000, immutable"
        );
        assert_eq!(file.headers[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
        assert!(!file.text.is_empty());
        for reply in [&page, &file] {
            let policy = reply.headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
            for part in ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"] {
                assert!(policy.contains(part), "{part} in {policy}");
            }
            assert!(!policy.contains("unsafe"), "{policy}");
        }
    }
}

#[tokio::test]
async fn a_cached_file_is_not_sent_again() {
    let gateway = Gateway::new().await;
    let page = gateway.send_with("GET /", "", BROWSER).await;
    let etag = page.headers[header::ETAG].to_str().unwrap().to_owned();
    let again = gateway
        .send_with("GET /", "", &[BROWSER[0], ("if-none-match", &etag)])
        .await;
    assert_eq!((again.status, again.text.as_str()), (StatusCode::NOT_MODIFIED, ""));
    let other = gateway
        .send_with("GET /", "", &[BROWSER[0], ("if-none-match", "\"other\"")])
        .await;
    assert_eq!(other.status, StatusCode::OK);
    assert_eq!(other.text, page.text);
}

#[tokio::test]
async fn a_file_that_does_not_exist_is_a_problem() {
    let gateway = Gateway::new().await;
    for path in [
        "/assets/nothing.js",
        "/assets/..%2Findex.html",
        "/assets/%2e%2e/index.html",
    ] {
        let reply = gateway.send(&format!("GET {path}"), "").await;
        assert_eq!(reply.status, StatusCode::NOT_FOUND, "{path}");
        reply.problem();
    }
    gateway.send("GET /assets/%ff", "").await.problem();
}
