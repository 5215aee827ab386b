//! Fair shares of what all callers use together: how much of it one key may hold.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit, TryAcquireError};

use crate::config::Key;

/// Permits of which each key may hold a share. The keys are those of the settings, so the table never grows.
pub(crate) struct Shares {
    all: Arc<Semaphore>,
    total: usize,
    each: usize,
    by_key: BTreeMap<String, Arc<Semaphore>>,
}

/// A permit of all and one of the key's share; both are returned when it is dropped.
#[derive(Debug)]
pub(crate) struct Share<'a> {
    _all: SemaphorePermit<'a>,
    _own: Option<SemaphorePermit<'a>>,
}

/// A [`Share`] for work that outlives its request.
#[derive(Debug)]
pub(crate) struct OwnedShare {
    _all: OwnedSemaphorePermit,
    _own: Option<OwnedSemaphorePermit>,
}

/// Why there is no permit.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// All permits are held.
    All(usize),
    /// The key holds its whole share.
    Own(usize),
}

impl Shares {
    /// Divides `total` permits so that each of `keys` holds at most `each`. Without keys, and with one, nobody else wants
    /// any, so the share is the whole.
    pub(crate) fn new(total: usize, each: usize, keys: &[Key]) -> Shares {
        let each = if keys.len() > 1 { each.min(total) } else { total };
        let by_key = keys.iter().map(|it| (it.name.clone(), Arc::new(Semaphore::new(each))));
        Shares {
            all: Arc::new(Semaphore::new(total)),
            total,
            each,
            by_key: by_key.collect(),
        }
    }

    /// Takes a permit at once.
    pub(crate) fn take(&self, key: &str) -> Result<Share<'_>, Refused> {
        let own = self.by_key.get(key).map(|it| it.try_acquire()).transpose();
        self.with(own.map_err(|_: TryAcquireError| Refused::Own(self.each))?)
    }

    /// Takes a permit at once, as [`Shares::take`], that may be handed on.
    pub(crate) fn take_owned(&self, key: &str) -> Result<OwnedShare, Refused> {
        let own = self.by_key.get(key).map(|it| Arc::clone(it).try_acquire_owned());
        let own = own.transpose().map_err(|_: TryAcquireError| Refused::Own(self.each))?;
        let all = Arc::clone(&self.all).try_acquire_owned();
        let all = all.map_err(|_| Refused::All(self.total))?;
        Ok(OwnedShare { _all: all, _own: own })
    }

    /// Waits until the key holds less than its share, then takes a permit.
    pub(crate) async fn wait(&self, key: &str) -> Result<Share<'_>, Refused> {
        // Alone, a key does not wait for itself: it hears that all permits are held.
        if self.each == self.total {
            return self.take(key).map_err(|_| Refused::All(self.total));
        }
        let own = match self.by_key.get(key) {
            Some(own) => own.acquire().await.ok(),
            None => None,
        };
        self.with(own)
    }

    /// Returns how many permits are held.
    pub(crate) fn held(&self) -> usize {
        self.total.saturating_sub(self.all.available_permits())
    }

    fn with<'a>(&'a self, own: Option<SemaphorePermit<'a>>) -> Result<Share<'a>, Refused> {
        let all = self.all.try_acquire().map_err(|_| Refused::All(self.total))?;
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
        let owned = [shares.take_owned("a").unwrap(), shares.take_owned("a").unwrap()];
        assert_eq!(shares.take_owned("a").unwrap_err(), Refused::Own(2));
        assert_eq!(shares.held(), 2);
        drop(owned);
        assert!(shares.take("a").is_ok());
    }

    #[test]
    fn a_key_alone_may_hold_all() {
        for keys in [vec![], vec![key("a")]] {
            let shares = Shares::new(3, 1, &keys);
            let held: Vec<_> = (0..3).map(|_| shares.take("a").unwrap()).collect();
            assert!(shares.take("a").is_err());
            drop(held);
        }
    }

    #[tokio::test]
    async fn only_the_key_with_its_whole_share_waits() {
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
