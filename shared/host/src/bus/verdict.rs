//! Decides how a delivery is settled.

use std::time::Duration;

use domain::port::{DeadLetterId, Settler};
use domain::{Classify, PortError};
use tracing::{error, warn};

use super::backoff::backoff;
use crate::metrics::Outcome;

pub(super) enum Verdict {
    Done,
    RetryAfter(Duration),
    DeadLetter(String),
}

impl Verdict {
    pub(super) fn outcome(&self) -> Outcome {
        match self {
            Verdict::Done => Outcome::Done,
            Verdict::RetryAfter(_) => Outcome::Retried,
            Verdict::DeadLetter(_) => Outcome::Dead,
        }
    }
}

pub(super) fn verdict<E: Classify + 'static>(outcome: Result<(), E>, attempt: u32, attempts_max: u32) -> Verdict {
    let Err(error) = outcome else { return Verdict::Done };
    let cause = &error as &(dyn std::error::Error + 'static);
    if error.kind().may_pass() && attempt < attempts_max {
        let delay = backoff(attempt);
        warn!(
            error = cause,
            delay_ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX),
            "will retry"
        );
        return Verdict::RetryAfter(delay);
    }
    error!(error = cause, "given up");
    let mut reason = error.to_string();
    let mut next = cause.source();
    while let Some(source) = next {
        reason = format!("{reason}: {source}");
        next = source.source();
    }
    Verdict::DeadLetter(reason)
}

pub(super) fn given_up(reason: String) -> Verdict {
    error!(reason, "given up");
    Verdict::DeadLetter(reason)
}

/// Settles a delivery. Returns the id of the dead letter if the message became one.
pub(super) async fn settle(settler: Box<dyn Settler>, verdict: Verdict) -> Result<Option<DeadLetterId>, PortError> {
    match verdict {
        Verdict::Done => settler.done().await.map(|()| None),
        Verdict::RetryAfter(delay) => settler.retry_after(delay).await.map(|()| None),
        Verdict::DeadLetter(reason) => settler.dead_letter(&reason).await,
    }
}
