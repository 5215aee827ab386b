//! `add`: chat messages become records. They are searchable when the response is sent, unless the writer has a long
//! backlog.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::extract::State;
use axum::{Extension, Json};
use chrono::{DateTime, FixedOffset, NaiveDate};
use domain::id::{RecordId, SpaceId, UnitId};
use domain::port::Position;
use host::clock;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::api::problem::Problem;
use crate::api::{Accepted, Item, ItemStatus};
use crate::app::config::Right;
use crate::app::hex::to_hex;
use crate::app::keys::access::Access;
use crate::app::state::App;
use crate::app::watermark;
use crate::http::extract::ObjectBody;
use crate::mem0::memory::EXPIRATION;
use crate::mem0::requests::request::{self, Fields, parse_moment, present_field};
use crate::mem0::requests::scope::{Entities, Kind};
use crate::use_cases::query;
use crate::use_cases::write::accept::{self, FromMessages};

/// Longest wait until a change is searchable; after it the response says that the change is pending.
const SEARCHABLE_IN: Duration = Duration::from_secs(5);
/// Fields of a message that are read; other fields are ignored.
const MESSAGE: [&str; 5] = ["role", "content", "name", "tool_calls", "tool_call_id"];
/// Fields that give the time of all messages of a request; the first field that is present counts.
const MOMENTS: [&str; 4] = [
    "timestamp",
    "observation_datetime",
    "observation_time",
    "observation_date",
];
/// Purpose in the seal of the id of an event.
const EVENT: &str = "mem0 event";

pub(crate) async fn add_memories(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    ObjectBody(fields): ObjectBody<Fields>,
) -> Result<Json<Value>, Problem> {
    let entities = read_entities(&fields)?;
    let owner = entities.space_owner().ok_or_else(|| {
        Problem::invalid_request("user_id: is missing; a memory needs user_id, agent_id, app_id or run_id")
    })?;
    let space = owner.to_space_id(&app.config.mem0.space_prefix)?;
    let space = access.authorize_space(space.as_str(), Right::Write)?;
    let records = build_records(&fields, &entities)?;
    if records.is_empty() {
        let message = "there is nothing to store: system messages are not stored";
        return Ok(Json(json!({"status": "SUCCEEDED", "message": message, "results": []})));
    }
    let accepted = accept::accept_batch(&app, &access, &space, records, None).await?;
    let position = watermark::to_position(&app, &space, &accepted.watermark).await?;
    let done = Change::wait_until_searchable(&app, &space, position).await?;
    // A memory may repeat a message of another caller, so showing it needs the right to read.
    let is_shown = access.require_right(Right::Read).is_ok();
    let results = build_results(&app, &space, &accepted, is_shown).await?;
    Ok(Json(json!({
        "event_id": done.event_id,
        "status": done.status_name(),
        "message": done.completion_message("The memories are stored"),
        "results": results,
    })))
}

/// A change that is on disk.
pub(crate) struct Change {
    pub(crate) event_id: String,
    is_written: bool,
}

impl Change {
    /// Waits a limited time until a change is searchable. The change is durable in any case.
    pub(crate) async fn wait_until_searchable(
        app: &App,
        space: &SpaceId,
        position: Position,
    ) -> Result<Change, Problem> {
        let is_written = query::wait_written(app, space, position, SEARCHABLE_IN).await;
        let event = format!("{} {space}", position.0);
        Ok(Change {
            event_id: app.sealer().await?.seal_value(&[EVENT], event.as_bytes())?,
            is_written: is_written.unwrap_or(false),
        })
    }

    /// Returns the space and the position in the id of an event; `None` if the id is not valid.
    pub(crate) async fn open_event_id(app: &App, event_id: &str) -> Result<Option<(String, Position)>, Problem> {
        let plain = app.sealer().await?.open_value(&[EVENT], event_id);
        let text = plain.and_then(|it| String::from_utf8(it).ok());
        let read = |it: &str| {
            let (position, space) = it.split_once(' ')?;
            Some((space.to_owned(), Position(position.parse().ok()?)))
        };
        Ok(text.as_deref().and_then(read))
    }

    pub(crate) fn status_name(&self) -> &'static str {
        if self.is_written { "SUCCEEDED" } else { "PENDING" }
    }

    pub(crate) fn completion_message(&self, done: &str) -> String {
        if self.is_written {
            format!("{done}.")
        } else {
            format!("{done} in a moment: the change is on disk.")
        }
    }
}

/// Returns the entities that the memories of a request belong to, from its fields or from its filters.
fn read_entities(fields: &Fields) -> Result<Entities, Problem> {
    let mut found = Entities::from_fields(fields)?;
    if let Some(Value::Object(filters)) = present_field(fields, "filters") {
        found = found.fill_missing_from(Entities::from_fields(filters)?);
        let all = filters.get("AND").and_then(Value::as_array);
        for filter in all.into_iter().flatten().filter_map(Value::as_object) {
            found = found.fill_missing_from(Entities::from_fields(filter)?);
        }
    }
    Ok(found)
}

/// Returns the records for the messages of a request.
fn build_records(fields: &Fields, entities: &Entities) -> Result<Vec<Value>, Problem> {
    let messages = present_field(fields, "messages").ok_or_else(|| Problem::invalid_request("messages: is missing"))?;
    let said_at = MOMENTS
        .iter()
        .find_map(|name| Some((name, present_field(fields, name)?)));
    let said_at = said_at
        .map(|(name, value)| parse_moment(value).map_err(|error| Problem::invalid_request(format!("{name}: {error}"))))
        .transpose()?;
    let messages: Vec<Value> = match messages {
        Value::Array(all) => all.iter().map(reduce_message).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            vec![reduce_message(messages)]
        }
    };
    let mut metadata: BTreeMap<String, String> = request::read_metadata(fields)?
        .unwrap_or_default()
        .into_iter()
        .collect();
    metadata.extend(entities.to_metadata());
    if let Some(day) = parse_expiration(fields)?.flatten() {
        metadata.insert(EXPIRATION.to_owned(), day);
    }
    let mut records = FromMessages::parse_messages(Value::Array(messages), None)
        .map_err(Problem::invalid_request)?
        .records;
    let mut naming = Naming::new(said_at);
    for record in records.iter_mut().filter_map(Value::as_object_mut) {
        record.insert(
            "session".to_owned(),
            json!(entities.get(Kind::Run).unwrap_or("default")),
        );
        record.insert("metadata".to_owned(), json!(metadata));
        if let Some(at) = said_at {
            record.entry("observed_at").or_insert_with(|| json!(at));
        }
        let id = naming.next_record_id(record);
        record.insert("id".to_owned(), json!(id));
    }
    Ok(records)
}

/// Derives ids of records from their content, so that a repeated request stores nothing twice.
struct Naming {
    /// For messages without a time: equal text counts as the same message within one day, and as a new one on the next
    /// day.
    day: Option<NaiveDate>,
    count_by_digest: BTreeMap<[u8; 32], usize>,
}

impl Naming {
    fn new(said_at: Option<DateTime<FixedOffset>>) -> Naming {
        Naming {
            day: said_at.is_none().then(|| clock::now().date_naive()),
            count_by_digest: BTreeMap::new(),
        }
    }

    fn next_record_id(&mut self, record: &Map<String, Value>) -> String {
        let is_dated = record.contains_key("observed_at");
        let mut hash = Sha256::new().chain_update(Value::Object(record.clone()).to_string());
        if let Some(day) = self.day.filter(|_| !is_dated) {
            hash.update(day.to_string());
        }
        let digest: [u8; 32] = hash.finalize().into();
        let occurrence = self.count_by_digest.entry(digest).or_default();
        *occurrence += 1;
        let id_digest = Sha256::new().chain_update(digest).chain_update(occurrence.to_string());
        format!("mem0-{}", to_hex(&id_digest.finalize()[..16]))
    }
}

/// Returns a message reduced to the fields that are read, and its time if it has one.
fn reduce_message(message: &Value) -> Value {
    let Value::Object(message) = message else {
        return message.clone();
    };
    let mut fields: Map<String, Value> = MESSAGE
        .iter()
        .filter_map(|it| Some(((*it).to_owned(), present_field(message, it)?.clone())))
        .collect();
    fields.entry("role").or_insert_with(|| json!("user"));
    if let Some(part @ Value::Object(_)) = fields.get("content") {
        let parts = json!([part]);
        fields.insert("content".to_owned(), parts);
    }
    if let Some(at) = present_field(message, "timestamp").and_then(|it| parse_moment(it).ok()) {
        fields.insert("observed_at".to_owned(), json!(at));
    }
    Value::Object(fields)
}

/// Returns the expiry day of a memory: `None` if the field is missing, `Some(None)` if the request clears the day.
pub(crate) fn parse_expiration(fields: &Fields) -> Result<Option<Option<String>>, Problem> {
    let text = match fields.get("expiration_date") {
        None => return Ok(None),
        Some(Value::Null) => return Ok(Some(None)),
        Some(Value::String(text)) => text.as_str(),
        Some(Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => "",
    };
    let day = text.get(..10).and_then(|it| it.parse::<NaiveDate>().ok());
    let day = day.ok_or_else(|| Problem::invalid_request("expiration_date: is not a day like 2026-12-31"))?;
    Ok(Some(Some(day.to_string())))
}

/// Returns the result for each record, with its memory if the caller may see it.
async fn build_results(app: &App, space: &SpaceId, accepted: &Accepted, is_shown: bool) -> Result<Vec<Value>, Problem> {
    let record = |it: &Item| it.record.filter(|_| it.status != ItemStatus::Rejected);
    let ids: Vec<RecordId> = accepted.items.iter().filter_map(record).collect();
    let units: Vec<UnitId> = ids.iter().map(|it| UnitId::of_turn(*it)).collect();
    let summaries = app
        .stores()
        .graph
        .units(space, &units)
        .await?
        .into_iter()
        .filter(|_| is_shown);
    let summaries: BTreeMap<UnitId, String> = summaries.map(|it| (it.id, it.summary)).collect();
    app.mem0_places.cache_space(space, units);
    let result_of_item = |item: &Item| match record(item) {
        Some(record) => {
            let id = UnitId::of_turn(record);
            let event = match item.status {
                ItemStatus::Accepted => "ADD",
                ItemStatus::Duplicate | ItemStatus::Rejected => "NONE",
            };
            let memory = summaries.get(&id);
            json!({"id": id, "memory": memory, "event": event, "data": {"memory": memory}})
        }
        None => {
            let why = item.problem.as_ref().map(|it| it.detail.as_str());
            json!({"id": null, "event": "REJECTED", "detail": why})
        }
    };
    Ok(accepted.items.iter().map(result_of_item).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records_of_json(fields: Value) -> Vec<Value> {
        let fields = fields.as_object().unwrap();
        build_records(fields, &read_entities(fields).unwrap()).unwrap()
    }

    #[test]
    fn messages_become_records_and_unknown_fields_are_ignored() {
        let records = records_of_json(json!({
            "messages": [{"role": "user", "content": "I like tea.", "id": 7, "custom": true},
                {"role": "system", "content": "Be kind."}, {"content": {"type": "text", "text": "And coffee."}}],
            "filters": {"AND": [{"user_id": "ann"}, {"run_id": "monday"}]}, "agent_id": "bot",
            "metadata": {"topic": "drinks", "deep": {"a": 1}}, "timestamp": 1_683_554_400, "infer": false,
        }));
        let texts: Vec<&Value> = records.iter().map(|it| &it["text"]).collect();
        assert_eq!(texts, ["I like tea.", "And coffee."]);
        assert_eq!(records[0]["session"], "monday");
        assert_eq!(records[0]["observed_at"], "2023-05-08T14:00:00Z");
        assert_eq!(
            records[0]["metadata"],
            json!({"topic": "drinks", "deep": "{\"a\":1}", "mem0.user_id": "ann", "mem0.agent_id": "bot",
                "mem0.run_id": "monday"})
        );
    }

    #[test]
    fn a_message_without_a_time_has_that_of_the_request() {
        let records = records_of_json(json!({"user_id": "ann", "timestamp": 1_683_554_400, "messages": [
            {"role": "user", "content": "I ran.", "observed_at": null, "timestamp": null},
            {"role": "user", "content": "I swam.", "timestamp": 1_683_640_800},
        ]}));
        let times: Vec<&Value> = records.iter().map(|it| &it["observed_at"]).collect();
        assert_eq!(times, ["2023-05-08T14:00:00Z", "2023-05-09T14:00:00Z"]);
    }

    #[test]
    fn a_repeated_request_has_the_same_ids_and_a_repeated_message_has_a_new_id() {
        let id = |fields: Value| {
            records_of_json(fields)
                .into_iter()
                .map(|it| it["id"].clone())
                .collect::<Vec<_>>()
        };
        let one = id(json!({"messages": "I ran.", "user_id": "ann"}));
        assert_eq!(
            one,
            id(json!({"messages": [{"role": "user", "content": "I ran."}], "user_id": "ann"}))
        );
        let twice = id(json!({"messages": ["I ran.", "I ran."], "user_id": "ann"}));
        assert_eq!(one[0], twice[0]);
        assert_ne!(twice[0], twice[1]);
        assert_ne!(
            one,
            id(json!({"messages": "I ran.", "user_id": "ann", "timestamp": 1_683_554_400}))
        );
        assert_ne!(one, id(json!({"messages": "I ran.", "user_id": "ann", "run_id": "r"})));
    }
}
