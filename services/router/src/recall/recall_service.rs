//! Recall over the stores.

use std::sync::Arc;
use std::time::Instant;

use domain::message::{RecallV1, RecalledV1};
use tracing::{Instrument, info_span};

use super::message::RecallMessage;
use super::{moment_before, recall_hints};
use crate::error::{Error, to_port_error};
use crate::service::{Log, Router};
use crate::space::scope::Scope;

/// Maximum number of chosen units that are used.
const CHOSEN_MAX: usize = 200;

impl Router {
    /// Returns the hints for a message: updates the view, reads the message, searches the index and scores the results.
    ///
    /// # Errors
    /// `NotFound` if the space does not exist; the error of a store that failed. If the index or the embedder fails,
    /// the result is only degraded.
    pub async fn recall_hints(&self, mut request: RecallV1) -> Result<RecalledV1, Error> {
        request.limit = request.limit.min(super::LIMIT_MAX);
        let mut log = Log::default();
        let start = Instant::now();
        let snapshot = self.read_space(&request.space).await?;
        request.chosen.truncate(CHOSEN_MAX);
        request.chosen = snapshot.memory.first_turns_of_units(&request.chosen);
        log.add_step("sync", start);
        let start = Instant::now();
        let (view, recall_request) = (Arc::clone(&snapshot.view), request.clone());
        let gists = Arc::clone(&snapshot.gists);
        let read = tokio::task::spawn_blocking(move || {
            let scope = Scope::from_filter(&view, &gists, &recall_request.labels);
            (
                RecallMessage::from_message(&recall_request.message, &view, recall_request.at),
                scope,
            )
        });
        let (mut message, scope) = read.instrument(info_span!("read")).await.map_err(to_port_error)?;
        log.add_step("read", start);
        if message.is_small_talk() {
            return Ok(RecalledV1 {
                steps: log.steps,
                ..RecalledV1::default()
            });
        }
        let start = Instant::now();
        let recall_request = super::overlap::ranking_request(&request);
        let found = self
            .search_index(&recall_request, &snapshot, scope.as_ref(), &mut message.query, &mut log)
            .instrument(info_span!("search"))
            .await;
        log.add_step("search", start);
        let start = Instant::now();
        let weights = Arc::clone(self.weights());
        let weighed = tokio::task::spawn_blocking(move || {
            let known = snapshot
                .memory
                .known_at(Some(moment_before(request.at)))
                .with_scope(scope.as_ref());
            recall_hints(&snapshot.view, known, &message, &found.turns, &request, &weights)
        });
        let mut response = weighed.instrument(info_span!("weigh")).await.map_err(to_port_error)?;
        log.add_step("weigh", start);
        (response.steps, response.degraded) = (log.steps, log.degraded);
        response.degraded_codes = log.degraded_codes;
        Ok(response)
    }
}
