//! A memory: the newest version of a record in the words of the writer, one memory for each turn unit of the record.
//!
//! Its id is the id of the unit of the first version, so an update does not change it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::{DateTime, FixedOffset, NaiveDate};
use domain::id::{RecordId, SpaceId, UnitId};
use domain::record::Record;
use domain::unit::{Grain, Status, Unit};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::api::problem::Problem;
use crate::app::hex::to_hex;
use crate::app::state::App;
use crate::mem0::requests::scope::{Entities, Kind, RESERVED};
use crate::use_cases::validate::version_ids;

/// Metadata key of the expiry day of a memory.
pub(crate) const EXPIRATION: &str = "mem0.expiration_date";
/// Number of records read in one step: each may hold a long text.
const AT_ONCE: usize = 64;

/// The current state of a memory.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Memory {
    pub(crate) id: UnitId,
    pub(crate) entities: Entities,
    /// Time at which the first version was observed.
    pub(crate) created_at: DateTime<FixedOffset>,
    /// The newest version. All memories of a record share it. In a list it has no content, see [`load_memories`].
    pub(crate) record: Arc<Record>,
    pub(crate) unit: Unit,
}

impl Memory {
    /// Returns the text of the memory, with its date and understandable without context.
    pub(crate) fn text(&self) -> &str {
        if self.unit.summary.is_empty() {
            &self.unit.text
        } else {
            &self.unit.summary
        }
    }

    /// Returns the caller's id of the first version.
    pub(crate) fn first_external_id(&self) -> &str {
        self.record
            .version
            .as_ref()
            .map_or(&self.record.external_id, |it| &it.of)
    }

    pub(crate) fn updated_at(&self) -> DateTime<FixedOffset> {
        self.record.observed_at
    }

    /// Returns the caller's metadata value for a name.
    pub(crate) fn metadata_value(&self, name: &str) -> Option<&str> {
        let value = self.record.metadata.get(name).filter(|_| !name.starts_with(RESERVED));
        value.map(String::as_str)
    }

    /// Returns true if the memory expired before `today`.
    pub(crate) fn is_expired(&self, today: NaiveDate) -> bool {
        let ends = self.record.metadata.get(EXPIRATION);
        ends.and_then(|it| it.parse::<NaiveDate>().ok())
            .is_some_and(|it| it < today)
    }

    /// Returns the memory in the form of mem0.
    pub(crate) fn to_json(&self) -> Map<String, Value> {
        let mut shown = Map::new();
        let mut put = |name: &str, value: Value| shown.insert(name.to_owned(), value);
        put("id", json!(self.id));
        put("memory", json!(self.text()));
        put("hash", json!(to_hex(&Sha256::digest(self.text().as_bytes())[..16])));
        let own = self
            .record
            .metadata
            .iter()
            .filter(|(name, _)| !name.starts_with(RESERVED));
        put("metadata", json!(own.collect::<BTreeMap<_, _>>()));
        put("categories", json!([]));
        put("created_at", json!(self.created_at));
        put("updated_at", json!(self.updated_at()));
        put("expiration_date", json!(self.record.metadata.get(EXPIRATION)));
        put("session_id", json!(self.entities.get(Kind::Run)));
        put("actor_id", json!(self.record.actor));
        put("structured_attributes", Value::Null);
        self.entities.write_fields(&mut shown);
        shown
    }
}

/// Returns the id of the unit of another version at the same part index as `part` of `of`.
pub(crate) fn same_part(part: UnitId, of: RecordId, other: RecordId) -> UnitId {
    let number = part.uuid().as_u128().wrapping_sub(UnitId::of_turn(of).uuid().as_u128());
    UnitId::from_uuid(Uuid::from_u128(
        UnitId::of_turn(other).uuid().as_u128().wrapping_add(number),
    ))
}

/// Returns the id of the first version of a record.
pub(crate) fn first_version(record: &Record) -> RecordId {
    match &record.version {
        Some(version) => RecordId::from_external_id(&record.space, &version.of),
        None => record.id,
    }
}

fn next_version(record: &Record) -> RecordId {
    let (of, number) = match &record.version {
        Some(version) => (version.of.as_str(), version.number),
        None => (record.external_id.as_str(), 1),
    };
    RecordId::from_external_id(&record.space, &version_ids::version_id(of, number + 1))
}

/// Returns the memories among units, in the same order: turn units of existing records that have no newer version.
///
/// Their records have no text, tool call or picture: a list shows only the units, and a record may hold 1 MiB.
pub(crate) async fn load_memories(app: &App, space: &SpaceId, units: Vec<Unit>) -> Result<Vec<Memory>, Problem> {
    let turns: Vec<Unit> = units
        .into_iter()
        .filter(|it| it.grain == Grain::Turn && it.status != Status::Superseded)
        .collect();
    let ids: BTreeSet<RecordId> = turns.iter().flat_map(|it| it.records.first().copied()).collect();
    let mut records = BTreeMap::new();
    read_records(app, space, ids, &mut records).await?;
    // Read the first version of each record for its time, and the next version: if it exists, this one is not the
    // newest.
    let others = records.values().flat_map(|it| [first_version(it), next_version(it)]);
    let others: BTreeSet<RecordId> = others.filter(|it| !records.contains_key(it)).collect();
    read_records(app, space, others, &mut records).await?;
    let memory = |unit: Unit| {
        let record = records.get(unit.records.first()?)?;
        let is_newest = !records.contains_key(&next_version(record));
        is_newest.then(|| {
            let first = records.get(&first_version(record)).map(Arc::as_ref);
            build_memory(app, first, Arc::clone(record), unit)
        })
    };
    Ok(turns.into_iter().filter_map(memory).collect())
}

/// Returns the memory for a unit of the newest version of a record.
pub(crate) fn build_memory(app: &App, first: Option<&Record>, record: Arc<Record>, unit: Unit) -> Memory {
    Memory {
        id: same_part(unit.id, record.id, first_version(&record)),
        entities: Entities::of_record(&app.config.mem0.space_prefix, &record),
        created_at: first.unwrap_or(&record).observed_at,
        record,
        unit,
    }
}

/// Adds the stored ones of these records, without their contents.
async fn read_records(
    app: &App,
    space: &SpaceId,
    ids: BTreeSet<RecordId>,
    into: &mut BTreeMap<RecordId, Arc<Record>>,
) -> Result<(), Problem> {
    let ids: Vec<RecordId> = ids.into_iter().collect();
    for some in ids.chunks(AT_ONCE) {
        let found = app.stores().records.get(space, some).await?;
        into.extend(found.into_iter().map(|it| (it.id, Arc::new(without_content(it)))));
    }
    Ok(())
}

/// Returns a record without its text, tool call and picture.
fn without_content(record: Record) -> Record {
    Record {
        text: String::new(),
        image_caption: None,
        image_uri: None,
        tool: None,
        ..record
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_in_a_list_has_its_labels_and_no_content() {
        let id = "00000000-0000-4000-8000-000000000000";
        let stored = json!({"id": id, "space": "mem0-ann", "external_id": "a", "session": id, "session_name": "default",
            "ordinal": 0, "modality": "text", "actor": "user", "text": "x".repeat(1 << 20), "image_caption": "a dog",
            "image_uri": "https://a.example/dog.png", "tool": {"name": "ls", "result": "y".repeat(30_000)},
            "observed_at": "2026-05-07T12:00:00Z", "tags": ["home"], "metadata": {"topic": "dogs"}});
        let stored: Record = serde_json::from_value(stored).unwrap();
        let listed = without_content(stored.clone());
        let bytes = serde_json::to_vec(&listed).unwrap().len();
        assert!(bytes < 1_000, "{bytes}");
        assert_eq!(
            (&listed.external_id, &listed.actor, &listed.tags, &listed.metadata),
            (&stored.external_id, &stored.actor, &stored.tags, &stored.metadata)
        );
        assert_eq!((listed.id, listed.observed_at), (stored.id, stored.observed_at));
    }
}
