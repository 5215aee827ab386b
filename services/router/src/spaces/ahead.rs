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

/// Shortest pause between looks; a look that took longer is followed by a pause as long, so that reading ahead leaves half of
/// the machine to those who ask and write and still keeps up with them.
const PAUSE: Duration = Duration::from_secs(1);
/// Spaces looked at.
const SPACES_MAX: usize = 1_000;

impl Spaces {
    /// Reads spaces before anybody asks: after a start those written to last, then whatever is written. What was read for
    /// questions is not dropped for it: a space that is not kept is only begun while half of the memory is free.
    ///
    /// `ready` is up once the first look is through: from then on a question about one of these spaces waits for no more than
    /// what was written since. It is not up while a store is away, nor if it was at the first look.
    pub(crate) async fn read_ahead(&self, stores: &Backends, ready: &Expected) -> Infallible {
        let mut known: BTreeMap<SpaceId, SpaceInfo> = BTreeMap::new();
        let mut is_first = true;
        loop {
            let begun = Instant::now();
            // Stores that are away are told of by those who ask.
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

    /// Reads what changed since it was `known`, the space written to last first, stores images of what had to be computed, and
    /// forgets what is gone. Returns the spaces that were read.
    ///
    /// # Errors
    /// That of a store that is away; the other spaces are read all the same.
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

/// Says whether a store does not answer, rather than that it holds something that cannot be read.
fn is_away(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::Timeout)
}

/// Has the index load spaces, those given first at the end: they are the last that it would drop for others. An index that
/// fails only degrades answers.
async fn load_index(stores: &Backends, spaces: Vec<SpaceId>) {
    for space in spaces.iter().rev() {
        if let Err(error) = stores.index.search(space, &Search::default()).await {
            debug!(error = &error as &dyn std::error::Error, %space, "the index was not loaded ahead");
        }
    }
}
