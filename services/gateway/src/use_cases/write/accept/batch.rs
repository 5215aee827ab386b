//! The records of one request, checked.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use chrono::{DateTime, Utc};
use domain::filter::checked_tags;
use domain::id::{RecordId, SessionId, SpaceId};
use domain::record::{Modality, Record, RecordVersion, ToolCall};
use host::clock;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{Hash, id_conflict_problem, json_digest, reject_item};
use crate::api::problem::Problem;
use crate::api::{Item, ItemStatus, NewRecord, Object, at_path};
use crate::app::hex::to_hex;
use crate::app::state::App;
use crate::use_cases::query::memory_block;
use crate::use_cases::validate;

/// A record that passed the checks, with its index and its digest.
pub(super) struct Draft {
    pub(super) index: usize,
    pub(super) digest: Hash,
    /// Whether the request gives the order among records of the same time; otherwise it is derived.
    is_ordered: bool,
    pub(super) record: Record,
}

impl Draft {
    /// Returns true if the stored record of the same id has the same content.
    pub(super) fn has_same_content(&self, stored_record: &Record) -> bool {
        let mut offered_record = self.record.clone();
        if !self.is_ordered {
            offered_record.ordinal = stored_record.ordinal;
        }
        offered_record == *stored_record
    }
}

/// The checked records of one request.
pub(super) struct CheckedBatch {
    /// The valid records without duplicate ids.
    pub(super) drafts: Vec<Draft>,
    /// An item for every record in the request.
    pub(super) items: Vec<Item>,
}

/// Properties that the records of one request share.
pub(super) struct Batch {
    space: SpaceId,
    key: Option<String>,
    text_bytes_max: usize,
    now: DateTime<Utc>,
    /// Microseconds since 1970, greater than those of every earlier request.
    clock_us: u64,
}

impl Batch {
    pub(super) fn new(app: &App, space: &SpaceId, key: Option<&str>) -> Batch {
        let (text_bytes_max, clock_us) = (app.config.text_bytes_max, app.batch_clock_us());
        Batch {
            space: space.clone(),
            key: key.map(str::to_owned),
            text_bytes_max,
            now: clock::now(),
            clock_us,
        }
    }

    pub(super) fn read_records(&self, raw_records: Vec<Value>) -> Result<CheckedBatch, Problem> {
        let mut drafts = Vec::new();
        let mut items = Vec::with_capacity(raw_records.len());
        let mut digests: BTreeMap<RecordId, Hash> = BTreeMap::new();
        let mut occurrences: BTreeMap<Hash, usize> = BTreeMap::new();
        for (index, value) in raw_records.into_iter().enumerate() {
            let mut item = Item {
                index,
                id: given_id(&value),
                record: None,
                status: ItemStatus::Accepted,
                problem: None,
            };
            match self.parse_record(value) {
                Err(detail) => reject_item(&mut item, Problem::invalid_request(detail)),
                Ok(new) => {
                    let (digest, is_ordered) = (json_digest(&new)?, new.ordinal.is_some());
                    let occurrence = occurrences.entry(digest).or_default();
                    let external_id = self.external_id(&new, index, digest, *occurrence);
                    *occurrence += 1;
                    let id = RecordId::from_external_id(&self.space, &external_id);
                    (item.id, item.record) = (external_id.clone(), Some(id));
                    match digests.entry(id) {
                        Entry::Occupied(it) if *it.get() == digest => item.status = ItemStatus::Duplicate,
                        Entry::Occupied(_) => reject_item(&mut item, id_conflict_problem(&external_id)),
                        Entry::Vacant(it) => {
                            it.insert(digest);
                            match self.build_record(new, id, external_id, index) {
                                Ok(record) => drafts.push(Draft {
                                    index,
                                    digest,
                                    is_ordered,
                                    record,
                                }),
                                Err(detail) => reject_item(&mut item, Problem::invalid_request(detail)),
                            }
                        }
                    }
                }
            }
            items.push(item);
        }
        Ok(CheckedBatch { drafts, items })
    }

    fn parse_record(&self, value: Value) -> Result<NewRecord, String> {
        let Object(mut new): Object<NewRecord> = serde_path_to_error::deserialize(value).map_err(|error| {
            let path = error.path().to_string();
            at_path(&path, error.inner())
        })?;
        memory_block::cut_from_record(&mut new)?;
        new.tags = checked_tags("tags", new.tags)?;
        validate::check_record(&new, self.text_bytes_max)?;
        if let Some(at) = &new.observed_at {
            validate::observed_at(at, self.now).map_err(|error| format!("observed_at: {error}"))?;
        }
        Ok(new)
    }

    /// Returns the caller's id, or else a derived id that is equal for a repeated request: from the key of the request,
    /// or from content with its own time. A record with neither gets a new id each time.
    fn external_id(&self, new: &NewRecord, index: usize, digest: Hash, occurrence: usize) -> String {
        if let Some(id) = &new.id {
            return id.clone();
        }
        let hash = match (&self.key, &new.observed_at) {
            (Some(key), _) => Sha256::new().chain_update(format!("key {index} ")).chain_update(key),
            (None, Some(_)) => Sha256::new()
                .chain_update(format!("content {occurrence} "))
                .chain_update(digest),
            (None, None) => Sha256::new()
                .chain_update(format!("new {} {index} ", self.clock_us))
                .chain_update(digest),
        };
        format!("auto-{}", to_hex(&hash.finalize()[..16]))
    }

    fn build_record(&self, new: NewRecord, id: RecordId, external_id: String, index: usize) -> Result<Record, String> {
        let observed_at = match &new.observed_at {
            Some(text) => validate::observed_at(text, self.now)?,
            None => self.now.fixed_offset(),
        };
        let session_name = new.session.unwrap_or_else(|| "default".to_owned());
        let text = new.text.unwrap_or_default();
        let guessed = match (&new.tool, &new.image_caption) {
            (Some(_), _) => Modality::Action,
            (None, Some(_)) if text.trim().is_empty() => Modality::Visual,
            (None, _) => Modality::Text,
        };
        Ok(Record {
            id,
            space: self.space.clone(),
            external_id,
            session: SessionId::from_name(&self.space, &session_name),
            session_name,
            ordinal: new.ordinal.unwrap_or(self.clock_us * 1_024 + index as u64),
            modality: new.modality.unwrap_or(guessed),
            actor: new.actor.unwrap_or_default(),
            text,
            image_caption: new.image_caption,
            image_uri: new.image_uri,
            version: new.version.map(|it| RecordVersion {
                of: it.of,
                number: it.number,
            }),
            tool: new.tool.map(|it| ToolCall {
                name: it.name,
                arguments: validate::json_text(&it.arguments),
                result: validate::json_text(&it.result),
            }),
            observed_at,
            tags: new.tags,
            metadata: new.metadata,
        })
    }
}

fn given_id(value: &Value) -> String {
    value
        .get("id")
        .and_then(Value::as_str)
        .filter(|it| it.len() <= validate::RECORD_ID_BYTES_MAX)
        .unwrap_or_default()
        .to_owned()
}
