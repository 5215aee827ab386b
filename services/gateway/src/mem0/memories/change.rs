//! Read, update and erasure of one memory, and the same for many memories at once.

use std::collections::{BTreeMap, BTreeSet};

use axum::extract::State;
use axum::{Extension, Json};
use domain::id::{RecordId, SpaceId, UnitId};
use domain::port::{Room, Selection};
use domain::record::Record;
use host::metrics::Operation;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use crate::api::problem::Problem;
use crate::app::config::Right;
use crate::app::keys::access::Access;
use crate::app::state::App;
use crate::app::watermark;
use crate::http::extract::{NoBody, ObjectBody, PathParameters, QueryParameters};
use crate::mem0::filters::filter::Filter;
use crate::mem0::memories::add::{Change, parse_expiration};
use crate::mem0::memories::gather::read_matching_memories;
use crate::mem0::memories::list::{filter_of_erasure, spaces_to_search};
use crate::mem0::memories::locate::{self, FoundMemory};
use crate::mem0::memory::{EXPIRATION, Memory};
use crate::mem0::requests::errors::beyond_bounds_problem;
use crate::mem0::requests::request::{self, Fields, parse_moment, present_field};
use crate::mem0::requests::scope::RESERVED;
use crate::use_cases::lists::list_page::PAGE_BYTES_MAX;
use crate::use_cases::write::curate;
use crate::use_cases::write::versions::{self, Condition, Update};

/// Maximum number of memories that one request changes.
const BATCH_MAX: usize = 1_000;
/// Number of records erased in one step, and number of steps of one request.
const ERASED_AT_ONCE: usize = 1_000;
const STEPS_MAX: usize = 10;

pub(crate) async fn get_memory(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters(id): PathParameters<String>,
) -> Result<Json<Value>, Problem> {
    let found = locate::find_memory(&app, &access, Right::Read, &id).await?;
    Ok(Json(Value::Object(found.memory.to_json())))
}

pub(crate) async fn put_memory(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters(id): PathParameters<String>,
    ObjectBody(fields): ObjectBody<Fields>,
) -> Result<Json<Value>, Problem> {
    let found = locate::find_memory(&app, &access, Right::Write, &id).await?;
    let accepted = put_new_version(&app, &access, &found, &fields).await?;
    let done = wait_for_change(&app, &found.space, &accepted).await?;
    // The current state; if the writer has a backlog, an earlier one.
    let found = locate::find_memory(&app, &access, Right::Write, &id).await?;
    let mut shown = found.memory.to_json();
    shown.insert("text".to_owned(), json!(found.memory.record.text));
    shown.insert("event_id".to_owned(), json!(done.event_id));
    shown.insert("status".to_owned(), json!(done.status_name()));
    shown.insert(
        "message".to_owned(),
        json!(done.completion_message("The memory is updated")),
    );
    Ok(Json(Value::Object(shown)))
}

/// Puts a new version of the record of a memory; returns its watermark.
async fn put_new_version(app: &App, by: &Access, found: &FoundMemory, fields: &Fields) -> Result<String, Problem> {
    let field_name = ["text", "memory", "data"]
        .into_iter()
        .find(|it| present_field(fields, it).is_some());
    let text = request::text_field(fields, field_name.unwrap_or("text"))?;
    let metadata = request::read_metadata(fields)?;
    let ends = parse_expiration(fields)?;
    let at = present_field(fields, "timestamp").map(parse_moment).transpose();
    let at = at.map_err(|error| Problem::invalid_request(format!("timestamp: {error}")))?;
    if text.is_none() && metadata.is_none() && ends.is_none() && at.is_none() {
        return Err(Problem::invalid_request(
            "text: is missing; text, metadata, timestamp or expiration_date is needed",
        ));
    }
    let record = &found.memory.record;
    if text.is_some() {
        let second = UnitId::of_part(record.id, 1);
        if !app.stores().graph.units(&found.space, &[second]).await?.is_empty() {
            return Err(Problem::conflict(
                "the memory is part of a longer message, all of which the new text would replace; delete the memory \
                 and add the message again",
            ));
        }
    }
    let content = build_version_content(record, text, metadata, ends);
    let content = match at {
        Some(at) => with_field(content, "observed_at", json!(at)),
        None => content,
    };
    let accepted = versions::put_version(
        app,
        by,
        &found.space,
        found.memory.first_external_id(),
        Update {
            fields: content,
            condition: Condition::Exists,
            has_new_time: at.is_some_and(|it| it != record.observed_at),
        },
    )
    .await?;
    Ok(accepted.watermark)
}

/// Returns the content of a new version; fields that are missing keep their values.
fn build_version_content(
    record: &Record,
    text: Option<&str>,
    metadata: Option<Vec<(String, String)>>,
    ends: Option<Option<String>>,
) -> Map<String, Value> {
    let before = record.metadata.clone().into_iter();
    let mut new_metadata: BTreeMap<String, String> = match metadata {
        Some(new_entries) => before
            .filter(|(name, _)| name.starts_with(RESERVED))
            .chain(new_entries)
            .collect(),
        None => before.collect(),
    };
    match ends {
        Some(Some(day)) => new_metadata.insert(EXPIRATION.to_owned(), day),
        Some(None) => new_metadata.remove(EXPIRATION),
        None => None,
    };
    let mut content = Map::new();
    content.insert("text".to_owned(), json!(text.unwrap_or(&record.text)));
    content.insert("metadata".to_owned(), json!(new_metadata));
    content.insert("tags".to_owned(), json!(record.tags));
    if let (None, Some(tool)) = (text, &record.tool) {
        let tool = json!({"name": tool.name, "arguments": tool.arguments, "result": tool.result});
        content.insert("tool".to_owned(), tool);
    }
    for (name, value) in [
        ("image_caption", &record.image_caption),
        ("image_uri", &record.image_uri),
    ] {
        if let Some(value) = value {
            content.insert(name.to_owned(), json!(value));
        }
    }
    content
}

fn with_field(mut content: Map<String, Value>, name: &str, value: Value) -> Map<String, Value> {
    content.insert(name.to_owned(), value);
    content
}

pub(crate) async fn delete_memory(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters(id): PathParameters<String>,
) -> Result<Json<Value>, Problem> {
    let found = locate::find_memory(&app, &access, Right::Admin, &id).await?;
    let records = ids_of_memory(&app, &found).await?;
    let done = erase_records(&app, &access, &found.space, &records).await?;
    Ok(Json(json!({
        "message": done.completion_message("Memory deleted successfully"),
        "event_id": done.event_id,
        "status": done.status_name(),
    })))
}

/// Returns the ids of all versions of a memory.
async fn ids_of_memory(app: &App, found: &FoundMemory) -> Result<Vec<RecordId>, Problem> {
    versions::ids_of_versions(app, &found.space, found.memory.first_external_id()).await
}

/// Erases at least one record of a space, with everything that derives only from these records.
async fn erase_records(app: &App, access: &Access, space: &SpaceId, records: &[RecordId]) -> Result<Change, Problem> {
    let started = Instant::now();
    let outcome = async {
        let mut last = None;
        for some in records.chunks(ERASED_AT_ONCE) {
            last = Some(curate::erase_records(app, space, some, access.name()).await?.position);
        }
        Change::wait_until_searchable(app, space, last.ok_or_else(Problem::internal_error)?).await
    };
    let outcome = outcome.await;
    app.context
        .metrics
        .observe_operation(Operation::Delete, outcome.is_ok(), started.elapsed());
    outcome
}

/// Erases all memories that match a filter, within the limits of one request.
pub(crate) async fn delete_all(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    QueryParameters(params): QueryParameters<BTreeMap<String, String>>,
    _: NoBody,
) -> Result<Json<Value>, Problem> {
    let filter = filter_of_erasure(params)?;
    let spaces = spaces_to_search(&app, &access, &filter, Right::Admin).await?;
    let mut steps = STEPS_MAX;
    let (mut deleted, mut is_left, mut event_id) = (0, false, None);
    for space in &spaces {
        if app.stores().records.space(space).await?.is_none() {
            continue;
        }
        let mut after = Some(0);
        while let Some(from) = after {
            let step = records_to_erase(&app, space, &filter, from).await?;
            after = step.next;
            if step.records.is_empty() {
                continue;
            }
            if steps == 0 {
                is_left = true;
                break;
            }
            steps -= 1;
            let done = erase_records(&app, &access, space, &step.records).await?;
            deleted += step.records.len();
            event_id = Some(done.event_id);
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

/// Records to erase in one step.
struct ErasureStep {
    records: Vec<RecordId>,
    /// Where the next step begins; `None` at the end of the space.
    next: Option<u64>,
}

/// Returns the records to erase in the step that begins at a place of a space.
async fn records_to_erase(app: &App, space: &SpaceId, filter: &Filter, from: u64) -> Result<ErasureStep, Problem> {
    if filter.is_scope_alone() {
        let room = Room {
            items: ERASED_AT_ONCE,
            bytes: PAGE_BYTES_MAX,
        };
        let (found, next) = app
            .stores()
            .records
            .select(space, &Selection::default(), from, room)
            .await?;
        return Ok(ErasureStep {
            records: found.into_iter().map(|it| it.id).collect(),
            next,
        });
    }
    let (mut records, mut next) = (BTreeSet::new(), Some(from));
    while let Some(from) = next.filter(|_| records.len() < ERASED_AT_ONCE) {
        let page = read_matching_memories(app, space, filter, from, ERASED_AT_ONCE).await?;
        let names: BTreeSet<&str> = page.memories.iter().map(Memory::first_external_id).collect();
        for name in names {
            records.extend(versions::ids_of_versions(app, space, name).await?);
        }
        next = page.next;
    }
    Ok(ErasureStep {
        records: records.into_iter().collect(),
        next,
    })
}

/// A record that a request changes.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct RecordPlace {
    space: SpaceId,
    /// The caller's id of its first version.
    record: String,
}

/// Waits a limited time until the write of this watermark is searchable.
async fn wait_for_change(app: &App, space: &SpaceId, watermark: &str) -> Result<Change, Problem> {
    let position = watermark::to_position(app, space, watermark).await?;
    Change::wait_until_searchable(app, space, position).await
}

pub(crate) async fn put_batch(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    ObjectBody(fields): ObjectBody<Fields>,
) -> Result<Json<Value>, Problem> {
    let all = parse_batch(&fields)?;
    let (mut ids, mut places) = (BTreeSet::new(), Vec::with_capacity(all.len()));
    // All memories are located before the first one is changed, so an unknown id or a second change of a memory is
    // refused as long as nothing has changed. They are located again for their changes: a record may hold 1 MiB, so
    // only one memory is kept at a time.
    for change in &all {
        let id = id_of(change)?;
        if !ids.insert(id) {
            return Err(Problem::invalid_request(format!("memories: {id} is changed twice")));
        }
        let found = locate::find_memory(&app, &access, Right::Write, id).await?;
        places.push(RecordPlace {
            record: found.memory.first_external_id().to_owned(),
            space: found.space,
        });
    }
    let mut changed: BTreeMap<&RecordPlace, String> = BTreeMap::new();
    let mut last = None;
    for (change, place) in all.iter().zip(&places) {
        // Two memories may be parts of one record: until its new version is searchable, neither can be located.
        if let Some(watermark) = changed.get(place) {
            wait_for_change(&app, &place.space, watermark).await?;
        }
        let found = locate::find_memory(&app, &access, Right::Write, id_of(change)?).await?;
        let watermark = put_new_version(&app, &access, &found, change).await?;
        changed.insert(place, watermark.clone());
        last = Some((&place.space, watermark));
    }
    if let Some((space, watermark)) = last {
        wait_for_change(&app, space, &watermark).await?;
    }
    Ok(Json(
        json!({"message": format!("Successfully updated {} memories", all.len())}),
    ))
}

pub(crate) async fn delete_batch(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    ObjectBody(fields): ObjectBody<Fields>,
) -> Result<Json<Value>, Problem> {
    let all = parse_batch(&fields)?;
    let mut by_space: BTreeMap<SpaceId, BTreeSet<RecordId>> = BTreeMap::new();
    for change in &all {
        let found = locate::find_memory(&app, &access, Right::Admin, id_of(change)?).await?;
        let versions = ids_of_memory(&app, &found).await?;
        by_space.entry(found.space).or_default().extend(versions);
    }
    for (space, records) in &by_space {
        let records: Vec<RecordId> = records.iter().copied().collect();
        erase_records(&app, &access, space, &records).await?;
    }
    Ok(Json(
        json!({"message": format!("Successfully deleted {} memories", all.len())}),
    ))
}

/// Parses the changes of a batch.
fn parse_batch(fields: &Fields) -> Result<Vec<Fields>, Problem> {
    let field_name = ["memories", "memory_ids"]
        .into_iter()
        .find_map(|it| present_field(fields, it));
    let all = field_name
        .and_then(Value::as_array)
        .ok_or_else(|| Problem::invalid_request("memories: is missing, or is not a list"))?;
    if all.is_empty() || all.len() > BATCH_MAX {
        return Err(beyond_bounds_problem(format!("memories: must be 1 to {BATCH_MAX}")));
    }
    let change = |it: &Value| match it {
        Value::Object(fields) => Ok(fields.clone()),
        Value::String(id) => Ok(Map::from_iter([("memory_id".to_owned(), json!(id))])),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            Err(Problem::invalid_request("memories: one of them is not an object"))
        }
    };
    all.iter().map(change).collect()
}

fn id_of(change: &Fields) -> Result<&str, Problem> {
    let field_name = ["memory_id", "id"]
        .into_iter()
        .find(|it| present_field(change, it).is_some());
    request::text_field(change, field_name.unwrap_or("memory_id"))?
        .ok_or_else(|| Problem::invalid_request("memories: one of them has no memory_id"))
}
