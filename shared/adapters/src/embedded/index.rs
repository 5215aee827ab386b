//! Exact nearest-neighbour search in memory over the points in the file.
//!
//! A space is a block of vectors and postings. It is loaded from the file at the first search and updated by every
//! `put_points`; when memory is short, the least recently searched blocks are evicted. One thread applies the changes to the
//! blocks, in the order of their commits, so that the writer never waits for a search.

mod best_slots;
mod block;
mod cache;
mod dense_vectors;
mod inverted_index;

use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};

use async_trait::async_trait;
use domain::id::{SpaceId, UnitId};
use domain::port::{
    Generation, Index, Point, PointsCursor, PointsPage, Result, Search, SearchResult, UnfinishedErasure,
};
use domain::{ErrorKind, PortError};
use rusqlite::{Connection, Row, params};
use tokio::sync::{Semaphore, oneshot};
use tokio::task::spawn_blocking;
use uuid::Uuid;

use crate::embedded::store::{
    Durability, Failure, Outcome, Store, dense_blob, dense_of, from_sql_integer, known_space,
};
use crate::embedded::store::{space_row, sparse_blob, sparse_of};
use crate::{OpenError, Options};
use block::Block;
use cache::{Cache, Slot};

/// Maximum number of changes in the queue; when it is full, the writer waits.
const CHANGES_MAX: usize = 1_024;
/// Maximum number of concurrent searches; further ones wait. Searches are short, so a few per core keep all cores busy.
const SEARCHES_MAX: usize = 16;
const SEARCH: &str = "index.search";

/// Exact index over the store's points.
pub(crate) struct MemoryIndex {
    store: Arc<Store>,
    dimension: usize,
    cache: Arc<Cache>,
    changes: SyncSender<Applied>,
    searches: Arc<Semaphore>,
}

/// The result of trying a search.
enum Searched {
    Found(SearchResult),
    /// The block is not in memory.
    NotLoaded(Arc<Slot>),
}

/// A committed change of the points of a space.
enum Change {
    Put {
        space: i64,
        points: Arc<Vec<Point>>,
        retired: Arc<Vec<UnitId>>,
    },
    /// Evicts the block; the next search reads it from the file again.
    Forget { space: SpaceId },
}

/// A change to apply, and the channel that is notified.
struct Applied(Change, oneshot::Sender<()>);

impl MemoryIndex {
    pub(crate) fn new(store: Arc<Store>, dimension: usize, options: &Options) -> std::result::Result<Self, OpenError> {
        let cache = Arc::new(Cache::new(options.index_bytes_max));
        let (changes, waiting) = sync_channel(CHANGES_MAX);
        let blocks = Arc::clone(&cache);
        let apply = move || {
            for Applied(change, applied) in waiting {
                blocks.apply_change(&change);
                // A caller that no longer waits does not need the notification.
                let _ = applied.send(());
            }
        };
        let thread = std::thread::Builder::new().name("mnemic-index".to_owned()).spawn(apply);
        let path = store.path().to_owned();
        thread.map_err(|source| OpenError::Directory { path, source })?;
        let searches = Arc::new(Semaphore::new(SEARCHES_MAX));
        Ok(MemoryIndex {
            store,
            dimension,
            cache,
            changes,
            searches,
        })
    }

    /// Commits `job`, then waits until its change is searchable.
    async fn commit_change<T, F, C>(
        &self,
        operation: &'static str,
        durability: Durability,
        job: F,
        change: C,
    ) -> Result<()>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Outcome<T> + Send + 'static,
        C: FnOnce(&T) -> Change + Send + 'static,
    {
        let (sender, applied) = oneshot::channel();
        let changes = self.changes.clone();
        let then = move |value: &T| drop(changes.send(Applied(change(value), sender)));
        self.store.write_then(operation, durability, job, then).await?;
        let ended = |_| PortError::new(operation, ErrorKind::Internal, "the index has stopped");
        applied.await.map_err(ended)
    }

    /// Searches a space if its block is loaded. The permit covers only the search, which is short: loading a space must
    /// not block searches in other spaces.
    async fn search_if_loaded(&self, space: &SpaceId, search: &Search, slot: Option<Arc<Slot>>) -> Result<Searched> {
        let stopped = |_| PortError::new(SEARCH, ErrorKind::Unavailable, "the index is closed");
        let permit = Arc::clone(&self.searches).acquire_owned().await.map_err(stopped)?;
        let (store, cache) = (Arc::clone(&self.store), Arc::clone(&self.cache));
        let span = tracing::info_span!("index.search", %space, limit = search.limit);
        let (space, search) = (space.clone(), search.clone());
        run_blocking(move || {
            let _permit = permit;
            let _span = span.entered();
            let slot = match slot {
                Some(slot) => slot,
                None => match store.read_here(SEARCH, |db| space_row(db, &space))? {
                    Some(row) => cache.get_or_add_slot(row, &space),
                    None => return Ok(Searched::Found(SearchResult::default())),
                },
            };
            let found = slot.search_if_loaded(|block| block.search_points(&search));
            Ok(found.map_or(Searched::NotLoaded(slot), Searched::Found))
        })
        .await
    }

    /// Loads the block of a slot and returns the slot. The slot keeps its block even if the cache evicts it meanwhile.
    async fn load_slot(&self, space: &SpaceId, slot: Arc<Slot>) -> Result<Arc<Slot>> {
        let (store, cache, dimension) = (Arc::clone(&self.store), Arc::clone(&self.cache), self.dimension);
        let span = tracing::info_span!("index.load", %space);
        let turn = slot.lock_loading().await;
        let place = Arc::clone(&slot);
        run_blocking(move || {
            let _span = span.entered();
            let load = || store.read_here(SEARCH, |db| read_block(db, place.row, dimension));
            cache.load_block(&place, load)
        })
        .await?;
        drop(turn);
        Ok(slot)
    }
}

/// Runs long work off the async runtime.
async fn run_blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    let panicked = |error| PortError::new(SEARCH, ErrorKind::Internal, "a search panicked").caused_by(error);
    spawn_blocking(work)
        .await
        .unwrap_or_else(|error: tokio::task::JoinError| Err(panicked(error)))
}

#[async_trait]
impl Index for MemoryIndex {
    async fn put(&self, space: &SpaceId, points: &[Point], retired: &[UnitId]) -> Result<()> {
        if let Some(wrong) = points.iter().find(|it| it.dense.len() != self.dimension) {
            let detail = format!("a vector of length {}, expected {}", wrong.dense.len(), self.dimension);
            return Err(PortError::new("index.put", ErrorKind::Invalid, detail));
        }
        let (points, retired) = (Arc::new(points.to_vec()), Arc::new(retired.to_vec()));
        let (stored, retired_units, name) = (Arc::clone(&points), Arc::clone(&retired), space.clone());
        let job = move |db: &Connection| {
            let space = known_space(db, &name)?;
            put_points(db, space, &stored, &retired_units)?;
            Ok(space)
        };
        let change = move |space: &i64| Change::Put {
            space: *space,
            points,
            retired,
        };
        self.commit_change("index.put", Durability::Process, job, change).await
    }

    async fn begin(&self, space: &SpaceId) -> Result<Generation> {
        let space = space.clone();
        let job = move |db: &Connection| {
            let row = known_space(db, &space)?;
            let mut update = db.prepare_cached(
                "UPDATE spaces SET generation = generation + 1, building = 1 WHERE row = ?1 RETURNING generation",
            )?;
            Ok(Generation(update.query_row([row], |row| row.get(0))?))
        };
        self.store.run_write("index.begin", Durability::Process, job).await
    }

    async fn activate_generation(&self, space: &SpaceId, generation: Generation) -> Result<()> {
        let (name, space) = (space.clone(), space.clone());
        let job = move |db: &Connection| switch_generation(db, &name, generation);
        self.commit_change("index.switch", Durability::Process, job, move |()| Change::Forget {
            space,
        })
        .await
    }

    /// There is nothing to sweep, because a switch deletes the old points.
    async fn delete_unreachable_points(&self, _: &SpaceId) -> Result<()> {
        Ok(())
    }

    async fn search(&self, space: &SpaceId, search: &Search) -> Result<SearchResult> {
        if let Some(query) = search.dense.as_ref().filter(|it| it.len() != self.dimension) {
            let detail = format!("a query of length {}, expected {}", query.len(), self.dimension);
            return Err(PortError::new(SEARCH, ErrorKind::Invalid, detail));
        }
        let mut slot = None;
        loop {
            match self.search_if_loaded(space, search, slot).await? {
                Searched::Found(found) => return Ok(found),
                Searched::NotLoaded(it) => slot = Some(self.load_slot(space, it).await?),
            }
        }
    }

    async fn points(&self, space: &SpaceId, after: Option<PointsCursor>, limit: usize) -> Result<PointsPage> {
        let space = space.clone();
        let job = move |db: &Connection| {
            let Some(row) = space_row(db, &space)? else {
                return Ok((Vec::new(), None));
            };
            list_points(db, row, after, limit)
        };
        self.store.run_read("index.points", job).await
    }

    async fn count(&self, space: &SpaceId) -> Result<u64> {
        let space = space.clone();
        let job = move |db: &Connection| {
            let Some(row) = space_row(db, &space)? else {
                return Ok(0);
            };
            let mut count = db.prepare_cached("SELECT count(*) FROM points WHERE space = ?1")?;
            Ok(from_sql_integer(count.query_row([row], |row| row.get(0))?))
        };
        self.store.run_read("index.count", job).await
    }

    async fn erase(&self, space: &SpaceId) -> Result<()> {
        let name = space.clone();
        let job = move |db: &Connection| {
            let Some(row) = space_row(db, &name)? else {
                return Ok(());
            };
            Ok(db.execute("DELETE FROM points WHERE space = ?1", [row]).map(drop)?)
        };
        let space = space.clone();
        self.commit_change("index.erase", Durability::Power, job, move |()| Change::Forget {
            space,
        })
        .await
    }

    /// The points were deleted from the file together with their space; this evicts the block from memory.
    async fn erase_deleted(&self, erasure: &UnfinishedErasure) -> Result<()> {
        let space = erasure.space.clone();
        let nothing = |_: &Connection| Ok(());
        self.commit_change("index.erase_deleted", Durability::Process, nothing, move |()| {
            Change::Forget { space }
        })
        .await
    }
}

fn put_points(db: &Connection, space: i64, points: &[Point], retired: &[UnitId]) -> Outcome<()> {
    let mut remove = db.prepare_cached("DELETE FROM points WHERE space = ?1 AND unit = ?2")?;
    for unit in retired {
        remove.execute(params![space, unit.uuid().as_bytes()])?;
    }
    let mut insert = db.prepare_cached(
        "INSERT INTO points (space, unit, part, observed_at, dense, words, pieces, generation)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, (SELECT generation FROM spaces WHERE row = ?1))
         ON CONFLICT (space, unit, part) DO UPDATE SET
           observed_at = ?4, dense = ?5, words = ?6, pieces = ?7, generation = excluded.generation",
    )?;
    for it in points {
        let (dense, words, pieces) = (dense_blob(&it.dense), sparse_blob(&it.words), sparse_blob(&it.pieces));
        insert.execute(params![
            space,
            it.unit.uuid().as_bytes(),
            it.part,
            it.observed_at,
            dense,
            words,
            pieces
        ])?;
    }
    Ok(())
}

/// Returns points in the order of their rows.
fn list_points(db: &Connection, space: i64, after: Option<PointsCursor>, limit: usize) -> Outcome<PointsPage> {
    let after = after.map_or(0, |it| i64::try_from(it.0).unwrap_or(i64::MAX));
    let mut select =
        db.prepare_cached("SELECT row, unit, part FROM points WHERE space = ?1 AND row > ?2 ORDER BY row LIMIT ?3")?;
    let mut rows = select.query(params![space, after, i64::try_from(limit).unwrap_or(i64::MAX)])?;
    let (mut found, mut last) = (Vec::new(), 0_i64);
    while let Some(row) = rows.next()? {
        last = row.get(0)?;
        found.push((UnitId::from_uuid(Uuid::from_bytes(row.get(1)?)), row.get(2)?));
    }
    let more = found.len() == limit && limit > 0;
    Ok((found, more.then_some(PointsCursor(u128::from(from_sql_integer(last))))))
}

fn switch_generation(db: &Connection, space: &SpaceId, generation: Generation) -> Outcome<()> {
    let row = known_space(db, space)?;
    let mut select = db.prepare_cached("SELECT generation, building FROM spaces WHERE row = ?1")?;
    let (last, building): (i64, bool) = select.query_row([row], |row| Ok((row.get(0)?, row.get(1)?)))?;
    if last != generation.0 {
        return Err(Failure::conflict("another generation has begun since"));
    }
    if building {
        db.execute("DELETE FROM points WHERE space = ?1 AND generation < ?2", (row, last))?;
        db.execute("UPDATE spaces SET building = 0 WHERE row = ?1", [row])?;
    }
    Ok(())
}

fn read_block(db: &Connection, space: i64, dimension: usize) -> Outcome<Block> {
    let mut select = db.prepare_cached(
        "SELECT unit, part, observed_at, dense, words, pieces FROM points WHERE space = ?1 ORDER BY row",
    )?;
    let mut rows = select.query([space])?;
    let mut block = Block::new(dimension);
    while let Some(row) = rows.next()? {
        let point = point_from_row(row)?;
        if point.dense.len() != dimension {
            return Err(Failure::unreadable_body("a stored vector has another length"));
        }
        block.insert(&point);
    }
    block.release_spare_memory();
    tracing::debug!(
        points = block.len(),
        bytes = block.memory_bytes(),
        "space loaded into the index"
    );
    Ok(block)
}

fn point_from_row(row: &Row<'_>) -> Outcome<Point> {
    let blob = |column| {
        row.get_ref(column)
            .map_err(Failure::from)?
            .as_blob()
            .map_err(Failure::unreadable_body)
    };
    Ok(Point {
        unit: UnitId::from_uuid(Uuid::from_bytes(row.get(0)?)),
        part: row.get(1)?,
        observed_at: row.get(2)?,
        dense: dense_of(blob(3)?)?,
        words: sparse_of(blob(4)?)?,
        pieces: sparse_of(blob(5)?)?,
    })
}
