//! Idempotency keys: a key belongs to one request, here and at every other gateway over the same store.
//!
//! A request takes its key before it does anything. While it is in flight another request is refused, and the same one waits a
//! while for the response; then it is told to come again. A gateway that dies leaves its hold for a second: then the same
//! request may go on, and does no harm if the first was accepted, since ids derive from the key and the content. Another
//! request never may, since nobody knows what came of the first.

use std::time::Duration;

use chrono::TimeDelta;
use domain::id::SpaceId;
use domain::port::{Held, Hold, Idempotent};
use host::clock;
use serde::Serialize;
use tokio::time::{Instant, sleep};
use tracing::debug;

use crate::accept::Hash;
use crate::problem::Problem;
use crate::state::App;

/// How long a request keeps the key to itself without having answered.
const HOLD: TimeDelta = TimeDelta::seconds(1);
/// How long the same request waits for the first one: longer than one that died holds the key.
const PATIENCE: Duration = Duration::from_secs(2);
/// First and longest pause between two looks.
const PAUSE: Duration = Duration::from_millis(5);
const PAUSE_MAX: Duration = Duration::from_millis(100);

/// A key that a request has taken.
pub(crate) struct Taken<'a> {
    app: &'a App,
    space: &'a SpaceId,
    key: String,
    hold: Hold,
}

/// What a request finds under its key.
pub(crate) enum Found<'a> {
    /// Nothing: the key is its own now.
    Nothing(Taken<'a>),
    /// The response that it was given before.
    Response(Vec<u8>),
}

/// Takes a key for a request; the problem says that it is in use or belongs to another request.
pub(crate) async fn take<'a>(
    app: &'a App,
    space: &'a SpaceId,
    key: String,
    request: Hash,
) -> Result<Found<'a>, Problem> {
    let deadline = Instant::now() + PATIENCE.min(Duration::from_millis(app.config.request_ms_max));
    let mut pause = PAUSE;
    loop {
        let at = clock::now();
        let hold = Hold {
            request,
            at,
            until: at + HOLD,
        };
        match app.stores().records.hold(space, &key, &hold).await? {
            Held::Taken => return Ok(Found::Nothing(Taken { app, space, key, hold })),
            Held::Answered(response) => return Ok(Found::Response(response)),
            Held::Reused => return Err(Problem::reused_key()),
            Held::Busy if Instant::now() >= deadline => return Err(Problem::held_key()),
            Held::Busy => sleep(pause).await,
        }
        pause = (pause * 2).min(PAUSE_MAX);
    }
}

impl Taken<'_> {
    /// Ends the hold as the request ended: its response is remembered; after a refusal the key is free, and after any other
    /// failure, of which something may have come, it is free for the same request.
    pub(crate) async fn end<T: Serialize>(self, outcome: Result<&T, &Problem>) -> Result<(), Problem> {
        let records = &self.app.stores().records;
        match outcome {
            Ok(response) => {
                let response = serde_json::to_vec(response).map_err(|_| Problem::internal())?;
                let request = self.hold.request;
                let outcome = Idempotent { request, response };
                Ok(records.remember(self.space, &self.key, &outcome, clock::now()).await?)
            }
            Err(problem) => {
                let released = records.release(self.space, &self.key, &self.hold, !problem.is_refusal());
                if let Err(error) = released.await {
                    debug!(
                        error = &error as &dyn std::error::Error,
                        "the hold of a key ends by itself"
                    );
                }
                Ok(())
            }
        }
    }
}
