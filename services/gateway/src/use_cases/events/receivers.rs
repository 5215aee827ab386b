//! The receivers of events: those in the settings, and those in the store, which authorized callers may change at any
//! time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::id::{SpaceId, WebhookId};
use domain::port::SpaceInfo;
use domain::webhook::StoredWebhook;
use host::clock;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tracing::{debug, warn};

use super::delivery::Hook;
use crate::api::EventKind;
use crate::app::keys::access;
use crate::app::state::App;

/// The list of webhooks in the store is reused for this many pauses between two polls, and at most for the time below,
/// unless this gateway changes it.
const LOOKS: u32 = 10;
const STORED_FOR_MAX: Duration = Duration::from_secs(5);

/// All receivers, each with its workers.
pub(super) struct Receivers {
    configured: Vec<Arc<Hook>>,
    stored: BTreeMap<WebhookId, ReceiverState>,
    /// Time at which the webhooks were last read from the store; `None` if they have changed since.
    read_at: Option<Instant>,
    stored_for: Duration,
    began_at: DateTime<Utc>,
    /// Workers of the receivers in the settings; they end with this value.
    _sending: JoinSet<()>,
}

/// A webhook in the store.
struct ReceiverState {
    webhook: StoredWebhook,
    /// `None` if the settings of this gateway refuse its address.
    hook: Option<Arc<Hook>>,
    /// Workers of the webhook; they end when this value is dropped.
    _sending: JoinSet<()>,
}

impl Receivers {
    /// Starts the workers of the receivers in the settings.
    pub(super) fn start_configured(app: &App, hooks: Vec<Arc<Hook>>) -> Receivers {
        let mut sending = JoinSet::new();
        for hook in &hooks {
            hook.start_workers(&app.context.metrics, &mut sending);
        }
        Receivers {
            configured: hooks,
            stored: BTreeMap::new(),
            read_at: None,
            stored_for: (Duration::from_millis(app.config.events.poll_ms) * LOOKS).min(STORED_FOR_MAX),
            began_at: clock::now(),
            _sending: sending,
        }
    }

    /// Makes the next [`Receivers::refresh_stored_webhooks`] read the store.
    pub(super) fn note_change(&mut self) {
        self.read_at = None;
    }

    /// Updates the webhooks from the store. If the store is not available, the known webhooks stay.
    pub(super) async fn refresh_stored_webhooks(&mut self, app: &App) {
        let is_fresh = self.read_at.is_some_and(|it| it.elapsed() < self.stored_for);
        if is_fresh || !app.config.mem0.enabled {
            return;
        }
        match app.stores().webhooks.list().await {
            Ok(webhooks) => {
                self.read_at = Some(Instant::now());
                self.replace_stored_webhooks(app, webhooks);
            }
            Err(error) => debug!(
                error = &error as &dyn std::error::Error,
                "the webhooks of the store cannot be read"
            ),
        }
    }

    fn replace_stored_webhooks(&mut self, app: &App, webhooks: Vec<StoredWebhook>) {
        let ids: BTreeSet<WebhookId> = webhooks.iter().map(|it| it.id).collect();
        self.stored.retain(|id, _| ids.contains(id));
        for webhook in webhooks {
            let known = self.stored.get(&webhook.id);
            if known.is_none_or(|it| !is_sent_alike(&it.webhook, &webhook)) {
                self.stored
                    .insert(webhook.id, ReceiverState::start_webhook(app, webhook));
            }
        }
    }

    /// Returns the pause if there are no receivers; `None` if there are some.
    pub(super) fn idle_pause(&self) -> Option<Duration> {
        self.all_hooks().next().is_none().then_some(self.stored_for)
    }

    fn all_hooks(&self) -> impl Iterator<Item = &Arc<Hook>> {
        let stored = self.stored.values().filter_map(|it| it.hook.as_ref());
        self.configured.iter().chain(stored)
    }

    /// Returns the receivers that get events of this kind and space.
    pub(super) fn hooks_for_event(&self, space: &SpaceId, kind: EventKind) -> impl Iterator<Item = &Arc<Hook>> {
        self.all_hooks().filter(move |it| it.wants_event(space, kind))
    }

    /// Returns the patterns of all spaces that have receivers, without patterns that others cover.
    pub(super) fn space_patterns(&self) -> Vec<String> {
        let all: BTreeSet<&String> = self.all_hooks().flat_map(|it| it.space_patterns()).collect();
        let is_covered = |pattern: &str| {
            let covers =
                |wide: &str| wide != pattern && wide.strip_suffix('*').is_some_and(|it| pattern.starts_with(it));
            all.iter().any(|it| covers(it))
        };
        all.iter()
            .filter(|it| !is_covered(it))
            .map(|it| (*it).clone())
            .collect()
    }

    /// Returns true if a space was created after a webhook that gets its events, both while this process ran: then no
    /// event of the space was missed.
    pub(super) fn is_space_newer_than_webhook(&self, info: &SpaceInfo) -> bool {
        let mut webhooks = self.stored.values().map(|it| &it.webhook);
        webhooks.any(|it| {
            (self.began_at..=info.created_at).contains(&it.created_at)
                && access::is_opened(&it.spaces, info.space.as_str())
        })
    }
}

impl ReceiverState {
    fn start_webhook(app: &App, webhook: StoredWebhook) -> ReceiverState {
        let mut sending = JoinSet::new();
        let hook = match Hook::of_stored(&webhook, app.config.mem0.webhooks) {
            Ok(hook) => {
                let hook = Arc::new(hook);
                hook.start_workers(&app.context.metrics, &mut sending);
                Some(hook)
            }
            Err(error) => {
                warn!(hook = %webhook.id, %error, "the settings forbid a webhook of the store; it gets no events");
                None
            }
        };
        ReceiverState {
            webhook,
            hook,
            _sending: sending,
        }
    }
}

/// Returns true if two states of a webhook receive the same events in the same way.
fn is_sent_alike(one: &StoredWebhook, other: &StoredWebhook) -> bool {
    one.url == other.url && one.secret == other.secret && one.spaces == other.spaces && one.events == other.events
}
