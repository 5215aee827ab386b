//! Goes through the spaces of the webhooks in rounds, and queues the events in them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use domain::id::SpaceId;
use domain::port::SpaceInfo;
use domain::{Classify, ErrorKind, PortError};
use host::clock;
use tokio::time::{Instant, sleep};
use tracing::{debug, warn};

use super::delivery::Hook;
use super::receivers::Receivers;
use super::space_event::SpaceEvent;
use super::space_watch::Watch;
use crate::api::problem::Problem;
use crate::app::keys::access;
use crate::app::seal::Sealer;
use crate::app::state::App;

/// Maximum number of spaces over all webhooks; further spaces are skipped.
const SPACES_MAX: usize = 20_000;
/// Number of spaces read in one step.
const AT_ONCE: usize = 1_000;
/// The pause after a round is this multiple of the duration of the round: polling takes at most an eleventh of the
/// time.
const REST: u32 = 10;
/// Pause after a round that failed because a store was not available.
const PAUSE_AWAY: Duration = Duration::from_secs(5);
/// Longest pause between two rounds.
const PAUSE_MAX: Duration = Duration::from_secs(60);

/// State of the spaces of all webhooks.
#[derive(Default)]
struct Rounds {
    watches: BTreeMap<SpaceId, Watch>,
    /// Patterns whose spaces were all read in the last round; spaces that appear later are new.
    covered: Vec<String>,
    /// Whether the warning about too many spaces was logged.
    warned: bool,
}

/// Inputs of one round.
#[derive(Clone, Copy)]
struct Round<'a> {
    app: &'a App,
    sealer: &'a Sealer,
    receivers: &'a Receivers,
}

/// Sends events to the receivers in the settings and to the webhooks of the store, until shutdown. Unsent events are
/// then dropped.
pub(crate) async fn send_all(app: App, hooks: Vec<Arc<Hook>>) {
    if hooks.is_empty() && !app.config.mem0.enabled {
        return;
    }
    let mut receivers = Receivers::start_configured(&app, hooks);
    let poll = Duration::from_millis(app.config.events.poll_ms);
    let all = async {
        let mut rounds = Rounds::default();
        loop {
            receivers.refresh_stored_webhooks(&app).await;
            let started = Instant::now();
            let outcome = rounds.run_round(&app, &receivers).await;
            let mut pause = (started.elapsed() * REST).clamp(poll, PAUSE_MAX.max(poll));
            if let Err(problem) = outcome {
                debug!(
                    status = problem.status,
                    "a round through the spaces of webhooks ended early"
                );
                pause = pause.max(PAUSE_AWAY);
            }
            tokio::select! {
                () = sleep(receivers.idle_pause().unwrap_or(pause)) => {}
                () = app.webhooks_changed.notified() => receivers.note_change(),
            }
        }
    };
    app.context.shutdown.run_until_cancelled(all).await;
}

impl Rounds {
    /// Reads every space once.
    async fn run_round(&mut self, app: &App, receivers: &Receivers) -> Result<(), Problem> {
        let patterns = receivers.space_patterns();
        self.watches
            .retain(|space, _| access::is_opened(&patterns, space.as_str()));
        if !patterns.is_empty() {
            let sealer = app.sealer().await?;
            let round = Round { app, sealer, receivers };
            self.look_at_all(round, &patterns).await?;
        }
        self.covered = patterns;
        Ok(())
    }

    async fn look_at_all(&mut self, round: Round<'_>, patterns: &[String]) -> Result<(), PortError> {
        let spaces = self.list_spaces_of_patterns(round.app, patterns).await?;
        let mut missing_spaces: BTreeSet<SpaceId> = self.watches.keys().cloned().collect();
        for info in spaces {
            missing_spaces.remove(&info.space);
            self.poll_space(round, &info.space.clone(), Some(info)).await?;
        }
        for space in missing_spaces {
            self.poll_space(round, &space, None).await?;
        }
        self.watches.retain(|_, it| !it.is_over());
        Ok(())
    }

    /// Reads one space and queues its events. An error that concerns only this space does not end the round.
    async fn poll_space(
        &mut self,
        round: Round<'_>,
        space: &SpaceId,
        info: Option<SpaceInfo>,
    ) -> Result<(), PortError> {
        if let Some(info) = &info
            && !self.watches.contains_key(space)
        {
            let is_new =
                access::is_opened(&self.covered, space.as_str()) || round.receivers.is_space_newer_than_webhook(info);
            let watch = match is_new {
                true => Watch::from_creation(info),
                false => Watch::from_now(info, clock::now()),
            };
            self.watches.insert(space.clone(), watch);
        }
        let Some(watch) = self.watches.get_mut(space) else {
            return Ok(());
        };
        let mut found = Vec::new();
        let outcome = watch.poll_events(round.app, info, &mut found).await;
        for notice in &found {
            if let Err(problem) = round.queue_event(space, notice) {
                warn!(status = problem.status, "an event cannot be written");
            }
        }
        match outcome {
            Err(error) if !matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::Timeout) => {
                debug!(%space, error = &error as &dyn std::error::Error, "a space of webhooks cannot be polled");
                Ok(())
            }
            outcome => outcome,
        }
    }

    /// Returns the spaces of the patterns, at most [`SPACES_MAX`].
    async fn list_spaces_of_patterns(&mut self, app: &App, patterns: &[String]) -> Result<Vec<SpaceInfo>, PortError> {
        let records = &app.stores().records;
        let mut found: Vec<SpaceInfo> = Vec::new();
        for pattern in patterns {
            let Some(prefix) = pattern.strip_suffix('*') else {
                if let Ok(name) = pattern.parse() {
                    found.extend(records.space(&name).await?);
                }
                continue;
            };
            let mut after: Option<SpaceId> = None;
            loop {
                if found.len() >= SPACES_MAX {
                    self.warn_once_of_too_many_spaces();
                    return Ok(found);
                }
                let page = records.spaces_under(prefix, after.as_ref(), AT_ONCE).await?;
                let is_last = page.len() < AT_ONCE;
                after = page.last().map(|it| it.space.clone());
                found.extend(page);
                if is_last {
                    break;
                }
            }
        }
        Ok(found)
    }

    fn warn_once_of_too_many_spaces(&mut self) {
        if !self.warned {
            self.warned = true;
            warn!(
                spaces_max = SPACES_MAX,
                "webhooks have too many spaces: events of the others are not sent"
            );
        }
    }
}

impl Round<'_> {
    /// Queues an event for every webhook that receives it.
    fn queue_event(self, space: &SpaceId, notice: &SpaceEvent) -> Result<(), Problem> {
        let mut wanting = self.receivers.hooks_for_event(space, notice.what.kind()).peekable();
        if wanting.peek().is_none() {
            return Ok(());
        }
        let id = notice.message_id(self.sealer, space)?;
        let event = notice.to_event(self.sealer, space)?;
        let body = serde_json::to_string(&event).map_err(|_| Problem::internal_error())?;
        for hook in wanting {
            hook.queue_event(&self.app.context.metrics, id.clone(), body.clone());
        }
        Ok(())
    }
}
