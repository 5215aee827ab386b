use std::collections::HashSet;
use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::{Embedding, Result, UnfinishedErasure};
use crate::id::{SpaceId, UnitId};

/// Term hashes with weights, sorted by term, without duplicates. Weights are term frequencies damped by length. The
/// store multiplies them by `ln(1 + (N - df + 0.5) / (df + 0.5))` over the points of the space (Qdrant's
/// `Modifier::Idf`).
pub type Sparse = Vec<(u32, f32)>;

/// One part of a unit, as indexed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The unit of the part.
    pub unit: UnitId,
    /// Number of the part, from 0.
    pub part: u16,
    /// L2-normalised; all zeros if no word is known.
    pub dense: Embedding,
    /// Stems of the text (`text::meaning::sparse_vectors`).
    pub words: Sparse,
    /// Word pieces of the text, for soft matching.
    pub pieces: Sparse,
    /// Time of observation, in seconds since 1970; used by filters.
    pub observed_at: i64,
}

/// One search over a space. A channel without a query is not searched.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Search {
    /// Query vector for the nearest points, by cosine.
    pub dense: Option<Embedding>,
    /// Query terms for the best points, by sparse dot product with idf over `words`.
    pub words: Option<Sparse>,
    /// Query terms for the same search over `pieces`.
    pub pieces: Option<Sparse>,
    /// Maximum number of hits for each channel.
    pub limit: usize,
    /// Start of the time filter: only points observed in `[from, until)`.
    pub from: Option<i64>,
    /// End of the time filter.
    pub until: Option<i64>,
    /// Only points of these units; `None` restricts nothing.
    pub units: Option<Arc<HashSet<UnitId>>>,
}

/// A point found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The unit.
    pub unit: UnitId,
    /// The part.
    pub part: u16,
    /// Cosine, or sum of weights; greater is better.
    pub score: f32,
}

/// Hits by channel, best first, ties by (unit, part). A channel that was not searched is empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchResult {
    /// Hits of `dense`.
    pub dense: Vec<Hit>,
    /// Hits of `words`; only points that share a term with the query.
    pub words: Vec<Hit>,
    /// Hits of `pieces`; only points that share a term with the query.
    pub pieces: Vec<Hit>,
}

/// A generation of a space's points: all points that were put since the generation began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Generation(pub i64);

/// Unit and part of some points, and the place to continue from.
pub type PointsPage = (Vec<(UnitId, u16)>, Option<PointsCursor>);

/// The place where a list of points continues; only meaningful to the index that returned it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PointsCursor(pub u128);

/// Nearest-neighbour and inverted search over the parts of units.
///
/// A space can be rebuilt while it is searched: [`begin`](Index::begin) a generation, put every unit again,
/// [renew](Index::renew_generation) the generation meanwhile, [activate](Index::activate_generation) it, and
/// [delete](Index::delete_unreachable_points) what is left of the one before. Until the activation, every search finds
/// each unit completely, either in its old or in its new form. After it, searches only find points that were put since
/// the generation began.
#[async_trait]
pub trait Index: Send + Sync + 'static {
    /// Removes all points of the `retired` units, then inserts or replaces `points`. The points are searchable on
    /// return.
    ///
    /// # Errors
    ///
    /// `Invalid` if the length of a vector differs from the index's dimension; `NotFound` if the space is unknown.
    async fn put(&self, space: &SpaceId, points: &[Point], retired: &[UnitId]) -> Result<()>;

    /// Searches all channels of `search` in one round trip. A dense query of zeros finds nothing.
    ///
    /// # Errors
    ///
    /// `Invalid` if the length of the dense query differs from the index's dimension.
    async fn search(&self, space: &SpaceId, search: &Search) -> Result<SearchResult>;

    /// Begins a new generation of the space. An earlier generation that was not activated is abandoned. `NotFound` if
    /// the space is unknown.
    async fn begin(&self, space: &SpaceId) -> Result<Generation>;

    /// Signals that the generation is still being built; to be called once a minute until it is activated. An index may
    /// abandon a generation that was not renewed for 15 minutes.
    ///
    /// # Errors
    ///
    /// `Conflict` if an index that abandons generations no longer builds this one.
    async fn renew_generation(&self, space: &SpaceId, generation: Generation) -> Result<()>;

    /// Excludes from all later searches the points that were not put since the generation began. Idempotent.
    ///
    /// # Errors
    ///
    /// `Conflict` if another generation has begun since, the space was deleted and created again, or the index has
    /// abandoned the generation.
    async fn activate_generation(&self, space: &SpaceId, generation: Generation) -> Result<()>;

    /// Deletes points that no search can find any more. A search that started before the last activation may miss them.
    async fn delete_unreachable_points(&self, space: &SpaceId) -> Result<()>;

    /// Returns unit and part of up to `limit` searchable points after `after`, in an order that the index chooses; and
    /// the place to continue from, if any. Points that are put meanwhile may be missing.
    async fn points(&self, space: &SpaceId, after: Option<PointsCursor>, limit: usize) -> Result<PointsPage>;

    /// Returns the number of points of the space.
    async fn count(&self, space: &SpaceId) -> Result<u64>;

    /// Removes every point of the space.
    async fn erase(&self, space: &SpaceId) -> Result<()>;

    /// Removes every point of the deleted space and of earlier spaces of its name. The points of a space that was
    /// created under this name later stay.
    async fn erase_deleted(&self, erasure: &UnfinishedErasure) -> Result<()>;
}
