//! Stores that are unavailable.

use std::sync::Arc;

use async_trait::async_trait;
use domain::id::{SpaceId, UnitId};
use domain::port::{Generation, Index, Point, PointsCursor, PointsPage, Search, SearchResult, UnfinishedErasure};
use domain::{ErrorKind, PortError};
use router::{Config, Router};
use serde_json::json;

use super::{call, opened};
use crate::derived::turn;

/// An index that is unavailable.
struct Away;

fn away<T>() -> Result<T, PortError> {
    Err(PortError::new("index", ErrorKind::Unavailable, "nobody is there"))
}

#[async_trait]
impl Index for Away {
    async fn put(&self, _: &SpaceId, _: &[Point], _: &[UnitId]) -> Result<(), PortError> {
        away()
    }

    async fn search(&self, _: &SpaceId, _: &Search) -> Result<SearchResult, PortError> {
        away()
    }

    async fn begin(&self, _: &SpaceId) -> Result<Generation, PortError> {
        away()
    }

    async fn renew_generation(&self, _: &SpaceId, _: Generation) -> Result<(), PortError> {
        away()
    }

    async fn activate_generation(&self, _: &SpaceId, _: Generation) -> Result<(), PortError> {
        away()
    }

    async fn delete_unreachable_points(&self, _: &SpaceId) -> Result<(), PortError> {
        away()
    }

    async fn points(&self, _: &SpaceId, _: Option<PointsCursor>, _: usize) -> Result<PointsPage, PortError> {
        away()
    }

    async fn count(&self, _: &SpaceId) -> Result<u64, PortError> {
        away()
    }

    async fn erase(&self, _: &SpaceId) -> Result<(), PortError> {
        away()
    }

    async fn erase_deleted(&self, _: &UnfinishedErasure) -> Result<(), PortError> {
        away()
    }
}

#[tokio::test]
async fn a_tool_reports_a_store_that_is_unavailable() {
    let dir = tempfile::tempdir().unwrap();
    let (ctx, _) = opened(&dir).await;
    let mut stores = ctx.backends.clone();
    stores.index = Arc::new(Away);
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
