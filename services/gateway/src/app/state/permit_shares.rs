//! Fair shares of common resources (a concurrency limit for each key): the number of permits that one key may hold.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError};

use crate::app::config::Key;

/// Number of names whose shares are kept; beyond it, shares without held permits are removed.
const NAMES_MAX: usize = 1_024;

/// Permits of which each key may hold a share. The table starts with the keys in the settings; a key in the store is
/// added with its first request.
pub(crate) struct Shares {
    all: Arc<Semaphore>,
    total: usize,
    each: usize,
    by_key: Mutex<BTreeMap<String, Arc<Semaphore>>>,
}

/// A permit of the total and one of the key's share; both are returned on drop.
#[derive(Debug)]
pub(crate) struct Share {
    _all: OwnedSemaphorePermit,
    _own: Option<OwnedSemaphorePermit>,
}

/// Reasons for a refusal.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// All permits are in use.
    All(usize),
    /// The key holds its full share.
    Own(usize),
}

impl Shares {
    /// Divides `total` permits so that each key holds at most `each`. Without keys, or with a single key, the share is
    /// the total, because nobody else needs permits.
    pub(crate) fn new(total: usize, each: usize, keys: &[Key]) -> Shares {
        let each = each.min(total);
        let by_key = keys.iter().map(|it| (it.name.clone(), Arc::new(Semaphore::new(each))));
        Shares {
            all: Arc::new(Semaphore::new(total)),
            total,
            each,
            by_key: Mutex::new(by_key.collect()),
        }
    }

    /// Takes a permit without waiting.
    pub(crate) fn try_acquire_permit(&self, key: &str) -> Result<Share, Refused> {
        let own = self.share_of_key(key).map(Semaphore::try_acquire_owned).transpose();
        self.join_total_permit(own.map_err(|_: TryAcquireError| Refused::Own(self.each))?)
    }

    /// Waits until the key holds less than its share, then takes a permit.
    pub(crate) async fn acquire_permit(&self, key: &str) -> Result<Share, Refused> {
        // If the share equals the total, the key does not wait for it: the caller learns that all permits are in use.
        let own = match self.share_of_key(key) {
            Some(own) if self.each < self.total => own.acquire_owned().await.ok(),
            Some(_) | None => None,
        };
        self.join_total_permit(own)
    }

    /// Waits until the key holds less than its share and a permit of the total is free, then takes both.
    pub(crate) async fn wait_for_permit(&self, key: &str) -> Result<Share, Refused> {
        let own = match self.share_of_key(key) {
            Some(own) => own.acquire_owned().await.ok(),
            None => None,
        };
        let all = Arc::clone(&self.all).acquire_owned().await;
        let all = all.map_err(|_| Refused::All(self.total))?;
        Ok(Share { _all: all, _own: own })
    }

    /// Returns the number of permits in use.
    pub(crate) fn count_permits_in_use(&self) -> usize {
        self.total.saturating_sub(self.all.available_permits())
    }

    /// Returns the share of a key; `None` if there is no other key, or if the caller has no key.
    fn share_of_key(&self, key: &str) -> Option<Arc<Semaphore>> {
        if key.is_empty() {
            return None;
        }
        let mut by_key = self.by_key.lock().unwrap_or_else(PoisonError::into_inner);
        if by_key.len() >= NAMES_MAX && !by_key.contains_key(key) {
            by_key.retain(|_, it| it.available_permits() < self.each);
        }
        let fresh = || Arc::new(Semaphore::new(self.each));
        let own = Arc::clone(by_key.entry(key.to_owned()).or_insert_with(fresh));
        (by_key.len() > 1).then_some(own)
    }

    fn join_total_permit(&self, own: Option<OwnedSemaphorePermit>) -> Result<Share, Refused> {
        let all = Arc::clone(&self.all).try_acquire_owned();
        let all = all.map_err(|_| Refused::All(self.total))?;
        Ok(Share { _all: all, _own: own })
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::pin::pin;

    use futures::future::{Either, select};

    use super::*;

    fn key_with_name(name: &str) -> Key {
        Key {
            name: name.to_owned(),
            sha256: String::new(),
            spaces: Vec::new(),
            rights: Vec::new(),
            quotas: domain::key::Quotas::default(),
        }
    }

    #[test]
    fn a_key_holds_at_most_its_share() {
        let shares = Shares::new(3, 2, &[key_with_name("a"), key_with_name("b")]);
        let permits = [
            shares.try_acquire_permit("a").unwrap(),
            shares.try_acquire_permit("a").unwrap(),
        ];
        assert_eq!(shares.try_acquire_permit("a").unwrap_err(), Refused::Own(2));
        let other = shares.try_acquire_permit("b").unwrap();
        assert_eq!(shares.try_acquire_permit("b").unwrap_err(), Refused::All(3));
        assert_eq!(shares.count_permits_in_use(), 3);
        drop(permits);
        drop(other);
        assert_eq!(shares.count_permits_in_use(), 0);
    }

    #[test]
    fn a_second_key_limits_the_first_key_to_its_share() {
        let shares = Shares::new(4, 1, &[key_with_name("settings")]);
        let alone = [
            shares.try_acquire_permit("settings").unwrap(),
            shares.try_acquire_permit("settings").unwrap(),
        ];
        let stored = shares.try_acquire_permit("stored").unwrap();
        assert_eq!(shares.try_acquire_permit("stored").unwrap_err(), Refused::Own(1));
        drop(alone);
        let own = shares.try_acquire_permit("settings").unwrap();
        assert_eq!(shares.try_acquire_permit("settings").unwrap_err(), Refused::Own(1));
        drop((stored, own));
        assert_eq!(shares.count_permits_in_use(), 0);
    }

    #[test]
    fn shares_that_are_held_stay_in_the_table() {
        let shares = Shares::new(4, 1, &[]);
        let permits = (
            shares.try_acquire_permit("a").unwrap(),
            shares.try_acquire_permit("b").unwrap(),
        );
        for number in 0..2 * NAMES_MAX {
            assert!(shares.try_acquire_permit(&format!("key-{number}")).is_ok());
        }
        assert!(shares.by_key.lock().unwrap().len() <= NAMES_MAX);
        assert_eq!(shares.try_acquire_permit("b").unwrap_err(), Refused::Own(1));
        drop(permits);
        assert!(shares.try_acquire_permit("b").is_ok());
    }

    #[test]
    fn a_single_key_may_hold_all_permits() {
        for keys in [vec![], vec![key_with_name("a")]] {
            let shares = Shares::new(3, 1, &keys);
            let permits: Vec<_> = (0..3).map(|_| shares.try_acquire_permit("a").unwrap()).collect();
            assert!(shares.try_acquire_permit("a").is_err());
            drop(permits);
        }
    }

    #[tokio::test]
    async fn a_permit_that_is_waited_for_is_given_when_one_is_returned() {
        let shares = Shares::new(1, 1, &[key_with_name("a"), key_with_name("b")]);
        let permit = shares.try_acquire_permit("b").unwrap();
        let next = pin!(shares.wait_for_permit("a"));
        let Either::Right(((), next)) = select(next, pin!(tokio::task::yield_now())).await else {
            panic!("a permit beyond the total was given");
        };
        drop(permit);
        assert!(next.await.is_ok());
        assert_eq!(shares.count_permits_in_use(), 0);
    }

    #[tokio::test]
    async fn only_a_key_that_holds_its_full_share_waits() {
        let shares = Shares::new(3, 1, &[key_with_name("a"), key_with_name("b")]);
        let permits = shares.acquire_permit("a").await.unwrap();
        let next = pin!(shares.acquire_permit("a"));
        assert!(shares.acquire_permit("b").await.is_ok());
        let Either::Right(((), next)) = select(next, pin!(tokio::task::yield_now())).await else {
            panic!("a second permit was given");
        };
        drop(permits);
        let Either::Left((taken, _)) = select(next, pin!(pending::<()>())).await else {
            panic!("no permit was given");
        };
        assert!(taken.is_ok());
    }
}
