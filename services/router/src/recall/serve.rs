//! Recall over the stores.

use std::sync::Arc;
use std::time::Instant;

use domain::message::{RecallV1, RecalledV1};
use tracing::{Instrument, info_span};

use super::heard::Heard;
use super::{before, recall};
use crate::error::{Error, crashed};
use crate::scope::Scope;
use crate::service::{Log, Router};

/// Maximum number of chosen units that are used.
const CHOSEN_MAX: usize = 200;

impl Router {
    /// Returns the hints for a message: updates the view, reads the message, searches the index and scores the results.
    ///
    /// # Errors
    /// `NotFound` if the space does not exist; the error of a store that failed. If the index or the embedder fails,
    /// the result is only degraded.
    pub async fn recall(&self, mut request: RecallV1) -> Result<RecalledV1, Error> {
        request.limit = request.limit.min(super::LIMIT_MAX);
        let mut log = Log::default();
        let start = Instant::now();
        let seen = self.seen(&request.space).await?;
        request.chosen.truncate(CHOSEN_MAX);
        request.chosen = seen.memory.turns(&request.chosen);
        log.step("sync", start);
        let start = Instant::now();
        let (view, asked) = (Arc::clone(&seen.view), request.clone());
        let gists = Arc::clone(&seen.gists);
        let read = tokio::task::spawn_blocking(move || {
            let scope = Scope::of(&view, &gists, &asked.labels);
            (Heard::read(&asked.message, &view, asked.at), scope)
        });
        let (mut heard, scope) = read.instrument(info_span!("read")).await.map_err(crashed)?;
        log.step("read", start);
        if heard.idle() {
            return Ok(RecalledV1 {
                steps: log.steps,
                ..RecalledV1::default()
            });
        }
        let start = Instant::now();
        let asked = super::tie::asked(&request);
        let found = self
            .search(&asked, &seen, scope.as_ref(), &mut heard.query, &mut log)
            .instrument(info_span!("search"))
            .await;
        log.step("search", start);
        let start = Instant::now();
        let weights = Arc::clone(self.weights());
        let weighed = tokio::task::spawn_blocking(move || {
            let known = seen.memory.at(Some(before(request.at))).within(scope.as_ref());
            recall(&seen.view, known, (&heard, &found.turns), &request, &weights)
        });
        let mut recalled = weighed.instrument(info_span!("weigh")).await.map_err(crashed)?;
        log.step("weigh", start);
        (recalled.steps, recalled.degraded) = (log.steps, log.degraded);
        recalled.degraded_codes = log.degraded_codes;
        Ok(recalled)
    }
}
