use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::time::Duration;

use domain::id::SpaceId;
use domain::port::{Search, SpaceInfo};
use domain::{Classify, ErrorKind};
use host::{Backends, Expected};

use tokio::time::{Instant, sleep};
use tracing::debug;

use super::Spaces;
use crate::error::Error;

/// Shortest pause between two checks. A check that took longer is followed by a pause of the same length. So reading
/// ahead leaves half of the machine to requests and writers, and still keeps up with them.
const PAUSE: Duration = Duration::from_secs(1);
/// Maximum number of spaces that are checked.
const SPACES_MAX: usize = 1_000;

impl Spaces {
    /// Reads spaces before a question comes: after a start those written last, then every space that is written. It
    /// does not displace views that were read for questions: a space that is not cached is only read while less than
    /// half of the memory is used.
    ///
    /// `ready` is set after the first check. From then on, a question about one of these spaces waits only for changes
    /// since then. It is not set while a store is unavailable, nor if one was unavailable during the first check.
    pub(crate) async fn read_ahead(&self, stores: &Backends, ready: &Expected) -> Infallible {
        let mut known: BTreeMap<SpaceId, SpaceInfo> = BTreeMap::new();
        // Spaces that were written lately.
        let mut unsettled: BTreeSet<SpaceId> = BTreeSet::new();
        let mut is_first = true;
        loop {
            let begun = Instant::now();
            // A failing store is reported by the requests that need it.
            if let Ok(listed) = stores.records.spaces(None, SPACES_MAX).await {
                let found = self.refresh_changed_spaces(stores, listed, &mut known, is_first).await;
                if is_first && !found.is_away {
                    load_index(stores, &found.read).await;
                    ready.set_is_up(true);
                    is_first = false;
                }
                let settled = unsettled.iter().filter(|it| !found.read.contains(it));
                for space in settled {
                    self.store_blocks(stores, space, true).await;
                }
                for space in &found.read {
                    self.store_blocks(stores, space, false).await;
                }
                unsettled = found.read.into_iter().collect();
            }
            sleep(PAUSE.max(begun.elapsed())).await;
        }
    }

    /// Reads the changes since `known`, beginning with the space that was written last, and drops spaces that do not
    /// exist any more. If a store is unavailable, the other spaces are still read. With `preload`, the index loads each
    /// space at the same time.
    async fn refresh_changed_spaces(
        &self,
        stores: &Backends,
        listed: Vec<SpaceInfo>,
        known: &mut BTreeMap<SpaceId, SpaceInfo>,
        preload: bool,
    ) -> Refreshed {
        if listed.len() < SPACES_MAX {
            let there = |space: &SpaceId| listed.iter().any(|it| it.space == *space);
            let deleted_spaces: Vec<SpaceId> = known.keys().filter(|it| !there(it)).cloned().collect();
            for space in deleted_spaces {
                self.forget_space(&space);
                known.remove(&space);
            }
        }
        let mut changed = listed;
        changed.retain(|it| known.get(&it.space) != Some(it));
        changed.sort_by(|a, b| b.written.cmp(&a.written).then_with(|| a.space.cmp(&b.space)));
        let mut found = Refreshed::default();
        for info in changed {
            if self.0.is_kept(&info.space) || self.0.is_half_free() {
                let loaded = async {
                    if preload {
                        load_index(stores, std::slice::from_ref(&info.space)).await;
                    }
                };
                let (refreshed, ()) = tokio::join!(self.refresh_space(stores, &info), loaded);
                match refreshed {
                    Ok(_) => found.read.push(info.space.clone()),
                    Err(error) => {
                        found.is_away |= is_away(&error);
                        continue;
                    }
                }
            }
            known.insert(info.space.clone(), info);
        }
        found
    }
}

/// The result of a check of all spaces.
#[derive(Default)]
struct Refreshed {
    /// The spaces that were read.
    read: Vec<SpaceId>,
    /// True if a store was unavailable.
    is_away: bool,
}

/// Returns true if a store does not answer. Data that cannot be read is another kind of error.
fn is_away(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::Timeout)
}

/// Makes the index load spaces, the first ones of the list last, so that the index drops them last. If the index fails,
/// answers are only degraded.
async fn load_index(stores: &Backends, spaces: &[SpaceId]) {
    for space in spaces.iter().rev() {
        if let Err(error) = stores.index.search(space, &Search::default()).await {
            debug!(error = &error as &dyn std::error::Error, %space, "the index was not preloaded");
        }
    }
}
