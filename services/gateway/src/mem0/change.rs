//! Read, update, history and erasure of one memory, and the same for many memories at once.

use std::collections::{BTreeMap, BTreeSet};

use axum::extract::State;
use axum::{Extension, Json};
use domain::id::{RecordId, SpaceId, UnitId};
use domain::port::{Room, Selection};
use domain::record::Record;
use host::metrics::Operation;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::add::{Change, expiration};
use super::errors::beyond;
use super::filter::Filter;
use super::list::{as_fields, filter_of, gather, spaces_to_search};
use super::locate::{self, Found};
use super::memory::{EXPIRATION, same_part};
use super::request::{self, Fields, field, moment};
use super::scope::RESERVED;
use crate::auth::Access;
use crate::config::Right;
use crate::extract::{At, ObjectBody, Params};
use crate::filling::PAGE_BYTES_MAX;
use crate::problem::Problem;
use crate::state::App;
use crate::versions::{self, Update};
use crate::{curate, watermark};

/// Maximum number of memories that one request changes.
const BATCH_MAX: usize = 1_000;
/// Number of records erased in one step, and number of steps of one request.
const ERASED_AT_ONCE: usize = 1_000;
const STEPS_MAX: usize = 10;

pub(super) async fn get(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At(id): At<String>,
) -> Result<Json<Value>, Problem> {
    let found = locate::memory(&app, &access, Right::Read, &id).await?;
    Ok(Json(Value::Object(found.memory.show())))
}

pub(super) async fn put(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At(id): At<String>,
    ObjectBody(fields): ObjectBody<Fields>,
) -> Result<Json<Value>, Problem> {
    let found = locate::memory(&app, &access, Right::Write, &id).await?;
    let accepted = update(&app, &access, &found, &fields).await?;
    let position = watermark::parse(&app, &found.space, &accepted).await?;
    let done = Change::wait(&app, &found.space, position).await?;
    // The current state; if the writer is behind, an earlier one.
    let found = locate::memory(&app, &access, Right::Write, &id).await?;
    let mut shown = found.memory.show();
    shown.insert("text".to_owned(), json!(found.memory.record.text));
    shown.insert("event_id".to_owned(), json!(done.event_id));
    shown.insert("status".to_owned(), json!(done.status()));
    shown.insert("message".to_owned(), json!(done.message("The memory is updated")));
    Ok(Json(Value::Object(shown)))
}

/// Puts a new version of the record of a memory; returns its watermark.
async fn update(app: &App, by: &Access, found: &Found, fields: &Fields) -> Result<String, Problem> {
    let given = ["text", "memory", "data"]
        .into_iter()
        .find(|it| field(fields, it).is_some());
    let text = request::text(fields, given.unwrap_or("text"))?;
    let metadata = request::metadata(fields)?;
    let ends = expiration(fields)?;
    let at = field(fields, "timestamp").map(moment).transpose();
    let at = at.map_err(|error| Problem::invalid(format!("timestamp: {error}")))?;
    if text.is_none() && metadata.is_none() && ends.is_none() && at.is_none() {
        return Err(Problem::invalid(
            "text: is missing; text, metadata, timestamp or expiration_date is needed",
        ));
    }
    let record = &found.memory.record;
    if text.is_some() {
        let second = UnitId::part(record.id, 1);
        if !app.stores().graph.units(&found.space, &[second]).await?.is_empty() {
            return Err(Problem::conflict(
                "the memory is part of a longer message, all of which the new text would replace; delete the memory and add \
                 the message anew",
            ));
        }
    }
    let said = said(record, text, metadata, ends);
    let said = match at {
        Some(at) => with(said, "observed_at", json!(at)),
        None => said,
    };
    let accepted = versions::put(app, by, &found.space, found.name(), Update { said, must_exist: true }).await?;
    Ok(accepted.watermark)
}

/// Returns the content of a new version; fields that are missing keep their values.
fn said(
    record: &Record,
    text: Option<&str>,
    metadata: Option<Vec<(String, String)>>,
    ends: Option<Option<String>>,
) -> Map<String, Value> {
    let before = record.metadata.clone().into_iter();
    let mut kept: BTreeMap<String, String> = match metadata {
        Some(given) => before
            .filter(|(name, _)| name.starts_with(RESERVED))
            .chain(given)
            .collect(),
        None => before.collect(),
    };
    match ends {
        Some(Some(day)) => kept.insert(EXPIRATION.to_owned(), day),
        Some(None) => kept.remove(EXPIRATION),
        None => None,
    };
    let mut said = Map::new();
    said.insert("text".to_owned(), json!(text.unwrap_or(&record.text)));
    said.insert("metadata".to_owned(), json!(kept));
    if let (None, Some(tool)) = (text, &record.tool) {
        let tool = json!({"name": tool.name, "arguments": tool.arguments, "result": tool.result});
        said.insert("tool".to_owned(), tool);
    }
    for (name, value) in [
        ("image_caption", &record.image_caption),
        ("image_uri", &record.image_uri),
    ] {
        if let Some(value) = value {
            said.insert(name.to_owned(), json!(value));
        }
    }
    said
}

fn with(mut said: Map<String, Value>, name: &str, value: Value) -> Map<String, Value> {
    said.insert(name.to_owned(), value);
    said
}

pub(super) async fn history(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At(id): At<String>,
) -> Result<Json<Value>, Problem> {
    let found = locate::memory(&app, &access, Right::Read, &id).await?;
    let memory = &found.memory;
    let unit = |it: &Record| same_part(memory.unit.id, memory.record.id, it.id);
    let ids: Vec<UnitId> = found.versions.iter().map(unit).collect();
    let units = app.stores().graph.units(&found.space, &ids).await?;
    let told: BTreeMap<UnitId, String> = units.into_iter().map(|it| (it.id, it.summary)).collect();
    let mut before: Option<String> = None;
    let mut all = Vec::new();
    for version in &found.versions {
        let new = told.get(&unit(version)).filter(|it| !it.is_empty());
        let new = new.unwrap_or(&version.text).clone();
        let mut shown = Map::new();
        memory.entities.show(&mut shown);
        let own = version.metadata.iter().filter(|(name, _)| !name.starts_with(RESERVED));
        for (name, value) in [
            ("id", json!(version.id)),
            ("memory_id", json!(memory.id)),
            ("input", json!([{"role": version.actor, "content": version.text}])),
            ("event", json!(if before.is_some() { "UPDATE" } else { "ADD" })),
            ("old_memory", json!(before)),
            ("new_memory", json!(new)),
            ("metadata", json!(own.collect::<BTreeMap<_, _>>())),
            ("created_at", json!(memory.created_at)),
            ("updated_at", json!(version.observed_at)),
        ] {
            shown.insert(name.to_owned(), value);
        }
        all.push(Value::Object(shown));
        before = Some(new);
    }
    Ok(Json(Value::Array(all)))
}

pub(super) async fn delete(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At(id): At<String>,
) -> Result<Json<Value>, Problem> {
    let found = locate::memory(&app, &access, Right::Admin, &id).await?;
    let records: Vec<RecordId> = found.versions.iter().map(|it| it.id).collect();
    let done = erase(&app, &access, &found.space, &records).await?;
    Ok(Json(json!({
        "message": done.message("Memory deleted successfully"),
        "event_id": done.event_id,
        "status": done.status(),
    })))
}

/// Erases at least one record of a space, with everything that derives only from these records.
async fn erase(app: &App, access: &Access, space: &SpaceId, records: &[RecordId]) -> Result<Change, Problem> {
    let started = Instant::now();
    let outcome = async {
        let mut last = None;
        for some in records.chunks(ERASED_AT_ONCE) {
            last = Some(curate::erase(app, space, some, access.name()).await?.position);
        }
        Change::wait(app, space, last.ok_or_else(Problem::internal)?).await
    };
    let outcome = outcome.await;
    app.context
        .metrics
        .operation(Operation::Delete, outcome.is_ok(), started.elapsed());
    outcome
}

/// Erases all memories that match a filter, within the limits of one request.
pub(super) async fn delete_all(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    Params(params): Params<BTreeMap<String, String>>,
) -> Result<Json<Value>, Problem> {
    let filter = filter_of(&as_fields(params))?;
    let spaces = spaces_to_search(&app, &access, &filter, Right::Admin).await?;
    let mut steps = STEPS_MAX;
    let (mut deleted, mut is_left, mut event_id) = (0, false, None);
    for space in &spaces {
        if app.stores().records.space(space).await?.is_none() {
            continue;
        }
        loop {
            let (records, has_more) = records_to_erase(&app, space, &filter).await?;
            if records.is_empty() {
                break;
            }
            if steps == 0 {
                is_left = true;
                break;
            }
            steps -= 1;
            let done = erase(&app, &access, space, &records).await?;
            deleted += records.len();
            let is_done = done.status() == "SUCCEEDED";
            event_id = Some(done.event_id);
            // Data whose erasure is not complete would be found again.
            if !has_more || !is_done {
                is_left |= has_more;
                break;
            }
        }
    }
    let message = if is_left {
        format!("{deleted} records are deleted; there are more, so send the request again")
    } else {
        "Memories deleted successfully!".to_owned()
    };
    Ok(Json(
        json!({"message": message, "event_id": event_id, "deleted": deleted, "more": is_left}),
    ))
}

/// Returns the records to erase in one step, and whether more remain.
async fn records_to_erase(app: &App, space: &SpaceId, filter: &Filter) -> Result<(Vec<RecordId>, bool), Problem> {
    if filter.is_scope_alone() {
        let room = Room {
            items: ERASED_AT_ONCE,
            bytes: PAGE_BYTES_MAX,
        };
        let (found, next) = app
            .stores()
            .records
            .select(space, &Selection::default(), 0, room)
            .await?;
        return Ok((found.into_iter().map(|it| it.id).collect(), next.is_some()));
    }
    let found = gather(app, std::slice::from_ref(space), filter).await?;
    let names: BTreeSet<&str> = found.memories.iter().map(|it| first_name(&it.record)).collect();
    let is_cut = found.is_cut || names.len() > ERASED_AT_ONCE;
    let mut records = Vec::new();
    for name in names {
        if records.len() >= ERASED_AT_ONCE {
            break;
        }
        records.extend(versions::stored(app, space, name).await?.into_iter().map(|it| it.id));
    }
    Ok((records, is_cut))
}

fn first_name(record: &Record) -> &str {
    record.version.as_ref().map_or(&record.external_id, |it| &it.of)
}

pub(super) async fn put_batch(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    ObjectBody(fields): ObjectBody<Fields>,
) -> Result<Json<Value>, Problem> {
    let all = batch(&fields)?;
    let mut found = Vec::new();
    // All memories are located before the first one is changed.
    for change in &all {
        found.push(locate::memory(&app, &access, Right::Write, id_of(change)?).await?);
    }
    let mut last = None;
    for (found, change) in found.iter().zip(&all) {
        last = Some((&found.space, update(&app, &access, found, change).await?));
    }
    if let Some((space, watermark)) = last {
        Change::wait(&app, space, watermark::parse(&app, space, &watermark).await?).await?;
    }
    Ok(Json(
        json!({"message": format!("Successfully updated {} memories", all.len())}),
    ))
}

pub(super) async fn delete_batch(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    ObjectBody(fields): ObjectBody<Fields>,
) -> Result<Json<Value>, Problem> {
    let all = batch(&fields)?;
    let mut by_space: BTreeMap<SpaceId, BTreeSet<RecordId>> = BTreeMap::new();
    for change in &all {
        let found = locate::memory(&app, &access, Right::Admin, id_of(change)?).await?;
        let records = by_space.entry(found.space).or_default();
        records.extend(found.versions.iter().map(|it| it.id));
    }
    for (space, records) in &by_space {
        let records: Vec<RecordId> = records.iter().copied().collect();
        erase(&app, &access, space, &records).await?;
    }
    Ok(Json(
        json!({"message": format!("Successfully deleted {} memories", all.len())}),
    ))
}

/// Parses the changes of a batch.
fn batch(fields: &Fields) -> Result<Vec<Fields>, Problem> {
    let given = ["memories", "memory_ids"].into_iter().find_map(|it| field(fields, it));
    let all = given
        .and_then(Value::as_array)
        .ok_or_else(|| Problem::invalid("memories: is missing, or is not a list"))?;
    if all.is_empty() || all.len() > BATCH_MAX {
        return Err(beyond(format!("memories: are not 1 to {BATCH_MAX}")));
    }
    let change = |it: &Value| match it {
        Value::Object(fields) => Ok(fields.clone()),
        Value::String(id) => Ok(Map::from_iter([("memory_id".to_owned(), json!(id))])),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            Err(Problem::invalid("memories: one of them is not an object"))
        }
    };
    all.iter().map(change).collect()
}

fn id_of(change: &Fields) -> Result<&str, Problem> {
    let given = ["memory_id", "id"].into_iter().find(|it| field(change, it).is_some());
    request::text(change, given.unwrap_or("memory_id"))?
        .ok_or_else(|| Problem::invalid("memories: one of them has no memory_id"))
}
