//! Webhooks of the API.

use chrono::{DateTime, TimeDelta, Utc};
use domain::ErrorKind;
use domain::id::WebhookId;
use domain::webhook::{StoredWebhook, WEBHOOKS_MAX, WebhookEvent};

use super::{Ports, error_kind, sample};

/// Returns noon in whole milliseconds, the precision in which times of webhooks are stored.
fn noon() -> DateTime<Utc> {
    DateTime::from_timestamp_millis(sample::noon().timestamp_millis()).unwrap()
}

fn sample_webhook(name: &str) -> StoredWebhook {
    StoredWebhook {
        id: WebhookId::from_name_and_time(name, &noon().to_rfc3339()),
        name: name.to_owned(),
        url: format!("https://example.com/hook?token={name}"),
        spaces: vec!["user-*".to_owned(), "team".to_owned()],
        events: vec![WebhookEvent::Searchable, WebhookEvent::Erased],
        secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".to_owned(),
        by: "the owner's \"key\"".to_owned(),
        created_at: noon(),
        updated_at: noon(),
    }
}

fn sort_webhooks(mut webhooks: Vec<StoredWebhook>) -> Vec<StoredWebhook> {
    webhooks.sort_by_key(|it| it.id);
    webhooks
}

/// Stored webhooks are listed by id; a removed one is not.
pub async fn webhooks_come_back_by_id(open: impl AsyncFn() -> Ports) {
    let webhooks = open().await.webhooks;
    assert_eq!(webhooks.list().await.unwrap(), []);
    let all = [sample_webhook("a"), sample_webhook("b"), sample_webhook("c")];
    for it in &all {
        webhooks.create(it).await.unwrap();
    }
    assert_eq!(webhooks.list().await.unwrap(), sort_webhooks(all.to_vec()));
    assert!(webhooks.remove(all[1].id).await.unwrap());
    assert!(!webhooks.remove(all[1].id).await.unwrap(), "it is gone");
    let [a, _, c] = all;
    assert_eq!(webhooks.list().await.unwrap(), sort_webhooks(vec![a, c]));
}

/// If two webhooks have one id, the first stays. The same webhook may be created again, because a call may be
/// repeated.
pub async fn an_id_is_taken_once(open: impl AsyncFn() -> Ports) {
    let webhooks = open().await.webhooks;
    webhooks.create(&sample_webhook("a")).await.unwrap();
    webhooks.create(&sample_webhook("a")).await.unwrap();
    let other = StoredWebhook {
        by: "somebody else".to_owned(),
        ..sample_webhook("a")
    };
    assert_eq!(error_kind(webhooks.create(&other).await), Some(ErrorKind::Conflict));
    assert_eq!(webhooks.list().await.unwrap(), [sample_webhook("a")]);
}

/// A webhook is replaced as a whole. Replacing an unknown webhook creates nothing.
pub async fn a_replaced_webhook_is_another_one(open: impl AsyncFn() -> Ports) {
    let webhooks = open().await.webhooks;
    assert!(!webhooks.replace(&sample_webhook("a")).await.unwrap());
    assert_eq!(webhooks.list().await.unwrap(), []);
    webhooks.create(&sample_webhook("a")).await.unwrap();
    let changed = StoredWebhook {
        name: "another name".to_owned(),
        events: vec![WebhookEvent::Organised],
        updated_at: noon() + TimeDelta::hours(1),
        ..sample_webhook("a")
    };
    assert!(webhooks.replace(&changed).await.unwrap());
    assert_eq!(webhooks.list().await.unwrap(), [changed]);
}

/// When the bound is reached, a new webhook is rejected until one is removed.
pub async fn the_number_of_webhooks_is_bounded(open: impl AsyncFn() -> Ports) {
    let webhooks = open().await.webhooks;
    for number in 0..WEBHOOKS_MAX {
        webhooks.create(&sample_webhook(&number.to_string())).await.unwrap();
    }
    let over = webhooks.create(&sample_webhook("over")).await;
    assert_eq!(error_kind(over), Some(ErrorKind::Conflict));
    assert_eq!(webhooks.list().await.unwrap().len(), WEBHOOKS_MAX);
    webhooks.create(&sample_webhook("0")).await.unwrap();
    assert!(webhooks.remove(sample_webhook("0").id).await.unwrap());
    webhooks.create(&sample_webhook("over")).await.unwrap();
}

/// Webhooks survive a restart.
pub async fn webhooks_survive(open: impl AsyncFn() -> Ports) {
    let ports = open().await;
    ports.webhooks.create(&sample_webhook("a")).await.unwrap();
    ports.webhooks.create(&sample_webhook("b")).await.unwrap();
    assert!(ports.webhooks.remove(sample_webhook("b").id).await.unwrap());
    drop(ports);
    assert_eq!(open().await.webhooks.list().await.unwrap(), [sample_webhook("a")]);
}
