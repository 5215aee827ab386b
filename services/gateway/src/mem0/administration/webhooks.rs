//! Webhooks that are created through this API. They are kept in the store and receive the events of all users. Their
//! messages and signatures are those of `[[gateway.webhooks]]`.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::SubsecRound as _;
use domain::id::WebhookId;
use domain::webhook::{StoredWebhook, WebhookEvent};
use host::clock;
use serde_json::{Map, Value, json};
use tracing::info;

use crate::api::problem::Problem;
use crate::app::config::Right;
use crate::app::keys::access::Access;
use crate::app::state::App;
use crate::http::extract::{ObjectBody, PathParameters};
use crate::mem0::administration::project::PROJECT;
use crate::mem0::requests::request::{self, Fields, present_field};
use crate::use_cases::events::Hook;
use crate::use_cases::validate;

/// Longest name of a webhook, in bytes.
const NAME_BYTES_MAX: usize = 128;
/// Longest address, in bytes.
const URL_BYTES_MAX: usize = 2_048;
/// Maximum number of event types in one request.
const TYPES_MAX: usize = 16;
/// The event types of mem0, each with the event that is sent for it. The same event says that records are searchable,
/// for new records and for versions.
const TYPES: [(&str, WebhookEvent); 3] = [
    ("memory_add", WebhookEvent::Searchable),
    ("memory_update", WebhookEvent::Searchable),
    ("memory_delete", WebhookEvent::Erased),
];

/// Lists the webhooks, oldest first.
pub(crate) async fn list_webhooks(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters(_project): PathParameters<String>,
) -> Result<Json<Value>, Problem> {
    demand_all_users(&app, &access)?;
    let mut all = app.stores().webhooks.list().await?;
    all.sort_by_key(|it| (it.created_at, it.id));
    Ok(Json(
        all.iter()
            .map(|it| Value::Object(webhook_to_json(it)))
            .collect::<Vec<_>>()
            .into(),
    ))
}

/// Creates a webhook. Only this response contains the secret that signs its events.
pub(crate) async fn create_webhook(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters(_project): PathParameters<String>,
    ObjectBody(fields): ObjectBody<Fields>,
) -> Result<Response, Problem> {
    demand_all_users(&app, &access)?;
    let missing = |field: &str| Problem::invalid_request(format!("{field}: is missing"));
    let name = read_name(&fields)?.ok_or_else(|| missing("name"))?;
    let now = clock::now().trunc_subsecs(3);
    let webhook = StoredWebhook {
        id: WebhookId::from_name_and_time(&name, &now.to_rfc3339()),
        url: read_url(&fields)?.ok_or_else(|| missing("url"))?,
        spaces: vec![format!("{}*", app.config.mem0.space_prefix)],
        events: read_events(&fields)?.ok_or_else(|| missing("event_types"))?,
        secret: format!("whsec_{}", STANDARD.encode(host::random::generate_secret()?)),
        by: access.name().to_owned(),
        created_at: now,
        updated_at: now,
        name,
    };
    check_webhook(&app, &webhook)?;
    let store = &app.stores().webhooks;
    // A repeated request creates no second webhook.
    if store.list().await?.iter().any(|it| it.name == webhook.name) {
        return Err(Problem::conflict(
            "name: another webhook has this name; update or delete that one, or choose another name",
        ));
    }
    store.create(&webhook).await?;
    app.webhooks_changed.notify_one();
    info!(webhook = %webhook.id, by = access.name(), "a webhook was created");
    let mut response = webhook_to_json(&webhook);
    response.insert("secret".to_owned(), json!(webhook.secret));
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(response)).into_response())
}

/// Changes name, address or event types of a webhook; its id and secret stay.
pub(crate) async fn update_webhook(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters(id): PathParameters<String>,
    ObjectBody(fields): ObjectBody<Fields>,
) -> Result<Json<Value>, Problem> {
    demand_all_users(&app, &access)?;
    let id: WebhookId = id.parse().map_err(|_| no_webhook())?;
    let store = &app.stores().webhooks;
    let before = store.list().await?.into_iter().find(|it| it.id == id);
    let before = before.ok_or_else(no_webhook)?;
    let webhook = StoredWebhook {
        name: read_name(&fields)?.unwrap_or(before.name),
        url: read_url(&fields)?.unwrap_or(before.url),
        events: read_events(&fields)?.unwrap_or(before.events),
        updated_at: clock::now().trunc_subsecs(3),
        ..before
    };
    check_webhook(&app, &webhook)?;
    // Another request may have removed it meanwhile.
    if !store.replace(&webhook).await? {
        return Err(no_webhook());
    }
    app.webhooks_changed.notify_one();
    info!(webhook = %id, by = access.name(), "a webhook was changed");
    let mut changed = webhook_to_json(&webhook);
    changed.insert("message".to_owned(), json!("Webhook updated successfully"));
    Ok(Json(Value::Object(changed)))
}

/// Removes a webhook; its queued events are dropped.
pub(crate) async fn delete_webhook(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters(id): PathParameters<String>,
) -> Result<Json<Value>, Problem> {
    demand_all_users(&app, &access)?;
    let id: WebhookId = id.parse().map_err(|_| no_webhook())?;
    if !app.stores().webhooks.remove(id).await? {
        return Err(no_webhook());
    }
    app.webhooks_changed.notify_one();
    info!(webhook = %id, by = access.name(), "a webhook was removed");
    Ok(Json(json!({"message": "Webhook deleted successfully"})))
}

/// Checks that the key may receive the events of every user and may administer their webhooks.
///
/// # Errors
/// 403 unless the key has the right `admin` over the spaces of all users.
fn demand_all_users(app: &App, access: &Access) -> Result<(), Problem> {
    let prefix = &app.config.mem0.space_prefix;
    let mut opened = access.space_patterns().iter().filter_map(|it| it.strip_suffix('*'));
    if access.rights().contains(&Right::Admin) && opened.any(|it| prefix.starts_with(it)) {
        return Ok(());
    }
    Err(Problem::missing_right(Right::Admin).with_detail(format!(
        "webhooks receive the events of all users; use a key with the right `admin` over `{prefix}*`"
    )))
}

/// Checks that events can be sent to a webhook.
fn check_webhook(app: &App, webhook: &StoredWebhook) -> Result<(), Problem> {
    let opened = Hook::of_stored(webhook, app.config.mem0.webhooks);
    opened.map(drop).map_err(|error| {
        let error = error.to_string();
        let section = match error.contains("`allow_") {
            true => " ([gateway.mem0.webhooks] in the settings of the server)",
            false => "",
        };
        Problem::invalid_request(format!("url: {error}{section}"))
    })
}

fn read_name(fields: &Fields) -> Result<Option<String>, Problem> {
    let name = request::text_field(fields, "name")?.map(str::trim);
    if name.is_some_and(str::is_empty) {
        return Err(Problem::invalid_request("name: is empty"));
    }
    validate::check_name("name", name, NAME_BYTES_MAX).map_err(Problem::invalid_request)?;
    Ok(name.map(str::to_owned))
}

fn read_url(fields: &Fields) -> Result<Option<String>, Problem> {
    let url = request::text_field(fields, "url")?.map(str::trim);
    validate::check_name("url", url, URL_BYTES_MAX).map_err(Problem::invalid_request)?;
    Ok(url.map(str::to_owned))
}

/// Returns the events for the event types in a request, sorted, without duplicates; `None` if the field is missing.
fn read_events(fields: &Fields) -> Result<Option<Vec<WebhookEvent>>, Problem> {
    let Some(event_types) = present_field(fields, "event_types") else {
        return Ok(None);
    };
    let event_types = event_types.as_array().filter(|it| (1..=TYPES_MAX).contains(&it.len()));
    let event_types = event_types
        .ok_or_else(|| Problem::invalid_request(format!("event_types: is not a list of 1 to {TYPES_MAX}")))?;
    let event = |it: &Value| {
        let found = TYPES.iter().find(|(name, _)| it == name);
        found.map(|(_, event)| *event).ok_or_else(|| {
            let why = match it.as_str() {
                Some("memory_categorize") => "memories have no categories".to_owned(),
                Some(_) | None => format!("{it} is not a type of event"),
            };
            Problem::invalid_request(format!(
                "event_types: {why}; use memory_add, memory_update and memory_delete"
            ))
        })
    };
    let mut events: Vec<WebhookEvent> = event_types.iter().map(event).collect::<Result<_, _>>()?;
    events.sort_unstable();
    events.dedup();
    Ok(Some(events))
}

/// Returns a webhook in the form of mem0, with all its event types and without its secret.
fn webhook_to_json(webhook: &StoredWebhook) -> Map<String, Value> {
    let types = TYPES.iter().filter(|(_, event)| webhook.events.contains(event));
    let types: Vec<&str> = types.map(|(name, _)| *name).collect();
    let fields = [
        ("webhook_id", json!(webhook.id)),
        ("name", json!(webhook.name)),
        ("url", json!(webhook.url)),
        ("event_types", json!(types)),
        ("project", json!(PROJECT)),
        ("owner", json!(webhook.by)),
        ("is_active", json!(true)),
        ("created_at", json!(webhook.created_at)),
        ("updated_at", json!(webhook.updated_at)),
    ];
    fields
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

fn no_webhook() -> Problem {
    Problem::not_found(
        "there is no webhook with this id; get_webhooks() lists the webhooks, and webhooks of the settings are changed there",
    )
}
