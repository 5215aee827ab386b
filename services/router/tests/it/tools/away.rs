//! Stores that are unavailable.

use std::sync::Arc;

use fixtures::UnavailableIndex;
use router::{Config, Router};
use serde_json::json;

use super::{call, opened};
use crate::derived::turn;

#[tokio::test]
async fn a_tool_reports_a_store_that_is_unavailable() {
    let dir = tempfile::tempdir().unwrap();
    let (ctx, _) = opened(&dir).await;
    let mut stores = ctx.backends.clone();
    stores.index = Arc::new(UnavailableIndex::Failing);
    let router = Router::new(stores, Config::default()).unwrap();
    let text = call(&router, "lexical_retrieve", &json!({"query": "dog"}), None).await;
    assert!(
        text.contains("\"code\":\"unavailable\"") && text.contains("continue without it"),
        "{text}"
    );
    // A tool that needs no index still answers.
    let text = call(&router, "query_event_keywords", &json!({"unit": turn(0)}), None).await;
    assert!(text.contains("\"result\""), "{text}");
}
