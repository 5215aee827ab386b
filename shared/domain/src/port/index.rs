use std::collections::HashSet;
use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::{Embedding, Result, UnfinishedErasure};
use crate::id::{SpaceId, UnitId};

/// Term hashes with weights, sorted by term, no term twice. Weights are term frequencies damped by length; the store
/// multiplies by `ln(1 + (N - df + 0.5) / (df + 0.5))` over the points of the space (Qdrant's `Modifier::Idf`).
pub type Sparse = Vec<(u32, f32)>;

/// One part of a unit, as indexed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The unit it is a part of.
    pub unit: UnitId,
    /// Number of the part, from 0.
    pub part: u16,
    /// L2-normalised; all zeros when no word is known.
    pub dense: Embedding,
    /// Stems of the text (`text::sparse`).
    pub words: Sparse,
    /// Word pieces of the text, for soft matching.
    pub pieces: Sparse,
    /// Observed at, seconds since 1970, for filters.
    pub observed_at: i64,
}

/// One search over a space. A channel without a query is not searched.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Search {
    /// Nearest by cosine.
    pub dense: Option<Embedding>,
    /// Best by sparse dot product with idf, over `words`.
    pub words: Option<Sparse>,
    /// The same over `pieces`.
    pub pieces: Option<Sparse>,
    /// Hits wanted from each channel.
    pub limit: usize,
    /// Only points observed in `[from, until)`.
    pub from: Option<i64>,
    /// End of the time filter.
    pub until: Option<i64>,
    /// Only points of these units; none restricts nothing.
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
    /// Of `dense`.
    pub dense: Vec<Hit>,
    /// Of `words`; only points that share a term.
    pub words: Vec<Hit>,
    /// Of `pieces`; only points that share a term.
    pub pieces: Vec<Hit>,
}

/// A generation of the points of a space: all that was put since it was begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Generation(pub i64);

/// Some points, by unit and part, and the place to go on with.
pub type PointsPage = (Vec<(UnitId, u16)>, Option<Place>);

/// Where a list of points goes on; says something to the index that gave it alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place(pub u128);

/// Nearest-neighbour and inverted search over the parts of units.
///
/// A space is derived again while it is searched: [`begin`](Index::begin) a generation, put every unit once more,
/// [`switch`](Index::switch) to it, and [`sweep`](Index::sweep) what is left of the one before. Meanwhile every search
/// finds each unit whole, as it was or as it is now, and after the switch only what was put since it was begun.
#[async_trait]
pub trait Index: Send + Sync + 'static {
    /// Removes all points of the `retired` units, then inserts or replaces `points`. Searchable on return.
    ///
    /// # Errors
    /// `Invalid` if a vector's length is not the index's dimension; `NotFound` if the space is unknown.
    async fn put(&self, space: &SpaceId, points: &[Point], retired: &[UnitId]) -> Result<()>;

    /// Searches all channels of `search` in one round trip. A dense query of zeros finds nothing.
    ///
    /// # Errors
    /// `Invalid` if the dense query's length is not the index's dimension.
    async fn search(&self, space: &SpaceId, search: &Search) -> Result<SearchResult>;

    /// Begins a generation of the space. One that was begun before and not switched to is given up. `NotFound` if the space
    /// is unknown.
    async fn begin(&self, space: &SpaceId) -> Result<Generation>;

    /// Leaves out of every later search what was not put since the generation was begun. To do it again changes nothing.
    ///
    /// # Errors
    /// `Conflict` if another generation was begun since, or the space was made anew.
    async fn switch(&self, space: &SpaceId, generation: Generation) -> Result<()>;

    /// Frees what no search finds any more; one that started before the last switch may miss it.
    async fn sweep(&self, space: &SpaceId) -> Result<()>;

    /// Returns unit and part of up to `limit` points that searches find, in an order of the index's own, starting behind
    /// `after`; the place to go on with, if any. What is put meanwhile may be left out.
    async fn points(&self, space: &SpaceId, after: Option<Place>, limit: usize) -> Result<PointsPage>;

    /// Returns the number of points of the space.
    async fn count(&self, space: &SpaceId) -> Result<u64>;

    /// Removes every point of the space.
    async fn erase(&self, space: &SpaceId) -> Result<()>;

    /// Removes every point of the deleted space and of earlier ones of its name. The points of a space that was created under the
    /// name since stay.
    async fn erase_deleted(&self, erasure: &UnfinishedErasure) -> Result<()>;
}
