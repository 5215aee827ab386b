use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::time::Duration;

use domain::PortError;
use domain::id::SpaceId;
use domain::port::{Records, Search, SpaceInfo};
use host::{Backends, Expected};

use tokio::time::{Instant, sleep};
use tracing::debug;

use super::Spaces;
use crate::error::is_unavailable;

/// Shortest pause between two checks. A check that took longer is followed by a pause of the same length. So reading
/// ahead leaves half of the machine to requests and writers, and still keeps up with them.
const PAUSE: Duration = Duration::from_secs(1);
/// A listing of several pages is followed by a pause of at least this many times its duration, since most spaces of a
/// long list did not change.
const PAUSES_PER_LISTING: u32 = 10;
/// Number of spaces that are listed in one request.
const PAGE: usize = 1_000;
/// Maximum number of spaces that are listed in one check. Spaces beyond them are not read ahead, and their deletion is
/// noticed only with the next question about them.
const LISTED_MAX: usize = 100_000;
/// Maximum number of spaces that one check reads. The others are read by the next checks, so that a start with many
/// spaces is not long without `ready`.
const READ_MAX: usize = 1_000;

/// The spaces that were listed, each as it was when it was last read ahead or left out; `None` before that.
type KnownSpaces = BTreeMap<SpaceId, Option<SpaceInfo>>;

impl Spaces {
    /// Reads spaces before a question comes: after a start those written last, then every space that is written. It
    /// does not displace views that were read for questions: a space that is not cached is only read while less than
    /// half of the memory is used.
    ///
    /// `ready` is set after the first check. From then on, a question about one of these spaces waits only for changes
    /// since then. It is not set while a store is unavailable, nor if one was unavailable during the first check.
    pub(crate) async fn read_ahead(&self, stores: &Backends, ready: &Expected) -> Infallible {
        let mut known = KnownSpaces::new();
        // Spaces that were written lately.
        let mut unsettled: BTreeSet<SpaceId> = BTreeSet::new();
        let mut is_first = true;
        loop {
            let begun = Instant::now();
            let mut long_listing = Duration::ZERO;
            // A failing store is reported by the requests that need it.
            if let Ok(listing) = list_spaces(&*stores.records, PAGE, LISTED_MAX).await {
                if listing.spaces.len() >= PAGE {
                    long_listing = begun.elapsed();
                }
                for space in listing.deleted_spaces(&known) {
                    self.forget_space(&space);
                    known.remove(&space);
                }
                let listed = listing.spaces;
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
            sleep(pause_after_check(begun.elapsed(), long_listing)).await;
        }
    }

    /// Reads the changes since `known`, beginning with the space that was written last. If a store is unavailable, the
    /// other spaces are still read. With `preload`, the index loads each space at the same time.
    async fn refresh_changed_spaces(
        &self,
        stores: &Backends,
        listed: Vec<SpaceInfo>,
        known: &mut KnownSpaces,
        preload: bool,
    ) -> Refreshed {
        for it in &listed {
            known.entry(it.space.clone()).or_default();
        }
        let mut changed = listed;
        changed.retain(|it| known.get(&it.space).and_then(Option::as_ref) != Some(it));
        changed.sort_by(|a, b| b.written.cmp(&a.written).then_with(|| a.space.cmp(&b.space)));
        changed.truncate(READ_MAX);
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
                        found.is_away |= is_unavailable(&error);
                        continue;
                    }
                }
            }
            known.insert(info.space.clone(), Some(info));
        }
        found
    }
}

/// Returns the pause after a check. `check` is its duration, and `long_listing` the part of it in which several pages
/// of spaces were listed; zero if there is one page.
fn pause_after_check(check: Duration, long_listing: Duration) -> Duration {
    PAUSE.max(check).max(long_listing.saturating_mul(PAUSES_PER_LISTING))
}

/// The result of a check of all spaces.
#[derive(Default)]
struct Refreshed {
    /// The spaces that were read.
    read: Vec<SpaceId>,
    /// True if a store was unavailable.
    is_away: bool,
}

/// The spaces that exist, by name.
struct Listing {
    spaces: Vec<SpaceInfo>,
    /// False if there may be more spaces, with greater names.
    is_complete: bool,
}

/// Lists the spaces page by page, until there are none left or at least `most` are listed.
async fn list_spaces(records: &dyn Records, page_size: usize, most: usize) -> Result<Listing, PortError> {
    let mut spaces: Vec<SpaceInfo> = Vec::new();
    loop {
        let page = records.spaces(spaces.last().map(|it| &it.space), page_size).await?;
        let is_complete = page.len() < page_size;
        spaces.extend(page);
        if is_complete || spaces.len() >= most {
            return Ok(Listing { spaces, is_complete });
        }
    }
}

impl Listing {
    /// Returns the known spaces that do not exist any more. A space beyond the end of an incomplete listing may exist.
    fn deleted_spaces(&self, known: &KnownSpaces) -> Vec<SpaceId> {
        let names: BTreeSet<&SpaceId> = self.spaces.iter().map(|it| &it.space).collect();
        let end = names.last().copied().filter(|_| !self.is_complete);
        let is_listed_or_beyond = |it: &SpaceId| names.contains(it) || end.is_some_and(|end| it > end);
        known.keys().filter(|it| !is_listed_or_beyond(it)).cloned().collect()
    }
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

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use host::Context;

    use super::*;

    #[test]
    fn a_long_listing_of_spaces_is_followed_by_a_longer_pause() {
        for (check, long_listing, pause) in [
            (20, 0, 1_000),
            (3_000, 0, 3_000),
            (3_000, 100, 3_000),
            (3_000, 2_000, 20_000),
        ] {
            let [check, long_listing] = [check, long_listing].map(Duration::from_millis);
            let expected = Duration::from_millis(pause);
            assert_eq!(pause_after_check(check, long_listing), expected, "{long_listing:?}");
        }
    }

    #[tokio::test]
    async fn a_space_is_deleted_if_no_page_of_the_listing_has_it() {
        let dir = tempfile::tempdir().unwrap();
        let ctx = Context::embedded_with_defaults(dir.path()).await.unwrap();
        let records = &*ctx.backends.records;
        let names: Vec<SpaceId> = (1..=5).map(|it| format!("s{it}").parse().unwrap()).collect();
        for it in &names {
            records.create_space(it, DateTime::UNIX_EPOCH).await.unwrap();
        }
        let known: KnownSpaces = names.iter().map(|it| (it.clone(), None)).collect();
        let listing = list_spaces(records, 2, 100).await.unwrap();
        assert!(
            listing.spaces.iter().map(|it| &it.space).eq(&names),
            "all pages are read"
        );
        assert!(listing.is_complete && listing.deleted_spaces(&known).is_empty());

        for it in [&names[1], &names[4]] {
            records.delete_space(it).await.unwrap();
        }
        let listing = list_spaces(records, 2, 100).await.unwrap();
        assert_eq!(listing.deleted_spaces(&known), [names[1].clone(), names[4].clone()]);
        let listing = list_spaces(records, 2, 2).await.unwrap();
        assert!(!listing.is_complete && listing.spaces.len() == 2);
        assert_eq!(
            listing.deleted_spaces(&known),
            [names[1].clone()],
            "the last one may exist"
        );
    }
}
