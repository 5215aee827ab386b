//! Idempotency keys: a key belongs to one request, at this gateway and at every other gateway over the same store.
//!
//! A request takes its key before it stores anything. While it is in flight, a different request with the key is
//! refused, and the same request waits a limited time for the response; then it is asked to retry. If a gateway dies,
//! its hold lasts one second. After that the same request may proceed, which is harmless even if the first one was
//! accepted, because ids derive from the key and the content. A different request may never proceed, because the
//! outcome of the first one is unknown.

use std::time::Duration;

use chrono::TimeDelta;
use domain::id::SpaceId;
use domain::port::{Hold, Idempotent, KeyClaim};
use host::clock;
use serde::Serialize;
use tokio::time::{Instant, sleep};
use tracing::debug;

use crate::api::problem::Problem;
use crate::app::state::App;

/// Duration for which a request holds its key without a response.
const HOLD: TimeDelta = TimeDelta::seconds(1);
/// Longest wait of the same request for the first one; longer than the hold of a process that died.
const PATIENCE: Duration = Duration::from_secs(2);
/// First and longest pause between two checks.
const PAUSE: Duration = Duration::from_millis(5);
const PAUSE_MAX: Duration = Duration::from_millis(100);

/// A key that a request holds.
pub(crate) struct HeldKey<'a> {
    app: &'a App,
    space: &'a SpaceId,
    key: String,
    hold: Hold,
}

/// State of the key of a request.
pub(crate) enum KeyState<'a> {
    /// The key was free; the request holds it now.
    Nothing(HeldKey<'a>),
    /// The response to the same earlier request.
    Response(Vec<u8>),
}

/// Takes a key for a request. Fails if the key is in use or belongs to another request.
pub(crate) async fn take_key<'a>(
    app: &'a App,
    space: &'a SpaceId,
    key: String,
    request: [u8; 32],
) -> Result<KeyState<'a>, Problem> {
    let deadline = Instant::now() + PATIENCE.min(Duration::from_millis(app.config.request_ms_max));
    let mut pause = PAUSE;
    loop {
        let at = clock::now();
        let hold = Hold {
            request,
            at,
            until: at + HOLD,
        };
        match app.stores().records.hold_idempotency_key(space, &key, &hold).await? {
            KeyClaim::Taken => return Ok(KeyState::Nothing(HeldKey { app, space, key, hold })),
            KeyClaim::Answered(response) => return Ok(KeyState::Response(response)),
            KeyClaim::Reused => return Err(Problem::reused_key()),
            KeyClaim::Busy if Instant::now() >= deadline => return Err(Problem::held_key()),
            KeyClaim::Busy => sleep(pause).await,
        }
        pause = (pause * 2).min(PAUSE_MAX);
    }
}

impl HeldKey<'_> {
    /// Ends the hold. A response is stored. After a refusal because of the content or of a quota, the key is free. After
    /// any other failure, which may have had effects, only the same request may use the key again.
    pub(crate) async fn end_hold<T: Serialize>(self, outcome: Result<&T, &Problem>) -> Result<(), Problem> {
        let records = &self.app.stores().records;
        match outcome {
            Ok(response) => {
                let response = serde_json::to_vec(response).map_err(|_| Problem::internal_error())?;
                let request = self.hold.request;
                let outcome = Idempotent { request, response };
                Ok(records
                    .store_response(self.space, &self.key, &outcome, clock::now())
                    .await?)
            }
            Err(problem) => {
                let released = records.release(self.space, &self.key, &self.hold, !problem.is_without_effect());
                if let Err(error) = released.await {
                    debug!(
                        error = &error as &dyn std::error::Error,
                        "the hold of a key was not released; it expires by itself"
                    );
                }
                Ok(())
            }
        }
    }
}
