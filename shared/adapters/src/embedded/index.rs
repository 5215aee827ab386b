//! Exact nearest-neighbour search in memory over the points in the file.
//!
//! A space is a block of vectors and postings. It is loaded from the file at the first search and updated by every
//! `put`; when memory is short, the least recently searched blocks are evicted. One thread applies the changes to the
//! blocks, in the order of their commits, so that the writer never waits for a search. A large block is saved as an image,
//! a file that is mapped and used in place.

mod best_slots;
mod block;
mod block_place;
mod blocks;
mod cache;
mod change;
mod dense_vectors;
mod image;
mod image_rows;
mod inverted_index;
mod point_rows;

use std::sync::Arc;

use async_trait::async_trait;
use domain::id::{SpaceId, UnitId};
use domain::port::{
    Generation, Index, Point, PointsCursor, PointsPage, Result, Search, SearchResult, UnfinishedErasure,
};
use domain::{ErrorKind, PortError};
use rusqlite::Connection;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use crate::embedded::mapped_files::FileNumber;
use crate::embedded::store::{Durability, Outcome, Store, from_sql_integer, known_space, space_row};
use crate::store_rules::index_points::{check_points, check_search};
use crate::{OpenError, Options};
use block_place::BlockPlace;
use blocks::Blocks;
use change::{Change, ChangedPoints};

/// Maximum number of concurrent searches; further ones wait. Searches are short, so a few per core keep all cores busy.
const SEARCHES_MAX: usize = 16;
const SEARCH: &str = "index.search";

/// Exact index over the store's points.
pub(crate) struct MemoryIndex {
    blocks: Arc<Blocks>,
    dimension: usize,
    searches: Arc<Semaphore>,
}

/// The result of trying a search.
enum Searched {
    Found(SearchResult),
    /// The block is not in memory.
    NotLoaded(Arc<BlockPlace>),
}

/// A space whose points were changed.
struct ChangedSpace {
    row: i64,
    /// The images of all spaces, if the image of this one holds a point that was changed.
    live: Option<Vec<FileNumber>>,
}

impl MemoryIndex {
    pub(crate) fn new(store: Arc<Store>, dimension: usize, options: &Options) -> std::result::Result<Self, OpenError> {
        Ok(MemoryIndex {
            blocks: Arc::new(Blocks::start(store, options)?),
            dimension,
            searches: Arc::new(Semaphore::new(SEARCHES_MAX)),
        })
    }

    /// Searches a space if its block is loaded. The permit covers only the search, which is short: loading a space must
    /// not block searches in other spaces.
    async fn search_if_loaded(
        &self,
        space: &SpaceId,
        search: &Search,
        place: Option<Arc<BlockPlace>>,
    ) -> Result<Searched> {
        let stopped = |_| PortError::new(SEARCH, ErrorKind::Unavailable, "the index is closed");
        let permit = Arc::clone(&self.searches).acquire_owned().await.map_err(stopped)?;
        let blocks = Arc::clone(&self.blocks);
        let span = tracing::info_span!("index.search", %space, limit = search.limit);
        let (space, search) = (space.clone(), search.clone());
        run_blocking(move || {
            let _permit = permit;
            let _span = span.entered();
            let place = match place {
                Some(place) => place,
                None => match blocks.store.read_here(SEARCH, |db| space_row(db, &space))? {
                    Some(row) => blocks.cache.get_or_add_place(row, &space),
                    None => return Ok(Searched::Found(SearchResult::default())),
                },
            };
            let found = place.search_if_loaded(|block| block.search_points(&search));
            Ok(found.map_or(Searched::NotLoaded(place), Searched::Found))
        })
        .await
    }

    /// Commits `job`, which deletes points, and evicts the block of the space. The images that lose a point are
    /// destroyed.
    async fn forget_block<F>(
        &self,
        operation: &'static str,
        durability: Durability,
        space: &SpaceId,
        job: F,
    ) -> Result<()>
    where
        F: FnOnce(&Connection) -> Outcome<()> + Send + 'static,
    {
        let job = move |db: &Connection| {
            job(db)?;
            image_rows::live_images(db)
        };
        let space = space.clone();
        let change = move |live: &Vec<FileNumber>| {
            Some(Change::Forget {
                space,
                live: live.clone(),
            })
        };
        self.blocks.commit_change(operation, durability, job, change).await?;
        Ok(())
    }

    /// Loads the block of a place and returns the place. The place keeps its block even if the cache evicts it meanwhile.
    async fn load_place(&self, space: &SpaceId, place: Arc<BlockPlace>) -> Result<Arc<BlockPlace>> {
        let (blocks, dimension) = (Arc::clone(&self.blocks), self.dimension);
        let span = tracing::info_span!("index.load", %space);
        let turn = place.lock_loading().await;
        let unloaded = Arc::clone(&place);
        run_blocking(move || {
            let _span = span.entered();
            let images = blocks.cache.images();
            let read = || {
                let store = &blocks.store;
                store.read_here(SEARCH, |db| point_rows::read_block(db, unloaded.row, dimension, images))
            };
            blocks.cache.load_block(&unloaded, read)
        })
        .await?;
        drop(turn);
        self.blocks.save_later(place.row);
        Ok(place)
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
        check_points("index.put", points, self.dimension)?;
        let (points, retired) = (Arc::new(points.to_vec()), Arc::new(retired.to_vec()));
        let (stored, retired_units, name) = (Arc::clone(&points), Arc::clone(&retired), space.clone());
        let job = move |db: &Connection| {
            let row = known_space(db, &name)?;
            let images = image_rows::count_images(db, row)?;
            point_rows::put_points(db, row, &stored, &retired_units)?;
            let live = match image_rows::count_images(db, row)? < images {
                true => Some(image_rows::live_images(db)?),
                false => None,
            };
            Ok(ChangedSpace { row, live })
        };
        let change = move |it: &ChangedSpace| {
            Some(Change::Put(ChangedPoints {
                space: it.row,
                points,
                retired,
                live: it.live.clone(),
            }))
        };
        let put = self.blocks.commit_change("index.put", Durability::Process, job, change);
        self.blocks.save_later(put.await?.row);
        Ok(())
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
        self.blocks
            .store
            .run_write("index.begin", Durability::Process, job)
            .await
    }

    /// A generation that is never activated costs nothing: each point is stored once in any case.
    async fn renew_generation(&self, _: &SpaceId, _: Generation) -> Result<()> {
        Ok(())
    }

    async fn activate_generation(&self, space: &SpaceId, generation: Generation) -> Result<()> {
        let name = space.clone();
        let job = move |db: &Connection| point_rows::switch_generation(db, &name, generation);
        self.forget_block("index.switch", Durability::Process, space, job).await
    }

    /// There is nothing to sweep, because a switch deletes the old points.
    async fn delete_unreachable_points(&self, _: &SpaceId) -> Result<()> {
        Ok(())
    }

    async fn search(&self, space: &SpaceId, search: &Search) -> Result<SearchResult> {
        check_search(SEARCH, search, self.dimension)?;
        let mut place = None;
        loop {
            match self.search_if_loaded(space, search, place).await? {
                Searched::Found(found) => return Ok(found),
                Searched::NotLoaded(it) => place = Some(self.load_place(space, it).await?),
            }
        }
    }

    async fn points(&self, space: &SpaceId, after: Option<PointsCursor>, limit: usize) -> Result<PointsPage> {
        let space = space.clone();
        let job = move |db: &Connection| {
            let Some(row) = space_row(db, &space)? else {
                return Ok((Vec::new(), None));
            };
            point_rows::list_points(db, row, after, limit)
        };
        self.blocks.store.run_read("index.points", job).await
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
        self.blocks.store.run_read("index.count", job).await
    }

    async fn erase(&self, space: &SpaceId) -> Result<()> {
        let name = space.clone();
        let job = move |db: &Connection| {
            let Some(row) = space_row(db, &name)? else {
                return Ok(());
            };
            Ok(db.execute("DELETE FROM points WHERE space = ?1", [row]).map(drop)?)
        };
        self.forget_block("index.erase", Durability::Power, space, job).await
    }

    /// Evicts the block from memory. The record store deletes the points from the file: it erases the rows of a deleted
    /// space in steps.
    async fn erase_deleted(&self, erasure: &UnfinishedErasure) -> Result<()> {
        let nothing = |_: &Connection| Ok(());
        self.forget_block("index.erase_deleted", Durability::Process, &erasure.space, nothing)
            .await
    }
}
