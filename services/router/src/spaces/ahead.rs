use std::collections::BTreeMap;
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
        let mut is_first = true;
        loop {
            let begun = Instant::now();
            // A failing store is reported by the requests that need it.
            if let Ok(listed) = stores.records.spaces(None, SPACES_MAX).await {
                let read = self.look(stores, listed, &mut known).await;
                if is_first && let Ok(read) = read {
                    load_index(stores, read).await;
                    ready.set(true);
                    is_first = false;
                }
            }
            sleep(PAUSE.max(begun.elapsed())).await;
        }
    }

    /// Reads the changes since `known`, beginning with the space that was written last. Then it stores images of
    /// computed turns and drops spaces that do not exist any more. Returns the spaces that were read.
    ///
    /// # Errors
    /// The error of a store that is unavailable; the other spaces are still read.
    async fn look(
        &self,
        stores: &Backends,
        listed: Vec<SpaceInfo>,
        known: &mut BTreeMap<SpaceId, SpaceInfo>,
    ) -> Result<Vec<SpaceId>, Error> {
        if listed.len() < SPACES_MAX {
            let there = |space: &SpaceId| listed.iter().any(|it| it.space == *space);
            let gone: Vec<SpaceId> = known.keys().filter(|it| !there(it)).cloned().collect();
            for space in gone {
                self.forget(&space);
                known.remove(&space);
            }
        }
        let mut changed = listed;
        changed.retain(|it| known.get(&it.space) != Some(it));
        changed.sort_by(|a, b| b.written.cmp(&a.written).then_with(|| a.space.cmp(&b.space)));
        let (mut read, mut away) = (Vec::new(), None);
        for info in changed {
            if self.0.is_kept(&info.space) || self.0.is_half_free() {
                match self.refreshed(stores, &info).await {
                    Ok(_) => read.push(info.space.clone()),
                    Err(error) => {
                        away = Some(error).filter(is_away).or(away);
                        continue;
                    }
                }
            }
            known.insert(info.space.clone(), info);
        }
        for space in &read {
            self.store_images(stores, space).await;
        }
        away.map_or(Ok(read), Err)
    }
}

/// Returns true if a store does not answer. Data that cannot be read is another kind of error.
fn is_away(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::Timeout)
}

/// Makes the index load spaces, the first ones of the list last, so that the index drops them last. If the index fails,
/// answers are only degraded.
async fn load_index(stores: &Backends, spaces: Vec<SpaceId>) {
    for space in spaces.iter().rev() {
        if let Err(error) = stores.index.search(space, &Search::default()).await {
            debug!(error = &error as &dyn std::error::Error, %space, "the index was not loaded ahead");
        }
    }
}
