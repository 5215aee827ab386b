//! Watches the servers behind the ports: which one is away, and when to ask it again.
//!
//! A server that failed several times in a row is not asked for a while; then one call may try. Whoever would have
//! waited for it hears at once, and answers without it or comes back later.

pub(crate) mod embedder;
pub(crate) mod language_model;
#[cfg(feature = "distributed")]
pub(crate) mod ports;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::{Classify, ErrorKind, PortError};
use tokio::time::{Instant, sleep, timeout};
use tracing::{info, warn};

tokio::task_local! {
    /// When whoever waits for this work stops waiting.
    static DEADLINE: Instant;
}

/// Failures in a row after which a server counts as away.
const FAILURES_MAX: u32 = 3;
/// How long a server that is away is left alone before one call may try.
const REST: Duration = Duration::from_secs(1);
/// A call that had less time than this says nothing about the server.
const FAIR: Duration = Duration::from_millis(500);
/// Pause between looks at a server that is away.
const LOOK: Duration = Duration::from_millis(100);

/// Runs `work` on behalf of somebody who waits for `patience`: each call of a store gets at most half of what is left
/// of it, so that time stays to go on without that store.
pub async fn within<T>(patience: Duration, work: impl Future<Output = T>) -> T {
    DEADLINE.scope(Instant::now() + patience, work).await
}

/// The servers that consumers wait for; where the stores are embedded, at most an embeddings endpoint.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guards(Vec<Arc<Guard>>);

/// One server.
#[derive(Debug)]
pub(crate) struct Guard {
    server: &'static str,
    state: Mutex<State>,
}

#[derive(Debug)]
enum State {
    /// Was never reached.
    Unknown,
    Up {
        failures: u32,
    },
    Away {
        until: Instant,
    },
}

impl Guards {
    pub(crate) fn new(guards: Vec<Arc<Guard>>) -> Guards {
        Guards(guards)
    }

    /// Adds others.
    #[cfg(feature = "distributed")]
    pub(crate) fn and(mut self, others: Vec<Arc<Guard>>) -> Guards {
        self.0.extend(others);
        self
    }

    /// Says whether this process has records to ask for: with embedded stores always.
    pub(crate) fn has_records(&self) -> bool {
        let any = |server| self.0.iter().any(|it| it.server == server);
        any("neo4j") || !any("nats")
    }

    /// Says whether a failure that may pass, the `tries`-th of one message, is worth another try at once: while a server
    /// is away, and before that as often as it takes to know.
    pub(crate) fn may_pass(&self, tries: u32) -> bool {
        self.any_away() || (!self.0.is_empty() && tries <= FAILURES_MAX)
    }

    /// Says whether a server is away.
    fn any_away(&self) -> bool {
        self.0.iter().any(|it| it.is_away())
    }

    /// Returns when every server that is away may be tried again.
    pub(crate) async fn may_try(&self) {
        loop {
            sleep(LOOK).await;
            if self.0.iter().all(|it| it.may_try()) {
                return;
            }
        }
    }
}

impl Guard {
    pub(crate) fn new(server: &'static str) -> Arc<Guard> {
        let state = Mutex::new(State::Unknown);
        Arc::new(Guard { server, state })
    }

    /// Notes that the server was reached.
    pub(crate) fn reached(&self) {
        *self.state() = State::Up { failures: 0 };
    }

    /// Lets a call through, or says that the server is away.
    pub(crate) fn admit(&self, operation: &'static str) -> Result<(), PortError> {
        match &mut *self.state() {
            State::Up { .. } => Ok(()),
            State::Away { until } if *until <= Instant::now() => {
                // Others go on to hear no while this one tries.
                *until = Instant::now() + REST;
                Ok(())
            }
            State::Away { .. } => Err(self.refusal(operation, "is away")),
            State::Unknown => Err(self.refusal(operation, "has not been reached yet")),
        }
    }

    /// Does a call that was let through, in the time there is, and learns from it.
    pub(crate) async fn watch<T>(
        &self,
        operation: &'static str,
        work: impl Future<Output = Result<T, PortError>>,
    ) -> Result<T, PortError> {
        let begun = Instant::now();
        let outcome = in_time(operation, work).await;
        self.learn(begun, &outcome);
        outcome
    }

    /// Learns from a call that began at `begun`.
    fn learn<T>(&self, begun: Instant, outcome: &Result<T, PortError>) {
        match outcome {
            Err(error) if error.kind() == ErrorKind::Unavailable => self.failed(error),
            Err(error) if error.kind() == ErrorKind::Timeout && begun.elapsed() >= FAIR => self.failed(error),
            Err(error) if error.kind() == ErrorKind::Timeout => {}
            Ok(_) | Err(_) => self.answered(),
        }
    }

    /// Leaves the server alone for a while, as it asked for.
    fn spare(&self, error: &PortError) {
        let mut state = self.state();
        if matches!(*state, State::Up { .. }) {
            let error = error as &dyn std::error::Error;
            warn!(error, server = self.server, "the server wants to be left alone");
        }
        *state = State::Away {
            until: Instant::now() + REST,
        };
    }

    fn failed(&self, error: &PortError) {
        let mut state = self.state();
        let failures = match &*state {
            State::Up { failures } => failures + 1,
            State::Away { .. } | State::Unknown => FAILURES_MAX,
        };
        if failures < FAILURES_MAX {
            *state = State::Up { failures };
            return;
        }
        if matches!(*state, State::Up { .. }) {
            let error = error as &dyn std::error::Error;
            warn!(error, server = self.server, "the server is away");
        }
        *state = State::Away {
            until: Instant::now() + REST,
        };
    }

    fn answered(&self) {
        let mut state = self.state();
        if matches!(*state, State::Away { .. }) {
            info!(server = self.server, "the server is back");
        }
        *state = State::Up { failures: 0 };
    }

    fn is_away(&self) -> bool {
        !matches!(*self.state(), State::Up { .. })
    }

    fn may_try(&self) -> bool {
        match &*self.state() {
            State::Up { .. } => true,
            State::Away { until } => *until <= Instant::now(),
            State::Unknown => false,
        }
    }

    fn refusal(&self, operation: &'static str, why: &str) -> PortError {
        PortError::new(operation, ErrorKind::Unavailable, format!("{} {why}", self.server))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the time there is, if it is bounded.
fn left() -> Option<Duration> {
    let deadline = DEADLINE.try_with(|it| *it).ok()?;
    Some(deadline.saturating_duration_since(Instant::now()))
}

/// Does a call in half of the time there is.
async fn in_time<T>(operation: &'static str, work: impl Future<Output = Result<T, PortError>>) -> Result<T, PortError> {
    let Some(left) = left() else {
        return work.await;
    };
    let time = left / 2;
    let detail = "took too much of the time there is";
    timeout(time, work)
        .await
        .unwrap_or_else(|_| Err(PortError::new(operation, ErrorKind::Timeout, detail)))
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn call(guard: &Guard, outcome: Result<(), ErrorKind>) -> Result<(), ErrorKind> {
        guard.admit("test").map_err(|it| it.kind())?;
        let work = async { outcome.map_err(|kind| PortError::new("test", kind, "refused")) };
        guard.watch("test", work).await.map_err(|it| it.kind())
    }

    #[tokio::test]
    async fn a_server_that_fails_is_left_alone_until_one_call_may_try() {
        let guard = Guard::new("server");
        let away = Err(ErrorKind::Unavailable);
        assert_eq!(guard.admit("test").map_err(|it| it.kind()), away);
        guard.reached();
        for _ in 1..FAILURES_MAX {
            assert_eq!(call(&guard, away).await, away);
        }
        assert_eq!(call(&guard, Err(ErrorKind::Conflict)).await, Err(ErrorKind::Conflict));
        for _ in 0..FAILURES_MAX {
            assert_eq!(call(&guard, away).await, away);
        }
        assert_eq!(call(&guard, Ok(())).await, away, "it is left alone");
        Guards::new(vec![Arc::clone(&guard)]).may_try().await;
        guard.admit("test").unwrap();
        assert_eq!(call(&guard, Ok(())).await, away, "another one tries");
        guard.watch("test", async { Ok(()) }).await.unwrap();
        assert_eq!(call(&guard, Ok(())).await, Ok(()));
    }

    #[tokio::test]
    async fn a_call_gets_half_of_the_time_there_is() {
        let guard = Guard::new("server");
        guard.reached();
        let begun = Instant::now();
        let never = std::future::pending::<Result<(), PortError>>();
        let outcome = within(Duration::from_millis(400), guard.watch("test", never)).await;
        assert_eq!(outcome.map_err(|it| it.kind()), Err(ErrorKind::Timeout));
        assert!(begun.elapsed() < Duration::from_millis(390));
        assert_eq!(call(&guard, Ok(())).await, Ok(()));
    }
}
