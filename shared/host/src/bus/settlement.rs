//! Decides how a delivery is settled.

use std::time::Duration;

use domain::port::{DeadLetterId, Settler};
use domain::{Classify, PortError};
use tracing::{error, warn};

use super::backoff::backoff_pause;
use crate::metrics::Outcome;

pub(super) enum Settlement {
    Done,
    RetryAfter(Duration),
    DeadLetter(String),
}

impl Settlement {
    pub(super) fn to_outcome(&self) -> Outcome {
        match self {
            Settlement::Done => Outcome::Done,
            Settlement::RetryAfter(_) => Outcome::Retried,
            Settlement::DeadLetter(_) => Outcome::Dead,
        }
    }
}

pub(super) fn decide_settlement<E: Classify + 'static>(
    outcome: Result<(), E>,
    attempt: u32,
    attempts_max: u32,
) -> Settlement {
    let Err(error) = outcome else { return Settlement::Done };
    let cause = &error as &(dyn std::error::Error + 'static);
    if error.kind().is_retryable() && attempt < attempts_max {
        let delay = backoff_pause(attempt);
        warn!(
            error = cause,
            delay_ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX),
            "will retry"
        );
        return Settlement::RetryAfter(delay);
    }
    error!(error = cause, "given up");
    let mut reason = error.to_string();
    let mut next = cause.source();
    while let Some(source) = next {
        reason = format!("{reason}: {source}");
        next = source.source();
    }
    Settlement::DeadLetter(reason)
}

pub(super) fn given_up(reason: String) -> Settlement {
    error!(reason, "given up");
    Settlement::DeadLetter(reason)
}

/// Settles a delivery. Returns the id of the dead letter if the message became one.
pub(super) async fn settle_delivery(
    settler: Box<dyn Settler>,
    verdict: Settlement,
) -> Result<Option<DeadLetterId>, PortError> {
    match verdict {
        Settlement::Done => settler.done().await.map(|()| None),
        Settlement::RetryAfter(delay) => settler.retry_after(delay).await.map(|()| None),
        Settlement::DeadLetter(reason) => settler.dead_letter(&reason).await,
    }
}

#[cfg(test)]
mod tests {
    use domain::ErrorKind;

    use super::*;

    #[test]
    fn a_message_that_keeps_failing_becomes_a_dead_letter_at_the_last_attempt() {
        for (kind, attempt, is_retried) in [
            (ErrorKind::Unavailable, 1, true),
            (ErrorKind::Unavailable, 4, true),
            (ErrorKind::Unavailable, 5, false),
            (ErrorKind::Unavailable, 6, false),
            (ErrorKind::Conflict, 1, false),
        ] {
            let failure = Err(PortError::new("test", kind, "refused"));
            let (retried, dead) = match decide_settlement(failure, attempt, 5) {
                Settlement::RetryAfter(_) => (true, false),
                Settlement::DeadLetter(_) => (false, true),
                Settlement::Done => (false, false),
            };
            assert_eq!(
                (retried, dead),
                (is_retried, !is_retried),
                "{kind:?}, attempt {attempt}"
            );
        }
    }
}
