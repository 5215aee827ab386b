use std::sync::Arc;

use domain::PortError;
use domain::curation::Curation;
use domain::id::SpaceId;
use domain::port::{Change, DerivedChange, Records, UnitFeed};
use domain::unit::Grain;
use host::Backends;
use tracing::warn;

use super::block_store::decode_blocks;
use super::{CachedSpaces, SpaceSnapshot};
use crate::error::to_port_error;
use crate::space::view::{Turn, TurnChange, VERSION};

/// Number of curations that are requested in one page.
const PAGE: usize = 1_000;
/// Number of derived changes that are requested in one page.
const DERIVED_PAGE: usize = 4_000;
/// Number of single changes of units that are requested in one page.
const UNITS_PAGE: usize = 250;

/// Reads the changes of one space.
pub(super) struct Reading {
    pub(super) stores: Backends,
    pub(super) space: SpaceId,
    /// Minimum number of curations that the space has.
    pub(super) curations: u64,
    pub(super) snapshot: SpaceSnapshot,
    pub(super) spaces: Arc<CachedSpaces>,
}

impl Reading {
    /// Returns the space with every change that is stored now. If a store failed, returns it with the changes that were
    /// read before, and the error.
    pub(super) async fn read_and_arrange(mut self) -> (SpaceSnapshot, Result<(), PortError>) {
        let read = self.read_changes().await;
        let mut arranged = Ok(());
        if !self.snapshot.is_arranged() {
            arranged = self.apply_change(SpaceSnapshot::arrange_views).await;
            self.report_size();
        }
        let outcome = read.and(arranged);
        self.snapshot.is_complete |= outcome.is_ok();
        (self.snapshot, outcome)
    }

    async fn read_changes(&mut self) -> Result<(), PortError> {
        // Acts are never changed or removed, so an equal number means that the same acts were read.
        let curations = match self.snapshot.decided {
            Some(known) if known >= self.curations => None,
            Some(_) | None => Some(read_all_curations(&*self.stores.records, &self.space).await?),
        };
        let source = Source {
            stores: self.stores.clone(),
            space: self.space.clone(),
        };
        let mut place = FeedPlace {
            units: self.snapshot.sequence(),
            derived: self.snapshot.memory.sequence(),
        };
        let mut page = source.fetch_page(place).await?;
        while !page.is_empty() {
            place = page.end_place(place);
            let is_last = page.is_last;
            let applied = self.apply_change(move |snapshot| snapshot.apply_page(page));
            // While a page is applied, the next one is read.
            let next = async {
                match is_last {
                    true => Ok(Page::default()),
                    false => source.fetch_page(place).await,
                }
            };
            // Both run to the end, because a change that is cancelled loses the space.
            let (applied, next) = tokio::join!(applied, next);
            applied?;
            self.report_size();
            page = next?;
        }
        if !self.snapshot.is_decided(curations.as_deref()) {
            self.apply_change(move |snapshot| snapshot.apply_curations(curations.as_deref()))
                .await?;
        }
        self.snapshot.decided = self.snapshot.decided.max(Some(self.curations));
        Ok(())
    }

    /// Applies a change to the data read so far, off the async runtime. If it panics or is cancelled, the space is read
    /// again from the start.
    async fn apply_change(
        &mut self,
        change: impl FnOnce(&mut SpaceSnapshot) + Send + 'static,
    ) -> Result<(), PortError> {
        let mut snapshot = std::mem::take(&mut self.snapshot);
        let changed = tokio::task::spawn_blocking(move || {
            change(&mut snapshot);
            snapshot
        });
        self.snapshot = changed.await.map_err(to_port_error)?;
        Ok(())
    }

    fn report_size(&self) {
        let SpaceSnapshot {
            view, gists, memory, ..
        } = &self.snapshot;
        self.spaces.set_size_and_evict(
            &self.space,
            view.size_in_bytes() + gists.size_in_bytes() + memory.size_in_bytes(),
        );
    }
}

/// Returns all acts of a space, since an act may undo any other.
async fn read_all_curations(records: &dyn Records, space: &SpaceId) -> Result<Vec<Curation>, PortError> {
    let mut all: Vec<Curation> = Vec::new();
    loop {
        let after = all.last().map(|it| it.id);
        let page = records.curations(space, after, PAGE).await?;
        let last = page.len() < PAGE;
        all.extend(page);
        if last {
            return Ok(all);
        }
    }
}

/// A place in the two feeds of a space: the last sequence numbers that were read.
#[derive(Clone, Copy)]
struct FeedPlace {
    units: u64,
    derived: u64,
}

/// The next part of both feeds of a space.
#[derive(Default)]
struct Page {
    units: Vec<Change>,
    /// The turns of the units that are known, at the same places.
    turns: Vec<Option<Turn>>,
    derived: Vec<DerivedChange>,
    is_last: bool,
}

impl Page {
    fn is_empty(&self) -> bool {
        self.units.is_empty() && self.derived.is_empty()
    }

    /// Returns the place after the page, which begins at `start`.
    fn end_place(&self, start: FeedPlace) -> FeedPlace {
        FeedPlace {
            units: self.units.last().map_or(start.units, |it| it.sequence),
            derived: self.derived.last().map_or(start.derived, |it| it.sequence),
        }
    }
}

/// Where pages of a space are read.
struct Source {
    stores: Backends,
    space: SpaceId,
}

impl Source {
    async fn fetch_page(&self, after: FeedPlace) -> Result<Page, PortError> {
        let graph = &self.stores.graph;
        let (feed, derived) = tokio::try_join!(
            graph.unit_feed(&self.space, after.units, UNITS_PAGE, VERSION),
            graph.derived_changes(&self.space, after.derived, DERIVED_PAGE)
        )?;
        let (last, mut more) = (feed.last_sequence(), feed.has_more);
        let decoded = tokio::task::spawn_blocking(move || decode_feed(feed));
        let units = match decoded.await.map_err(to_port_error)? {
            Some(units) => units,
            None => {
                warn!(space = %self.space, after = after.units, until = last, "a block of units could not be read");
                more = true;
                let plain = graph.changes(&self.space, after.units, UNITS_PAGE).await?;
                plain
                    .into_iter()
                    .map(|change| TurnChange { change, turn: None })
                    .collect()
            }
        };
        let (units, turns) = units.into_iter().map(|it| (it.change, it.turn)).unzip();
        Ok(Page {
            units,
            turns,
            is_last: !more && derived.len() < DERIVED_PAGE,
            derived,
        })
    }
}

/// Returns the units of a part of the feed, in order; `None` if one of its blocks cannot be read.
fn decode_feed(feed: UnitFeed) -> Option<Vec<TurnChange>> {
    let mut units = decode_blocks(&feed.blocks)?;
    units.extend(feed.changes.into_iter().map(|change| TurnChange { change, turn: None }));
    Some(units)
}

impl SpaceSnapshot {
    fn apply_page(&mut self, page: Page) {
        let Page {
            units,
            mut turns,
            derived,
            ..
        } = page;
        let memory = Arc::make_mut(&mut self.memory);
        std::thread::scope(|scope| {
            let remember = scope.spawn(|| {
                memory.take_derived(derived);
                memory.take_units(units.iter().map(|it| &it.unit));
            });
            if units.iter().any(|it| it.unit.grain == Grain::Gist) {
                Arc::make_mut(&mut self.gists).stage_changes(&units, &mut turns);
            }
            if units.iter().any(|it| it.unit.grain != Grain::Gist) {
                Arc::make_mut(&mut self.view).stage_changes(&units, &mut turns);
            }
            if let Err(panic) = remember.join() {
                std::panic::resume_unwind(panic);
            }
        });
    }

    /// Returns the sequence of the latest applied change of units.
    pub(super) fn sequence(&self) -> u64 {
        self.view.sequence().max(self.gists.sequence())
    }

    fn is_arranged(&self) -> bool {
        self.view.is_arranged() && self.gists.is_arranged()
    }

    fn arrange_views(&mut self) {
        for view in [&mut self.view, &mut self.gists] {
            if !view.is_arranged() {
                Arc::make_mut(view).arrange_turns();
            }
        }
    }

    /// Returns true if the acts, if they were read, and their marks are applied. New units and facts may change the
    /// marks.
    fn is_decided(&self, curations: Option<&[Curation]>) -> bool {
        curations.is_none_or(|it| self.memory.is_decided(it))
            && self.view.marks() == self.memory.marks()
            && self.gists.marks() == self.memory.gist_marks()
    }

    fn apply_curations(&mut self, curations: Option<&[Curation]>) {
        if let Some(curations) = curations {
            Arc::make_mut(&mut self.memory).apply_curations(curations);
        }
        Arc::make_mut(&mut self.view).set_marks(self.memory.marks().clone());
        Arc::make_mut(&mut self.gists).set_marks(self.memory.gist_marks().clone());
    }
}
