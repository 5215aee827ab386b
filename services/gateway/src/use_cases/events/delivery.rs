//! Sends events to receivers. Each has its own queue and workers, so a receiver that does not respond delays no
//! other.

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use domain::id::SpaceId;
use domain::webhook::{StoredWebhook, WebhookEvent};
use host::Metrics;
use host::metrics::WebhookOutcome;
use host::relay::Secret;
use host::webhook::{Message, Reply, Target, TargetError, Webhook};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tracing::{debug, warn};

use super::queue::{Outgoing, Queue, Queued};
use crate::api::EventKind;
use crate::app::config::{WEBHOOKS_MAX, WebhookReach, WebhookSettings};
use crate::app::keys::access;

/// Longest pause before a retry, also if the receiver asks for a longer one.
const PAUSE_MAX: Duration = Duration::from_secs(3_600);
/// Maximum size of a secret file in bytes.
const SECRET_FILE_BYTES_MAX: u64 = 4_096;

/// A receiver and its queue.
pub(crate) struct Hook {
    settings: WebhookSettings,
    webhook: Webhook,
    queue: Queue,
}

/// Opens the receivers in the settings; sending does not start yet.
///
/// # Errors
/// Settings that cannot be used.
pub(crate) fn open_hooks(settings: &[WebhookSettings]) -> anyhow::Result<Vec<Arc<Hook>>> {
    ensure!(
        settings.len() <= WEBHOOKS_MAX,
        "[[gateway.webhooks]] has more than {WEBHOOKS_MAX} webhooks"
    );
    let mut hooks: Vec<Arc<Hook>> = Vec::with_capacity(settings.len());
    for it in settings {
        if hooks.iter().any(|known| known.settings.name == it.name) {
            bail!(
                "[[gateway.webhooks]] has two webhooks with the name `{}`: give each one a name of its own",
                it.name
            );
        }
        hooks.push(Arc::new(Hook::open_configured(it)?));
    }
    Ok(hooks)
}

impl Hook {
    fn open_configured(settings: &WebhookSettings) -> anyhow::Result<Hook> {
        settings.check_settings()?;
        let name = &settings.name;
        let secret = match settings.secret_file.as_os_str().is_empty() {
            true => settings.secret.clone(),
            false => secret_of(&settings.secret_file)
                .with_context(|| format!("[[gateway.webhooks]] `{name}`: secret_file cannot be read"))?,
        };
        let opened = Hook::from_settings(WebhookSettings {
            secret,
            ..settings.clone()
        });
        opened.with_context(|| format!("[[gateway.webhooks]] `{name}`"))
    }

    /// Returns the receiver for a webhook that was created through an API; sending does not start yet.
    ///
    /// # Errors
    /// The reason why events cannot be sent there.
    pub(crate) fn of_stored(stored: &StoredWebhook, reach: WebhookReach) -> Result<Hook, TargetError> {
        let kind = |it: &WebhookEvent| match it {
            WebhookEvent::Searchable => EventKind::Searchable,
            WebhookEvent::Organised => EventKind::Organised,
            WebhookEvent::Erased => EventKind::Erased,
        };
        Hook::from_settings(WebhookSettings {
            name: stored.id.to_string(),
            url: stored.url.clone(),
            spaces: stored.spaces.clone(),
            kinds: stored.events.iter().map(kind).collect(),
            secret: Secret::from(stored.secret.as_str()),
            allow_http: reach.allow_http,
            allow_private: reach.allow_private,
            ..WebhookSettings::default()
        })
    }

    fn from_settings(settings: WebhookSettings) -> Result<Hook, TargetError> {
        let target = Target {
            url: settings.url.clone(),
            secret: settings.secret.clone(),
            allow_http: settings.allow_http,
            allow_private: settings.allow_private,
            timeout: Duration::from_millis(settings.timeout_ms),
        };
        Ok(Hook {
            webhook: Webhook::new(&target)?,
            queue: Queue::new(settings.queue_max),
            settings,
        })
    }

    /// Returns the patterns of the spaces whose events it gets.
    pub(super) fn space_patterns(&self) -> &[String] {
        &self.settings.spaces
    }

    /// Returns true if it gets events of this kind and space.
    pub(super) fn wants_event(&self, space: &SpaceId, kind: EventKind) -> bool {
        self.settings.kinds.contains(&kind) && access::is_opened(&self.settings.spaces, space.as_str())
    }

    /// Queues an event.
    pub(super) fn queue_event(&self, metrics: &Metrics, id: String, body: String) {
        count_queued(metrics, self.queue.push(id, body));
    }

    /// Starts the workers; they run until the tasks are dropped.
    pub(super) fn start_workers(self: &Arc<Hook>, metrics: &Metrics, tasks: &mut JoinSet<()>) {
        for _ in 0..self.settings.in_flight_max {
            let (hook, metrics) = (Arc::clone(self), metrics.clone());
            tasks.spawn(async move {
                loop {
                    let outgoing = hook.queue.pop_when_due().await;
                    hook.attempt_delivery(outgoing, &metrics).await;
                }
            });
        }
    }

    async fn attempt_delivery(&self, mut outgoing: Outgoing, metrics: &Metrics) {
        outgoing.attempts += 1;
        let message = Message {
            id: &outgoing.id,
            at: host::clock::now(),
            body: &outgoing.body,
        };
        let (hook, event) = (self.settings.name.as_str(), outgoing.id.as_str());
        let pause = match self.webhook.send_message(&message).await {
            Reply::Taken => {
                metrics.count_webhook_events(WebhookOutcome::Delivered, 1);
                return;
            }
            Reply::Gone => {
                let dropped = self.queue.stop_and_clear();
                metrics.count_webhook_events(WebhookOutcome::Stopped, dropped + 1);
                warn!(
                    hook,
                    dropped,
                    "the receiver refuses further events (410), so none are sent to it until this process restarts"
                );
                return;
            }
            Reply::Refused { status, retry_after } => {
                debug!(hook, event, status, "a webhook was refused");
                retry_after
            }
            Reply::Away(reason) => {
                debug!(hook, event, reason, "a webhook got no answer");
                None
            }
        };
        if outgoing.attempts > self.settings.retries_max {
            metrics.count_webhook_events(WebhookOutcome::GivenUp, 1);
            let attempts = outgoing.attempts;
            warn!(
                hook,
                event, attempts, "an event is dropped because its receiver does not accept it"
            );
            return;
        }
        metrics.count_webhook_events(WebhookOutcome::Retried, 1);
        let first = Duration::from_millis(self.settings.retry_ms);
        // Without a random number the pause is not shortened.
        let chance = host::random::generate_number().unwrap_or(0);
        let wait = retry_pause(first, outgoing.attempts, chance).max(pause.unwrap_or_default().min(PAUSE_MAX));
        count_queued(metrics, self.queue.push_due_at(outgoing, Instant::now() + wait));
    }
}

fn count_queued(metrics: &Metrics, queued: Queued) {
    match queued {
        Queued::Waits => {}
        Queued::OldestDropped => metrics.count_webhook_events(WebhookOutcome::Dropped, 1),
        Queued::Stopped => metrics.count_webhook_events(WebhookOutcome::Stopped, 1),
    }
}

/// Returns the pause after attempt `attempt`, counted from 1: `first`, doubled with each further attempt, at most
/// [`PAUSE_MAX`], and shortened by up to half of it, depending on the random number `chance`.
fn retry_pause(first: Duration, attempt: u32, chance: u64) -> Duration {
    let doubled = first.saturating_mul(1_u32.checked_shl(attempt.saturating_sub(1)).unwrap_or(u32::MAX));
    let half = doubled.min(PAUSE_MAX) / 2;
    // 24 random bits are enough, and `f64` represents them exactly.
    let share = f64::from(u32::try_from(chance >> 40).unwrap_or(0)) / f64::from(1_u32 << 24);
    half + half.mul_f64(share)
}

/// Reads a secret from a file.
fn secret_of(path: &Path) -> std::io::Result<Secret> {
    let mut text = String::new();
    let file = std::fs::File::open(path)?;
    file.take(SECRET_FILE_BYTES_MAX).read_to_string(&mut text)?;
    Ok(Secret::from(text.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_an_hour_and_are_shortened_by_up_to_half() {
        let first = Duration::from_secs(1);
        for (attempt, most) in [(1, 1), (2, 2), (3, 4), (10, 512), (13, 3_600), (21, 3_600), (40, 3_600)] {
            let most = Duration::from_secs(most);
            assert_eq!(retry_pause(first, attempt, 0), most / 2, "{attempt}");
            let longest = retry_pause(first, attempt, u64::MAX);
            assert!(
                longest <= most && longest > most.mul_f64(0.99),
                "{attempt}: {longest:?}"
            );
        }
        let middle = retry_pause(first, 2, u64::MAX / 2);
        assert!((1_499..=1_501).contains(&middle.as_millis()), "{middle:?}");
    }

    fn webhook_settings(name: &str) -> WebhookSettings {
        WebhookSettings {
            name: name.to_owned(),
            url: "http://example.com/hook".to_owned(),
            allow_http: true,
            spaces: vec!["team-*".to_owned(), "ann".to_owned()],
            secret: Secret::from("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
            ..WebhookSettings::default()
        }
    }

    #[test]
    fn a_hook_gets_the_kinds_and_spaces_of_its_settings() {
        let hook = Hook::open_configured(&WebhookSettings {
            kinds: vec![EventKind::Erased],
            ..webhook_settings("one")
        });
        let hook = hook.unwrap();
        let wants = |space: &str, kind| hook.wants_event(&space.parse().unwrap(), kind);
        assert!(wants("team-red", EventKind::Erased) && wants("ann", EventKind::Erased));
        assert!(!wants("ann", EventKind::Searchable));
        assert!(!wants("anna", EventKind::Erased) && !wants("team", EventKind::Erased));
    }

    #[test]
    fn settings_that_cannot_be_used_are_errors_that_name_the_hook() {
        let refused = |it: &[WebhookSettings]| match open_hooks(it) {
            Ok(_) => panic!("it was taken"),
            Err(error) => format!("{error:#}"),
        };
        let one = || webhook_settings("one");
        assert!(open_hooks(&[one(), webhook_settings("two")]).is_ok());
        let wrong = |change: fn(&mut WebhookSettings)| {
            let mut it = one();
            change(&mut it);
            refused(&[it])
        };
        for (error, expected) in [
            (wrong(|it| it.spaces.clear()), "`one`: spaces must name"),
            (wrong(|it| it.spaces = vec!["A B".into()]), "`one`: spaces must name"),
            (wrong(|it| it.kinds.clear()), "`one`: kinds is empty"),
            (wrong(|it| it.queue_max = 0), "`one`: queue_max must be 1 to 100000"),
            (wrong(|it| it.secret = "x".into()), "`one`: `secret` must be base64"),
            (wrong(|it| it.secret_file = "/nowhere/at-all".into()), "not both"),
            (wrong(|it| it.allow_http = false), "`one`: `url` is http"),
            (
                wrong(|it| it.url = "http://127.0.0.1/".into()),
                "`one`: `url` leads to an internal address",
            ),
            (wrong(|it| it.name = "a b".into()), "needs a `name`"),
            (refused(&[one(), one()]), "two webhooks with the name `one`"),
        ] {
            assert!(
                error.starts_with("[[gateway.webhooks]]") || error.starts_with("a webhook"),
                "{error}"
            );
            assert!(error.contains(expected), "{error}");
        }
        let missing = wrong(|it| {
            it.secret = Secret::default();
            it.secret_file = "/nowhere/at-all".into();
        });
        assert!(missing.contains("secret_file cannot be read"), "{missing}");
    }
}
