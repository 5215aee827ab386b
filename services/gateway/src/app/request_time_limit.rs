//! The time limit of a request: the general limit, until its handler extends it.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

/// The time limit of one request. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Patience {
    started: Instant,
    ms_max: Arc<AtomicU64>,
    /// Additional time in which the request can report its timeout itself.
    grace: Duration,
}

impl Patience {
    pub(crate) fn new(ms_max: u64, grace: Duration) -> Patience {
        Patience {
            started: Instant::now(),
            ms_max: Arc::new(AtomicU64::new(ms_max)),
            grace,
        }
    }

    /// Extends the limit to `ms_max`, counted from the start of the request; never shortens it.
    pub(crate) fn extend_limit(&self, ms_max: u64) {
        self.ms_max.fetch_max(ms_max, Ordering::Relaxed);
    }

    /// Runs the work until the limit that applies when it expires; fails with the limit in milliseconds.
    pub(crate) async fn run_within_limit<T>(&self, work: impl Future<Output = T>) -> Result<T, u64> {
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
    async fn a_handler_can_extend_the_time_limit_of_its_request() {
        let patience = Patience::new(20, Duration::ZERO);
        assert_eq!(patience.run_within_limit(pending::<()>()).await, Err(20));

        let patience = Patience::new(20, Duration::ZERO);
        let extended = patience.clone();
        let work = async {
            extended.extend_limit(20_000);
            sleep(Duration::from_millis(60)).await;
        };
        assert_eq!(patience.run_within_limit(work).await, Ok(()));

        let patience = Patience::new(20, Duration::ZERO);
        patience.extend_limit(5);
        assert_eq!(
            patience.run_within_limit(pending::<()>()).await,
            Err(20),
            "it never gets shorter"
        );
    }
}
