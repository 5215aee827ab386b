use std::collections::BTreeMap;
use std::convert::Infallible;
use std::time::Duration;

use domain::id::SpaceId;
use domain::port::SpaceInfo;
use host::Backends;
use tokio::time::{Instant, sleep};

use super::Spaces;

/// Shortest pause between looks; a look that took longer is followed by a pause as long, so that reading ahead leaves half of
/// the machine to those who ask and write and still keeps up with them.
const PAUSE: Duration = Duration::from_secs(1);
/// Spaces looked at.
const SPACES_MAX: usize = 1_000;

impl Spaces {
    /// Reads spaces before anybody asks: after a start those written to last, then whatever is written. What was read for
    /// questions is not dropped for it: a space that is not kept is only begun while half of the memory is free.
    pub(crate) async fn read_ahead(&self, stores: &Backends) -> Infallible {
        let mut known: BTreeMap<SpaceId, SpaceInfo> = BTreeMap::new();
        loop {
            let begun = Instant::now();
            // Stores that are away are told of by those who ask.
            if let Ok(listed) = stores.records.spaces(None, SPACES_MAX).await {
                self.look(stores, listed, &mut known).await;
            }
            sleep(PAUSE.max(begun.elapsed())).await;
        }
    }

    /// Reads what changed since it was `known`, and forgets what is gone.
    async fn look(&self, stores: &Backends, listed: Vec<SpaceInfo>, known: &mut BTreeMap<SpaceId, SpaceInfo>) {
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
        for info in changed {
            let read = self.0.is_kept(&info.space) || self.0.is_half_free();
            if read && self.refreshed(stores, &info).await.is_err() {
                continue;
            }
            known.insert(info.space.clone(), info);
        }
    }
}
