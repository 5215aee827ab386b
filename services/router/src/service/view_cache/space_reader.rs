use std::sync::Arc;

use domain::PortError;
use domain::curation::Curation;
use domain::id::SpaceId;
use domain::port::{BlockFileId, Change, DerivedChange, Records, Revision, SpaceInfo, UnitFeed};
use domain::unit::{Grain, Status};
use host::Backends;
use tracing::warn;

use super::block_store::decode_blocks;
use super::mapped_blocks::find_outdated_files;
use super::space_content::SpaceContent;
use super::{CachedSpaces, SpaceSnapshot};
use crate::error::to_port_error;
use crate::space::view::{Turn, TurnChange, VERSION, compute_missing_turns};

/// Number of curations that are requested in one page.
const PAGE: usize = 1_000;
/// Number of derived changes that are requested in one page.
const DERIVED_PAGE: usize = 4_000;
/// Number of single changes of units that are requested in one page.
const UNITS_PAGE: usize = 250;

/// Number of changes of units after which a space that can be asked shows them. Each step puts turns at their places,
/// which takes time in proportion to the space.
const STEP: usize = 4_000;

/// Reads the changes of one space.
pub(super) struct Reading {
    pub(super) stores: Backends,
    pub(super) info: SpaceInfo,
    pub(super) content: Arc<SpaceContent>,
    pub(super) spaces: Arc<CachedSpaces>,
}

impl Reading {
    /// Adds every stored change to the content. If a store fails, the changes that were read before stay.
    pub(super) async fn read_changes(self) -> Result<(), PortError> {
        let start = self.content.with_snapshot(SpaceSnapshot::read_place).await;
        let mut place = start.feeds;
        // No act is ever removed, so an equal number means that the same acts were read.
        let mut acts = match start.acts {
            Some(known) if known >= self.info.revision.curations => None,
            Some(_) | None => Some(self.read_acts().await?),
        };
        let acts_read = acts.as_ref().map_or(self.info.revision.curations, |it| it.count);
        let source = Source {
            stores: self.stores.clone(),
            space: self.info.space.clone(),
        };
        // The turns of a space that cannot be asked yet are arranged once, at its end.
        let step = if start.was_complete { STEP } else { 1 };
        let mut page = source.fetch_pages(place, step).await?;
        loop {
            place = page.end_place(place);
            let is_last = page.is_last;
            let visibility = if start.was_complete || is_last {
                Visibility::Now(acts.take())
            } else {
                Visibility::Later
            };
            // While changes are applied, the next ones are read.
            let next = async {
                match is_last {
                    true => Ok(Page::default()),
                    false => source.fetch_pages(place, step).await,
                }
            };
            let (applied, next) = tokio::join!(self.apply_page(page, visibility), next);
            applied?;
            page = next?;
            if is_last {
                break;
            }
        }
        let revision = Revision {
            curations: acts_read,
            ..self.info.revision
        };
        self.content.note_read_to_end(revision).await;
        Ok(())
    }

    /// Reads all acts of the space. A store may show the number of its acts shortly before it lists the last of them,
    /// so acts that were not listed do not count as read: they are read with the next question.
    async fn read_acts(&self) -> Result<ReadActs, PortError> {
        let curations = read_all_curations(&*self.stores.records, &self.info.space).await?;
        Ok(ReadActs {
            count: self.info.revision.curations.min(curations.len() as u64),
            curations,
        })
    }

    /// Applies the changes of a page.
    async fn apply_page(&self, page: Page, visibility: Visibility) -> Result<(), PortError> {
        let mut used = self.content.with_snapshot(SpaceSnapshot::used_files).await;
        used.extend(page.turns.iter().flatten().filter_map(Turn::file));
        let outdated = find_outdated_files(&self.stores, &self.info.space, used, &page.files).await?;
        let is_applied = |it: &SpaceSnapshot| match &visibility {
            Visibility::Later => true,
            Visibility::Now(acts) => {
                let is_counted = acts.as_ref().is_none_or(|acts| it.decided >= Some(acts.count));
                it.is_arranged() && is_counted && it.is_decided(acts.as_ref())
            }
        };
        if page.is_empty() && outdated.is_empty() && self.content.with_snapshot(is_applied).await {
            return Ok(());
        }
        let change = move |snapshot: &mut SpaceSnapshot| {
            if !page.is_empty() {
                snapshot.apply_page(page);
            }
            if let Visibility::Now(acts) = visibility {
                if !snapshot.is_decided(acts.as_ref()) {
                    snapshot.apply_acts(acts.as_ref());
                }
                snapshot.decided = snapshot.decided.max(acts.map(|it| it.count));
                snapshot.arrange_views();
            }
            snapshot.leave_files(&outdated);
        };
        self.content.apply_change(change).await?;
        let bytes = self.content.with_snapshot(SpaceSnapshot::size_in_bytes).await;
        self.spaces.set_size_and_evict(&self.info.space, bytes);
        Ok(())
    }
}

/// Whether questions see changes as soon as they are applied.
enum Visibility {
    /// Other changes follow first.
    Later,
    /// Yes, with all acts of the space, or without new ones.
    Now(Option<ReadActs>),
}

/// The acts of a space.
struct ReadActs {
    curations: Vec<Curation>,
    /// The number of acts that count as read. Later acts may be among `curations`.
    count: u64,
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

/// How much of a space was read.
struct ReadPlace {
    /// Whether the space was read to its end.
    was_complete: bool,
    /// The number of acts that were read.
    acts: Option<u64>,
    feeds: FeedPlace,
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
    /// The mapped files of the space that were not outdated when the units were read.
    files: Vec<BlockFileId>,
    is_last: bool,
}

impl Page {
    fn is_empty(&self) -> bool {
        self.units.is_empty() && self.derived.is_empty()
    }

    /// Adds the page that follows.
    fn append(&mut self, next: Page) {
        self.units.extend(next.units);
        self.turns.extend(next.turns);
        self.derived.extend(next.derived);
        self.files = next.files;
        self.is_last = next.is_last;
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
    /// Returns pages together until they have `least` changes of units, or are the last ones.
    async fn fetch_pages(&self, after: FeedPlace, least: usize) -> Result<Page, PortError> {
        let mut pages = self.fetch_page(after).await?;
        while !pages.is_last && pages.units.len() < least {
            let next = self.fetch_page(pages.end_place(after)).await?;
            pages.append(next);
        }
        Ok(pages)
    }

    async fn fetch_page(&self, after: FeedPlace) -> Result<Page, PortError> {
        let graph = &self.stores.graph;
        let (feed, derived) = tokio::try_join!(
            graph.unit_feed(&self.space, after.units, UNITS_PAGE, VERSION),
            graph.derived_changes(&self.space, after.derived, DERIVED_PAGE)
        )?;
        let (last, mut more) = (feed.last_sequence(), feed.has_more);
        let files = feed.files.clone();
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
        let computed = tokio::task::spawn_blocking(move || with_missing_turns(units));
        let (units, turns) = computed.await.map_err(to_port_error)?;
        Ok(Page {
            units,
            turns,
            files,
            is_last: !more && derived.len() < DERIVED_PAGE,
            derived,
        })
    }
}

/// Returns the changes of units and the turns of active turns and gists, which are computed where the block has none.
fn with_missing_turns(units: Vec<TurnChange>) -> (Vec<Change>, Vec<Option<Turn>>) {
    let (units, mut turns): (Vec<Change>, Vec<Option<Turn>>) = units.into_iter().map(|it| (it.change, it.turn)).unzip();
    let has_turn = |it: &Change| it.unit.grain != Grain::Event && it.unit.status == Status::Active;
    let places: Vec<usize> = (0..units.len()).filter(|it| has_turn(&units[*it])).collect();
    compute_missing_turns(&units, &mut turns, &places);
    (units, turns)
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

    fn read_place(&self) -> ReadPlace {
        ReadPlace {
            was_complete: self.is_complete,
            acts: self.decided,
            feeds: FeedPlace {
                units: self.sequence(),
                derived: self.memory.sequence(),
            },
        }
    }

    /// Returns roughly how many bytes the space takes.
    pub(super) fn size_in_bytes(&self) -> usize {
        self.view.size_in_bytes() + self.gists.size_in_bytes() + self.memory.size_in_bytes()
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
    fn is_decided(&self, acts: Option<&ReadActs>) -> bool {
        acts.is_none_or(|it| self.memory.is_decided(&it.curations))
            && self.view.marks() == self.memory.marks()
            && self.gists.marks() == self.memory.gist_marks()
    }

    fn apply_acts(&mut self, acts: Option<&ReadActs>) {
        if let Some(acts) = acts {
            Arc::make_mut(&mut self.memory).apply_curations(&acts.curations);
        }
        Arc::make_mut(&mut self.view).set_marks(self.memory.marks().clone());
        Arc::make_mut(&mut self.gists).set_marks(self.memory.gist_marks().clone());
    }
}
