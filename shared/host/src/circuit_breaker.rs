//! Circuit breakers for the servers that the ports use: which server is unreachable, and when to try it again.
//!
//! After several failures in a row, a server is not called for a while; then one call may try. Until then every caller
//! gets an error at once, so it can answer without the server or come back later.

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
    /// Deadline of the request that this work is done for.
    static DEADLINE: Instant;
}

/// Number of failures in a row after which a server counts as unreachable.
const FAILURES_MAX: u32 = 3;
/// How long an unreachable server is not called; after that time, one call may try.
const REST: Duration = Duration::from_secs(1);
/// The timeout of a call that had less time than this is not counted as a failure of the server.
const FAIR: Duration = Duration::from_millis(500);
/// Interval of the checks whether an unreachable server may be tried.
const LOOK: Duration = Duration::from_millis(100);

/// Runs `work` with a deadline after `patience`. Each call of a store gets at most half of the time that is left, so
/// that there is time to continue without that store.
pub async fn with_deadline<T>(patience: Duration, work: impl Future<Output = T>) -> T {
    DEADLINE.scope(Instant::now() + patience, work).await
}

/// The guards of the servers that consumers wait for. With embedded stores, at most an embeddings endpoint.
#[derive(Clone, Debug, Default)]
pub(crate) struct CircuitBreakers(Vec<Arc<CircuitBreaker>>);

/// The circuit breaker of one server.
#[derive(Debug)]
pub(crate) struct CircuitBreaker {
    server: &'static str,
    state: Mutex<State>,
}

#[derive(Debug)]
enum State {
    /// Never connected.
    Unknown,
    Up {
        failures: u32,
    },
    Away {
        until: Instant,
    },
}

impl CircuitBreakers {
    pub(crate) fn new(guards: Vec<Arc<CircuitBreaker>>) -> CircuitBreakers {
        CircuitBreakers(guards)
    }

    /// Adds more guards.
    #[cfg(feature = "distributed")]
    pub(crate) fn with_guards(mut self, others: Vec<Arc<CircuitBreaker>>) -> CircuitBreakers {
        self.0.extend(others);
        self
    }

    /// Returns true if this process uses a record store. With embedded stores this is always the case.
    pub(crate) fn has_records(&self) -> bool {
        let any = |server| self.0.iter().any(|it| it.server == server);
        any("neo4j") || !any("nats")
    }

    /// Returns true if a message whose `tries`-th try failed should be tried again by the same handler: while a server
    /// is known to be unreachable, and before that for as many tries as it takes to find out.
    pub(crate) fn may_pass(&self, tries: u32) -> bool {
        self.any_away() || (!self.0.is_empty() && tries <= FAILURES_MAX)
    }

    /// Returns true if a server is unreachable.
    fn any_away(&self) -> bool {
        self.0.iter().any(|it| it.is_away())
    }

    /// Waits until every unreachable server may be tried again.
    pub(crate) async fn may_try(&self) {
        loop {
            sleep(LOOK).await;
            if self.0.iter().all(|it| it.may_try()) {
                return;
            }
        }
    }
}

impl CircuitBreaker {
    pub(crate) fn new(server: &'static str) -> Arc<CircuitBreaker> {
        let state = Mutex::new(State::Unknown);
        Arc::new(CircuitBreaker { server, state })
    }

    /// Records that the server was connected.
    pub(crate) fn mark_reached(&self) {
        *self.lock_state() = State::Up { failures: 0 };
    }

    /// Admits a call, or returns an error because the server is unreachable.
    pub(crate) fn admit_call(&self, operation: &'static str) -> Result<(), PortError> {
        match &mut *self.lock_state() {
            State::Up { .. } => Ok(()),
            State::Away { until } if *until <= Instant::now() => {
                // Other calls are still refused while this one tries.
                *until = Instant::now() + REST;
                Ok(())
            }
            State::Away { .. } => Err(self.refusal_error(operation, "cannot be reached")),
            State::Unknown => Err(self.refusal_error(operation, "has not been reached yet")),
        }
    }

    /// Runs an admitted call within the time available, and records its result. The error of another port on which the
    /// call depends is not recorded: an index that looks up a space in the records says nothing about its own server.
    pub(crate) async fn watch_call<T>(
        &self,
        operation: &'static str,
        work: impl Future<Output = Result<T, PortError>>,
    ) -> Result<T, PortError> {
        let begun = Instant::now();
        let outcome = in_time(operation, work).await;
        if !is_error_of_other_port(operation, &outcome) {
            self.update_state(begun, &outcome);
        }
        outcome
    }

    /// Records the result of a call that began at `begun`.
    fn update_state<T>(&self, begun: Instant, outcome: &Result<T, PortError>) {
        match outcome {
            Err(error) if error.kind() == ErrorKind::Unavailable => self.count_failure(error),
            Err(error) if error.kind() == ErrorKind::Timeout && begun.elapsed() >= FAIR => self.count_failure(error),
            Err(error) if error.kind() == ErrorKind::Timeout => {}
            Ok(_) | Err(_) => self.mark_answered(),
        }
    }

    /// Stops calls to the server for a while, because it asked for a pause.
    fn pause_calls(&self, error: &PortError) {
        let mut state = self.lock_state();
        if matches!(*state, State::Up { .. }) {
            let error = error as &dyn std::error::Error;
            warn!(
                error,
                server = self.server,
                "the server asks for a pause; calls to it stop for a while"
            );
        }
        *state = State::Away {
            until: Instant::now() + REST,
        };
    }

    fn count_failure(&self, error: &PortError) {
        let mut state = self.lock_state();
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
            warn!(error, server = self.server, "the server cannot be reached");
        }
        *state = State::Away {
            until: Instant::now() + REST,
        };
    }

    fn mark_answered(&self) {
        let mut state = self.lock_state();
        if matches!(*state, State::Away { .. }) {
            info!(server = self.server, "the server can be reached again");
        }
        *state = State::Up { failures: 0 };
    }

    fn is_away(&self) -> bool {
        !matches!(*self.lock_state(), State::Up { .. })
    }

    fn may_try(&self) -> bool {
        match &*self.lock_state() {
            State::Up { .. } => true,
            State::Away { until } => *until <= Instant::now(),
            State::Unknown => false,
        }
    }

    fn refusal_error(&self, operation: &'static str, why: &str) -> PortError {
        PortError::new(operation, ErrorKind::Unavailable, format!("{} {why}", self.server))
    }

    fn lock_state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns true if a call failed in an operation of another port. Operations are named `port.method`.
fn is_error_of_other_port<T>(operation: &'static str, outcome: &Result<T, PortError>) -> bool {
    let port = |operation: &'static str| operation.split('.').next();
    let error = outcome.as_ref().err();
    error.is_some_and(|it| port(it.operation()) != port(operation))
}

/// Returns the time left until the deadline of [`with_deadline`], if there is one.
pub fn time_until_deadline() -> Option<Duration> {
    let deadline = DEADLINE.try_with(|it| *it).ok()?;
    Some(deadline.saturating_duration_since(Instant::now()))
}

/// Runs a call within half of the time left.
async fn in_time<T>(operation: &'static str, work: impl Future<Output = Result<T, PortError>>) -> Result<T, PortError> {
    let Some(left) = time_until_deadline() else {
        return work.await;
    };
    let time = left / 2;
    let detail = "used too much of the available time";
    timeout(time, work)
        .await
        .unwrap_or_else(|_| Err(PortError::new(operation, ErrorKind::Timeout, detail)))
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn watch_outcome(guard: &CircuitBreaker, outcome: Result<(), ErrorKind>) -> Result<(), ErrorKind> {
        guard.admit_call("test").map_err(|it| it.kind())?;
        let work = async { outcome.map_err(|kind| PortError::new("test", kind, "refused")) };
        guard.watch_call("test", work).await.map_err(|it| it.kind())
    }

    #[tokio::test]
    async fn a_failing_server_gets_no_calls_until_a_single_trial_succeeds() {
        let guard = CircuitBreaker::new("server");
        let away = Err(ErrorKind::Unavailable);
        assert_eq!(guard.admit_call("test").map_err(|it| it.kind()), away);
        guard.mark_reached();
        for _ in 1..FAILURES_MAX {
            assert_eq!(watch_outcome(&guard, away).await, away);
        }
        assert_eq!(
            watch_outcome(&guard, Err(ErrorKind::Conflict)).await,
            Err(ErrorKind::Conflict)
        );
        for _ in 0..FAILURES_MAX {
            assert_eq!(watch_outcome(&guard, away).await, away);
        }
        assert_eq!(watch_outcome(&guard, Ok(())).await, away, "it is left alone");
        CircuitBreakers::new(vec![Arc::clone(&guard)]).may_try().await;
        guard.admit_call("test").unwrap();
        assert_eq!(watch_outcome(&guard, Ok(())).await, away, "another one tries");
        guard.watch_call("test", async { Ok(()) }).await.unwrap();
        assert_eq!(watch_outcome(&guard, Ok(())).await, Ok(()));
    }

    #[tokio::test]
    async fn failures_of_another_port_do_not_count() {
        let guard = CircuitBreaker::new("server");
        guard.mark_reached();
        let fail = async |operation| {
            let error = PortError::new(operation, ErrorKind::Unavailable, "refused");
            let outcome = guard.watch_call("index.put", async { Err::<(), PortError>(error) });
            assert!(outcome.await.is_err());
        };
        for _ in 0..2 * FAILURES_MAX {
            fail("records.space").await;
        }
        assert!(!guard.is_away());
        for _ in 0..FAILURES_MAX {
            fail("index.put").await;
        }
        assert!(guard.is_away());
    }

    #[tokio::test]
    async fn a_call_gets_half_of_the_time_left() {
        let guard = CircuitBreaker::new("server");
        guard.mark_reached();
        let begun = Instant::now();
        let never = std::future::pending::<Result<(), PortError>>();
        let outcome = with_deadline(Duration::from_millis(400), guard.watch_call("test", never)).await;
        assert_eq!(outcome.map_err(|it| it.kind()), Err(ErrorKind::Timeout));
        assert!(begun.elapsed() < Duration::from_millis(390));
        assert_eq!(watch_outcome(&guard, Ok(())).await, Ok(()));
    }
}
