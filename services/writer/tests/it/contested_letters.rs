//! Dead letters that another process amends or discards just before the writer amends them.

use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use domain::port::{DeadLetter, DeadLetterId, DeadLetters, Result};
use domain::{ErrorKind, PortError};

use crate::erase::{House, erasure, says_nothing, with_secret};
use crate::letters::given_up;
use crate::order::idle;

/// What another process does with a dead letter.
enum Interference {
    /// It stores the letter with the same payload under a greater id.
    Amends,
    Discards,
}

struct ContestedLetters {
    letters: Arc<dyn DeadLetters>,
    interference: Interference,
    /// Number of further times that the other process is faster.
    times_left: AtomicU64,
    /// How much greater the ids are than in `letters`.
    shift: AtomicU64,
}

impl ContestedLetters {
    fn with_shifted_ids(&self, mut letters: Vec<DeadLetter>) -> Vec<DeadLetter> {
        let shift = self.shift.load(Ordering::SeqCst);
        letters.iter_mut().for_each(|it| it.id += shift);
        letters
    }

    /// Returns the id in `letters`, or `NotFound` if the letter has another id by now.
    fn inner_id(&self, id: DeadLetterId) -> Result<DeadLetterId> {
        let inner = id.checked_sub(self.shift.load(Ordering::SeqCst));
        inner.ok_or_else(missing_error)
    }

    fn inner_position(&self, after: DeadLetterId) -> DeadLetterId {
        after.saturating_sub(self.shift.load(Ordering::SeqCst))
    }
}

fn missing_error() -> PortError {
    PortError::new("dead_letters", ErrorKind::NotFound, "there is no such dead letter")
}

#[async_trait]
impl DeadLetters for ContestedLetters {
    async fn list(&self, after: DeadLetterId, limit: usize) -> Result<Vec<DeadLetter>> {
        let letters = self.letters.list(self.inner_position(after), limit).await?;
        Ok(self.with_shifted_ids(letters))
    }

    async fn of_space(&self, space: &str, after: DeadLetterId, limit: usize) -> Result<Vec<DeadLetter>> {
        let letters = self.letters.of_space(space, self.inner_position(after), limit).await?;
        Ok(self.with_shifted_ids(letters))
    }

    async fn count(&self) -> Result<u64> {
        self.letters.count().await
    }

    async fn amend(&self, id: DeadLetterId, payload: &[u8]) -> Result<()> {
        let inner = self.inner_id(id)?;
        let one_less = |it: u64| it.checked_sub(1);
        let counted = self
            .times_left
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less);
        if counted.is_err() {
            return self.letters.amend(inner, payload).await;
        }
        match self.interference {
            Interference::Amends => {
                self.shift.fetch_add(1_000, Ordering::SeqCst);
            }
            Interference::Discards => self.letters.discard(inner).await?,
        }
        Err(missing_error())
    }

    async fn replay(&self, id: DeadLetterId) -> Result<()> {
        self.letters.replay(self.inner_id(id)?).await
    }

    async fn discard(&self, id: DeadLetterId) -> Result<()> {
        self.letters.discard(self.inner_id(id)?).await
    }
}

/// Erases a record of a dead letter while another process is faster this number of times. Returns the letters that are
/// left.
async fn erase_during(name: &str, interference: Interference, times: u64) -> Vec<DeadLetter> {
    let (all, secret) = with_secret();
    let mut house = House::stopped(name).await;
    let letters = Arc::new(ContestedLetters {
        letters: house.context.backends.dead_letters.clone(),
        interference,
        times_left: AtomicU64::new(times),
        shift: AtomicU64::new(0),
    });
    house.context.backends.dead_letters = letters.clone();
    given_up(&house.context, "1", &all[..12], &[]).await;
    let house = house.started();
    house.accept("2", slice::from_ref(&secret), &[]).await;
    idle(&house.context).await;
    house.accept("3", &[], &[erasure(1, &secret)]).await;
    idle(&house.context).await;
    assert_eq!(letters.times_left.load(Ordering::SeqCst), 0);
    let left = letters.list(0, 9).await.unwrap();
    says_nothing(&format!("{left:?}"));
    drop(letters);
    house.ends_without_a_word().await;
    left
}

/// If the other process is faster at every look, the erasure is delivered again.
#[tokio::test]
async fn a_dead_letter_that_is_amended_meanwhile_loses_the_erased_record() {
    for (name, times) in [("contested-once", 1), ("contested-often", 4)] {
        let left = erase_during(name, Interference::Amends, times).await;
        assert_eq!(left.len(), 1, "{name}: {left:?}");
    }
}

#[tokio::test]
async fn a_dead_letter_that_is_discarded_meanwhile_does_not_hold_up_the_erasure() {
    let left = erase_during("discarded-meanwhile", Interference::Discards, 1).await;
    assert_eq!(left, []);
}
