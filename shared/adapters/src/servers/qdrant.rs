//! The index on Qdrant, for distributed installations.
//!
//! [`provision_collection`] creates the collection once; [`QdrantIndex::connect`] verifies it and returns the port. Read in this
//! order: `schema` (the collection and what is compared), `marker` (which points of a space are shown), `points` (the
//! form of a stored point), `search` (one question, one batch), `generation` (rebuilding a space while it is searched),
//! `rebuild_leases` (when a rebuild counts as abandoned), `client` (how a call is sent and retried).
//!
//! One collection holds every space of one embedding model; the name of a space is only ever a value. A point belongs
//! to a generation of its space. Every filter names both, even the filter for the points over which idf is counted: no
//! point of another space or generation is found, counted or weighed. The generation that readers see is stored in the
//! marker, a point without vectors. A search reads the marker in the same batch as its channels, and starts over if it
//! has changed; so a switch is one write, and a search needs no extra round trip.
//!
//! The first generation of a space is the time at which the space was created. So points that a late writer puts for a
//! space that has been erased and created again stay invisible. What is absent: snapshots, shards, replicas; they are
//! the operator's task.

mod client;
mod error;
mod generation;
mod marker;
mod options;
mod points;
mod rebuild_leases;
mod schema;
mod search;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use domain::id::{SpaceId, UnitId};
use domain::port::{
    Generation, Index, Point, PointsCursor, PointsPage, Records, Result, Search, SearchResult, UnfinishedErasure,
};
use domain::{ErrorKind, PortError};
use qdrant_client::qdrant::{CountPointsBuilder, UpdateMode};
use tracing::Instrument;

use crate::store_rules::index_points::check_points;
use client::Client;
use marker::Markers;
use rebuild_leases::{LEASE, RebuildLeases};

pub use crate::servers::qdrant::error::Drift;
pub use error::SetupError;
pub use options::Options;
pub use schema::provision_collection;

/// Number of times a call starts over because another generation is shown or built.
const ROUNDS_MAX: usize = 4;

/// Search over the points of one Qdrant collection.
pub struct QdrantIndex {
    client: Client,
    records: Arc<dyn Records>,
    collection: String,
    dimension: usize,
    exact: bool,
    batch: usize,
    markers: Markers,
    leases: RebuildLeases,
}

impl QdrantIndex {
    /// Connects and verifies the collection; creates nothing. After a lost connection it reconnects by itself.
    /// `records` tells which spaces exist; vectors have `dimension` numbers and come from `model`.
    ///
    /// # Errors
    ///
    /// See [`SetupError`]; `NotProvisioned` if [`provision_collection`] has not run or the collection has drifted since.
    pub async fn connect(
        options: &Options,
        records: Arc<dyn Records>,
        dimension: usize,
        model: &str,
    ) -> std::result::Result<QdrantIndex, SetupError> {
        let client = Client::new(options)?;
        schema::verify_collection(&client, options, dimension, model).await?;
        Ok(QdrantIndex {
            client,
            records,
            collection: schema::alias_of_model(options, model),
            dimension,
            exact: options.exact,
            batch: options.batch_points.clamp(1, options::BATCH_POINTS_MAX),
            markers: Markers::default(),
            leases: RebuildLeases::new(LEASE),
        })
    }

    /// Sets the time after which a generation that is not renewed is ended; 15 minutes by default.
    #[must_use]
    pub fn with_rebuild_lease(mut self, lease: Duration) -> QdrantIndex {
        self.leases = RebuildLeases::new(lease);
        self
    }
}

#[async_trait]
impl Index for QdrantIndex {
    async fn put(&self, space: &SpaceId, points: &[Point], retired: &[UnitId]) -> Result<()> {
        const OPERATION: &str = "index.put";
        let span = tracing::info_span!("index.put", %space, points = points.len(), retired = retired.len());
        let put = async {
            check_points(OPERATION, points, self.dimension)?;
            let mut marker = self.get_or_create_marker(OPERATION, space).await?;
            for _ in 0..ROUNDS_MAX {
                marker = self.end_abandoned_generation(OPERATION, space, marker).await?;
                // A generation that is being built gets the points too, so that it is complete when it is shown.
                for generation in marker.generation_being_built().into_iter().chain([marker.shown]) {
                    let place = points::GenerationKey { space, generation };
                    self.write_points(OPERATION, place, points, UpdateMode::Upsert).await?;
                    // Removed after the write, so that a unit that is put again can be found at any time.
                    self.remove_units(OPERATION, place, retired, points).await?;
                }
                // The space may have been erased, or a generation begun or shown, since the marker was read. A
                // generation that was shown meanwhile has the points already if it was being built.
                let now = self.read_marker(OPERATION, space).await?;
                if now.is_some_and(|it| it.born == marker.born && marker.covers_later(&it)) {
                    return Ok(());
                }
                marker = self.get_or_create_marker(OPERATION, space).await?;
            }
            let detail = "the space changes faster than it can be written";
            Err(PortError::new(OPERATION, ErrorKind::Unavailable, detail))
        };
        put.instrument(span).await
    }

    async fn search(&self, space: &SpaceId, search: &Search) -> Result<SearchResult> {
        let span = tracing::info_span!("index.search", %space, limit = search.limit);
        self.search_channels(space, search).instrument(span).await
    }

    async fn begin(&self, space: &SpaceId) -> Result<Generation> {
        let span = tracing::info_span!("index.begin", %space);
        QdrantIndex::begin_generation(self, space).instrument(span).await
    }

    async fn renew_generation(&self, space: &SpaceId, generation: Generation) -> Result<()> {
        let span = tracing::info_span!("index.renew", %space);
        QdrantIndex::renew_lease(self, space, generation).instrument(span).await
    }

    async fn activate_generation(&self, space: &SpaceId, generation: Generation) -> Result<()> {
        let span = tracing::info_span!("index.switch", %space);
        QdrantIndex::switch_generation(self, space, generation)
            .instrument(span)
            .await
    }

    async fn delete_unreachable_points(&self, space: &SpaceId) -> Result<()> {
        let span = tracing::info_span!("index.sweep", %space);
        self.drop_unused(space).instrument(span).await
    }

    async fn points(&self, space: &SpaceId, after: Option<PointsCursor>, limit: usize) -> Result<PointsPage> {
        self.list_points(space, after, limit).await
    }

    async fn count(&self, space: &SpaceId) -> Result<u64> {
        const OPERATION: &str = "index.count";
        let Some(marker) = self.read_marker(OPERATION, space).await? else {
            return Ok(0);
        };
        let filter = points::generation_filter(space, marker.shown);
        let request = CountPointsBuilder::new(&self.collection)
            .filter(filter)
            .exact(true)
            .build();
        let counted = self.client.count_points(OPERATION, &request).await?;
        let missing = || PortError::new(OPERATION, ErrorKind::Internal, "qdrant returned no count");
        Ok(counted.result.ok_or_else(missing)?.count)
    }

    async fn erase(&self, space: &SpaceId) -> Result<()> {
        self.erase_all(space).await
    }

    async fn erase_deleted(&self, erasure: &UnfinishedErasure) -> Result<()> {
        let span = tracing::info_span!("index.erase_deleted", space = %erasure.space);
        self.erase_until(erasure).instrument(span).await
    }
}
