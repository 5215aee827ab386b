//! Fair shares of common resources: the number of permits that one key may hold.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError};

use crate::config::Key;

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
    pub(crate) fn take(&self, key: &str) -> Result<Share, Refused> {
        let own = self.own(key).map(Semaphore::try_acquire_owned).transpose();
        self.with(own.map_err(|_: TryAcquireError| Refused::Own(self.each))?)
    }

    /// Waits until the key holds less than its share, then takes a permit.
    pub(crate) async fn wait(&self, key: &str) -> Result<Share, Refused> {
        // A share that equals the total is not waited for: the caller is told that all permits are in use.
        let own = match self.own(key) {
            Some(own) if self.each < self.total => own.acquire_owned().await.ok(),
            Some(_) | None => None,
        };
        self.with(own)
    }

    /// Returns the number of permits in use.
    pub(crate) fn held(&self) -> usize {
        self.total.saturating_sub(self.all.available_permits())
    }

    /// Returns the share of a key; `None` if there is no other key, or if the caller has no key.
    fn own(&self, key: &str) -> Option<Arc<Semaphore>> {
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

    fn with(&self, own: Option<OwnedSemaphorePermit>) -> Result<Share, Refused> {
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

    fn key(name: &str) -> Key {
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
        let shares = Shares::new(3, 2, &[key("a"), key("b")]);
        let held = [shares.take("a").unwrap(), shares.take("a").unwrap()];
        assert_eq!(shares.take("a").unwrap_err(), Refused::Own(2));
        let other = shares.take("b").unwrap();
        assert_eq!(shares.take("b").unwrap_err(), Refused::All(3));
        assert_eq!(shares.held(), 3);
        drop(held);
        drop(other);
        assert_eq!(shares.held(), 0);
    }

    #[test]
    fn a_second_key_limits_the_first_key_to_its_share() {
        let shares = Shares::new(4, 1, &[key("settings")]);
        let alone = [shares.take("settings").unwrap(), shares.take("settings").unwrap()];
        let stored = shares.take("stored").unwrap();
        assert_eq!(shares.take("stored").unwrap_err(), Refused::Own(1));
        drop(alone);
        let own = shares.take("settings").unwrap();
        assert_eq!(shares.take("settings").unwrap_err(), Refused::Own(1));
        drop((stored, own));
        assert_eq!(shares.held(), 0);
    }

    #[test]
    fn shares_that_are_held_stay_in_the_table() {
        let shares = Shares::new(4, 1, &[]);
        let held = (shares.take("a").unwrap(), shares.take("b").unwrap());
        for number in 0..2 * NAMES_MAX {
            assert!(shares.take(&format!("key-{number}")).is_ok());
        }
        assert!(shares.by_key.lock().unwrap().len() <= NAMES_MAX);
        assert_eq!(shares.take("b").unwrap_err(), Refused::Own(1));
        drop(held);
        assert!(shares.take("b").is_ok());
    }

    #[test]
    fn a_single_key_may_hold_all_permits() {
        for keys in [vec![], vec![key("a")]] {
            let shares = Shares::new(3, 1, &keys);
            let held: Vec<_> = (0..3).map(|_| shares.take("a").unwrap()).collect();
            assert!(shares.take("a").is_err());
            drop(held);
        }
    }

    #[tokio::test]
    async fn only_a_key_that_holds_its_full_share_waits() {
        let shares = Shares::new(3, 1, &[key("a"), key("b")]);
        let held = shares.wait("a").await.unwrap();
        let next = pin!(shares.wait("a"));
        assert!(shares.wait("b").await.is_ok());
        let Either::Right(((), next)) = select(next, pin!(tokio::task::yield_now())).await else {
            panic!("a second permit was given");
        };
        drop(held);
        let Either::Left((taken, _)) = select(next, pin!(pending::<()>())).await else {
            panic!("no permit was given");
        };
        assert!(taken.is_ok());
    }
}
