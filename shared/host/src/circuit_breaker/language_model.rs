//! Language models over the network: each call is watched by a guard, and waits in the queue of its endpoint.

use std::error::Error;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use adapters::models::endpoint::EndpointError;
use async_trait::async_trait;
use domain::port::{Chat, Completion, LanguageModel, ModelRole, Result};
use domain::{Classify, ErrorKind, PortError};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, sleep_until, timeout_at};

use super::{CircuitBreaker, time_until_deadline};

const OPERATION: &str = "model.complete";
/// Share of the time left that a call gets. At least [`SPARED`] is kept back in any case: the caller has done
/// everything else by then, and only needs a little time to report a failure.
const SHARE: f64 = 0.9;
const SPARED: Duration = Duration::from_millis(150);
/// With less time than this, no call is made.
const LEAST: Duration = Duration::from_millis(350);
/// The timeout of a call that had less time than this is not counted as a failure, because models take seconds.
const FAIR: Duration = Duration::from_secs(10);
/// Maximum time in the queue if there is no deadline.
const WAIT_MAX: Duration = Duration::from_secs(60);
/// Longest pause that an endpoint is granted when it asks for one.
const PAUSE_MAX: Duration = Duration::from_secs(120);
/// Number of retries after such a pause, for one call.
const RETRIES_MAX: u32 = 2;
/// How long background work does not call an endpoint that is unreachable or refuses every call.
const REST: Duration = Duration::from_secs(30);

/// An endpoint, which several models may share.
pub(crate) struct Endpoint {
    guard: Arc<CircuitBreaker>,
    /// One permit for each call.
    turns: Semaphore,
    /// End of the pause that the endpoint asked for.
    paused: Mutex<Option<Instant>>,
    /// While it is away, or has too much to do.
    background_pause: BackgroundPause,
}

impl Endpoint {
    /// Makes an endpoint with at most `in_flight_max` calls at a time. The first call finds out whether it is up.
    pub(crate) fn new(in_flight_max: usize) -> Endpoint {
        let guard = CircuitBreaker::new("its endpoint");
        guard.mark_reached();
        Endpoint {
            guard,
            turns: Semaphore::new(in_flight_max.max(1)),
            paused: Mutex::new(None),
            background_pause: BackgroundPause::default(),
        }
    }

    /// Waits in the queue until `until`.
    async fn wait_for_turn(&self, until: Instant) -> Result<SemaphorePermit<'_>> {
        let late = |_| not_asked("too many calls wait for it");
        // The semaphore is never closed, so only the timeout can fail.
        match timeout_at(until, self.turns.acquire()).await.map_err(late)? {
            Ok(permit) => Ok(permit),
            Err(_) => Err(not_asked("it is shut down")),
        }
    }

    /// Waits for the end of a pause that the endpoint asked for, if there is enough time left after it.
    async fn wait_for_pause_end(&self, until: Instant) -> Result<()> {
        loop {
            let paused = *self.paused.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(end) = paused.filter(|it| *it > Instant::now()) else {
                return Ok(());
            };
            if end + LEAST > until {
                let seconds = end.saturating_duration_since(Instant::now()).as_secs() + 1;
                return Err(not_asked(&format!(
                    "its endpoint asks for a pause of another {seconds} s"
                )));
            }
            sleep_until(end).await;
        }
    }

    /// Stores the pause that the endpoint asks for; returns false if it asks for none.
    fn store_pause(&self, outcome: &Result<Completion>) -> bool {
        let source = outcome.as_ref().err().and_then(|it| it.source()?.downcast_ref());
        let Some(EndpointError::Status {
            status: 429 | 503,
            retry_after: Some(pause),
            ..
        }) = source
        else {
            return false;
        };
        let end = Instant::now() + (*pause).min(PAUSE_MAX);
        let mut paused = self.paused.lock().unwrap_or_else(PoisonError::into_inner);
        *paused = Some(paused.map_or(end, |it| it.max(end)));
        true
    }

    /// Records whether the endpoint is up: every answer except a server error proves it.
    fn update_guard(&self, begun: Instant, outcome: &Result<Completion>) {
        let Err(error) = outcome else {
            return self.guard.mark_answered();
        };
        match error.source().and_then(|it| it.downcast_ref()) {
            Some(EndpointError::Status { status, .. }) if *status < 500 => self.guard.mark_answered(),
            Some(EndpointError::Form { .. }) => self.guard.mark_answered(),
            _ if error.kind() == ErrorKind::Timeout && begun.elapsed() < FAIR => {}
            _ => self.guard.count_failure(error),
        }
    }
}

/// The time until which background work makes no call.
#[derive(Default)]
struct BackgroundPause(Mutex<Option<Instant>>);

impl BackgroundPause {
    fn begin_pause(&self) {
        *self.lock_end() = Some(Instant::now() + REST);
    }

    fn end_pause(&self) {
        *self.lock_end() = None;
    }

    fn lock_end(&self) -> MutexGuard<'_, Option<Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A language model whose endpoint may be unreachable or busy at times. If it is unreachable, calls fail at once; if it
/// is busy, each call waits as long as its caller has time.
pub(crate) struct Watched {
    endpoint: Arc<Endpoint>,
    model: Arc<dyn LanguageModel>,
    /// While it is refused for its key or its name; other models of the endpoint may be asked.
    background_pause: BackgroundPause,
}

impl Watched {
    pub(crate) fn new(endpoint: Arc<Endpoint>, model: Arc<dyn LanguageModel>) -> Watched {
        Watched {
            endpoint,
            model,
            background_pause: BackgroundPause::default(),
        }
    }

    /// Learns whether work that can wait would get the same refusal with any other question. One failure of the endpoint says
    /// nothing about the next question, so that a question that it cannot bear does not keep the others waiting.
    fn update_background_pause(&self, outcome: &Result<Completion>) {
        let Err(error) = outcome else {
            self.background_pause.end_pause();
            return self.endpoint.background_pause.end_pause();
        };
        match http_status(error) {
            Some(429 | 503) => self.endpoint.background_pause.begin_pause(),
            Some(401..=404) => self.background_pause.begin_pause(),
            Some(_) | None if self.endpoint.guard.is_away() => self.endpoint.background_pause.begin_pause(),
            Some(_) | None => {}
        }
    }

    async fn call_model(&self, chat: &Chat, deadline: Option<Instant>) -> Result<Completion> {
        self.endpoint.guard.admit_call(OPERATION)?;
        let begun = Instant::now();
        let work = self.model.complete(chat);
        let late = |_| Err(PortError::new(OPERATION, ErrorKind::Timeout, "it took too long"));
        let outcome = match deadline {
            Some(deadline) => timeout_at(deadline, work).await.unwrap_or_else(late),
            None => work.await,
        };
        self.endpoint.update_guard(begun, &outcome);
        self.update_background_pause(&outcome);
        outcome
    }
}

#[async_trait]
impl LanguageModel for Watched {
    async fn complete(&self, chat: &Chat) -> Result<Completion> {
        let time = time_until_deadline().map(|it| it.mul_f64(SHARE).min(it.saturating_sub(SPARED)));
        if time.is_some_and(|it| it < LEAST) {
            return Err(not_asked("there is too little time left for it"));
        }
        let deadline = time.map(|it| Instant::now() + it);
        let patience = deadline.map_or_else(|| Instant::now() + WAIT_MAX, |it| it - LEAST);
        let _turn = self.endpoint.wait_for_turn(patience).await?;
        self.endpoint.wait_for_pause_end(patience).await?;
        let mut outcome = self.call_model(chat, deadline).await;
        for _ in 0..RETRIES_MAX {
            if !self.endpoint.store_pause(&outcome) || self.endpoint.wait_for_pause_end(patience).await.is_err() {
                break;
            }
            outcome = self.call_model(chat, deadline).await;
        }
        outcome
    }

    fn pause_before_background_calls(&self, _role: ModelRole) -> Option<Duration> {
        let paused = *self.endpoint.paused.lock().unwrap_or_else(PoisonError::into_inner);
        let resting = (*self.background_pause.lock_end()).max(*self.endpoint.background_pause.lock_end());
        let rest = paused.max(resting)?.saturating_duration_since(Instant::now());
        (!rest.is_zero()).then_some(rest)
    }
}

/// Returns the status with which an endpoint answered, if it did.
fn http_status(error: &PortError) -> Option<u16> {
    let source = error.source().and_then(|it| it.downcast_ref());
    let Some(EndpointError::Status { status, .. }) = source else {
        return None;
    };
    Some(*status)
}

/// Returns an error without a source, which means that no call was sent and nothing was spent.
fn not_asked(why: &str) -> PortError {
    PortError::new(OPERATION, ErrorKind::Unavailable, why)
}

#[cfg(test)]
mod tests {
    use adapters::models::endpoint::chat::{ChatEndpoint, Options};

    use super::*;

    fn watched_model(endpoint: &Arc<Endpoint>) -> Watched {
        let options = Options {
            url: "http://127.0.0.1:1/v1".to_owned(),
            model: "parrot".to_owned(),
            ..Options::default()
        };
        Watched::new(Arc::clone(endpoint), Arc::new(ChatEndpoint::new(&options).unwrap()))
    }

    fn refusal_with_status(status: u16) -> Result<Completion> {
        let source = EndpointError::Status {
            url: String::new(),
            status,
            retry_after: None,
        };
        Err(PortError::new(OPERATION, ErrorKind::Unavailable, "refused").caused_by(source))
    }

    #[test]
    fn a_refusal_concerns_its_model_or_all_models_of_the_endpoint() {
        for (status, expected) in [
            (404, (true, false)),
            (401, (true, false)),
            (429, (true, true)),
            (503, (true, true)),
            (500, (false, false)),
        ] {
            let endpoint = Arc::new(Endpoint::new(1));
            let (refusing, other) = (watched_model(&endpoint), watched_model(&endpoint));
            refusing.update_background_pause(&refusal_with_status(status));
            let rests = |it: &Watched| it.pause_before_background_calls(ModelRole::Write).is_some();
            assert_eq!((rests(&refusing), rests(&other)), expected, "{status}");
        }
    }
}
