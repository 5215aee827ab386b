//! How long a request may take: as long as any, until its handler knows that it may take longer.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

/// The longest time of one request. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Patience {
    started: Instant,
    ms_max: Arc<AtomicU64>,
    /// What the request gets beyond that, to say itself that it ran out.
    grace: Duration,
}

impl Patience {
    pub(super) fn new(ms_max: u64, grace: Duration) -> Patience {
        Patience {
            started: Instant::now(),
            ms_max: Arc::new(AtomicU64::new(ms_max)),
            grace,
        }
    }

    /// Lets the request take so long, counted from its start; never shorter than before.
    pub(crate) fn extend(&self, ms_max: u64) {
        self.ms_max.fetch_max(ms_max, Ordering::Relaxed);
    }

    /// Does the work inside the time there is when it runs out; fails with the milliseconds that it may have taken.
    pub(super) async fn bound<T>(&self, work: impl Future<Output = T>) -> Result<T, u64> {
        let mut work = pin!(work);
        loop {
            let ms_max = self.ms_max.load(Ordering::Relaxed);
            let until = self.started + Duration::from_millis(ms_max) + self.grace;
            match timeout_at(until, work.as_mut()).await {
                Ok(done) => return Ok(done),
                Err(_) if self.ms_max.load(Ordering::Relaxed) > ms_max => {}
                Err(_) => return Err(ms_max),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use tokio::time::sleep;

    use super::*;

    #[tokio::test]
    async fn a_request_takes_longer_only_if_its_handler_says_so() {
        let patience = Patience::new(20, Duration::ZERO);
        assert_eq!(patience.bound(pending::<()>()).await, Err(20));

        let patience = Patience::new(20, Duration::ZERO);
        let extended = patience.clone();
        let work = async {
            extended.extend(20_000);
            sleep(Duration::from_millis(60)).await;
        };
        assert_eq!(patience.bound(work).await, Ok(()));

        let patience = Patience::new(20, Duration::ZERO);
        patience.extend(5);
        assert_eq!(patience.bound(pending::<()>()).await, Err(20), "it never gets shorter");
    }
}
