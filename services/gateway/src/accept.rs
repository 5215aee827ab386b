//! The way of a batch: check each record, claim its id for its content, publish, remember.
//!
//! The claim comes before the publish, so an id can never stand for two contents. A process that dies between the two
//! leaves a claim without a record; the caller got no 202 and asks again, and what is claimed for the same content but
//! not stored is published again.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use domain::id::{RecordId, SessionId, SpaceId};
use domain::message::{Message, RecordsAcceptedV1};
use domain::port::{Claim, Idempotent, Position};
use domain::record::{Modality, Record, ToolCall};
use host::clock;
use host::metrics::Operation;
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio::time::Instant;

use crate::api::{Accepted, Item, ItemStatus, NewRecord, Object};
use crate::auth::hex;
use crate::extract::at_path;
use crate::problem::Problem;
use crate::state::App;
use crate::{validate, watermark};

pub(crate) type Hash = [u8; 32];

/// A record that passed the checks.
struct Draft {
    index: usize,
    digest: Hash,
    record: Record,
}

/// Accepts a batch. `key` is the caller's `Idempotency-Key`.
pub(crate) async fn accept(
    app: &App,
    space: &SpaceId,
    given: Vec<Value>,
    key: Option<&str>,
) -> Result<Accepted, Problem> {
    let started = Instant::now();
    app.space(space).await?;
    let outcome = take(app, space, given, key).await;
    app.context
        .metrics
        .operation(Operation::Store, outcome.is_ok(), started.elapsed());
    outcome
}

async fn take(app: &App, space: &SpaceId, given: Vec<Value>, key: Option<&str>) -> Result<Accepted, Problem> {
    let most = app.config.batch_max;
    if given.is_empty() || given.len() > most {
        return Err(Problem::invalid(format!(
            "records: a request has 1 to {most} records, this one has {}",
            given.len()
        )));
    }
    let request = digest(&given)?;
    let first = match key {
        Some(key) => first_response(app, space, key, request).await?,
        None => None,
    };
    if let Some(first) = &first
        && stands(app, space, first).await?
    {
        return Ok(first.clone());
    }
    let (drafts, mut items) = Batch::new(app, space, key).read(given)?;
    let claims: Vec<(RecordId, Hash)> = drafts.iter().map(|it| (it.record.id, it.digest)).collect();
    let outcomes = if claims.is_empty() {
        Vec::new()
    } else {
        claim(app, space, &claims).await?
    };
    let mut wanted = Vec::new();
    for (draft, outcome) in drafts.into_iter().zip(outcomes) {
        let item = &mut items[draft.index];
        match outcome {
            Claim::Fresh => item.status = ItemStatus::Accepted,
            Claim::Same => item.status = ItemStatus::Duplicate,
            Claim::Conflict => reject(item, conflict(&item.id)),
        }
        if outcome != Claim::Conflict {
            wanted.push((draft, outcome));
        }
    }
    if wanted.is_empty() && items.iter().all(|it| it.status == ItemStatus::Rejected) {
        return Err(refused(items));
    }
    let position = publish(app, space, wanted).await?;
    let accepted = Accepted {
        watermark: watermark::print(space, position),
        items,
    };
    if let Some(first) = first
        && (first.watermark == accepted.watermark || stands(app, space, &first).await?)
    {
        return Ok(first);
    }
    if let Some(key) = key {
        let response = serde_json::to_vec(&accepted).map_err(|_| Problem::internal())?;
        app.stores()
            .records
            .remember(space, key, &Idempotent { request, response }, clock::now())
            .await?;
    }
    Ok(accepted)
}

/// Claims ids for the digests of their contents.
pub(crate) async fn claim(app: &App, space: &SpaceId, claims: &[(RecordId, Hash)]) -> Result<Vec<Claim>, Problem> {
    use domain::{Classify, ErrorKind};
    app.stores()
        .records
        .claim(space, claims)
        .await
        .map_err(|error| match error.kind() {
            ErrorKind::NotFound => Problem::unknown_space(space),
            ErrorKind::Invalid
            | ErrorKind::Conflict
            | ErrorKind::Exhausted
            | ErrorKind::Timeout
            | ErrorKind::Unavailable
            | ErrorKind::Damaged
            | ErrorKind::Internal => error.into(),
        })
}

/// Publishes what is not known to be searchable; returns the position to wait for.
async fn publish(app: &App, space: &SpaceId, wanted: Vec<(Draft, Claim)>) -> Result<Position, Problem> {
    let same: Vec<RecordId> = wanted
        .iter()
        .filter(|(_, claim)| *claim == Claim::Same)
        .map(|(draft, _)| draft.record.id)
        .collect();
    let stored = if same.is_empty() {
        Vec::new()
    } else {
        searchable(app, space, &same).await?
    };
    // Read behind the claims: an act that made an id free again is counted here, and so is another creation of the space.
    // What was published before either is another batch, whose position says nothing of this one.
    let now = app.space(space).await?;
    let mut batch = Sha256::new();
    batch.update(now.created_at.timestamp_micros().to_be_bytes());
    batch.update(now.revision.curations.to_be_bytes());
    let mut records = Vec::new();
    for (draft, _) in wanted {
        if stored.binary_search(&draft.record.id).is_err() {
            batch.update(draft.record.id.uuid().as_bytes());
            batch.update(draft.digest);
            records.push(draft.record);
        }
    }
    if records.is_empty() {
        return Ok(now.written);
    }
    let bytes: usize = records.iter().map(|it| it.text.len()).sum();
    let message = RecordsAcceptedV1 {
        space: space.clone(),
        batch: hex(&batch.finalize()),
        created: Some(now.created_at),
        records,
        curations: Vec::new(),
    };
    let position = app.context.publish(&message).await?;
    app.context
        .metrics
        .stored_bytes(u64::try_from(bytes).unwrap_or(u64::MAX));
    Ok(position)
}

/// Returns those of `ids` that are searchable, sorted. What is stored may still be on its way into the index, so while
/// the writer has a backlog the answer is none; an equal batch is then published under its old position.
async fn searchable(app: &App, space: &SpaceId, ids: &[RecordId]) -> Result<Vec<RecordId>, Problem> {
    if app
        .stores()
        .bus
        .backlog(RecordsAcceptedV1::SUBJECT, RecordsAcceptedV1::GROUP)
        .await?
        > 0
    {
        return Ok(Vec::new());
    }
    let records = app.stores().records.get(space, ids).await?;
    let mut stored: Vec<RecordId> = records.iter().map(|it| it.id).collect();
    stored.sort_unstable();
    Ok(stored)
}

/// Returns the response that is remembered under a key; a problem if it answered another request.
async fn first_response(app: &App, space: &SpaceId, key: &str, request: Hash) -> Result<Option<Accepted>, Problem> {
    let Some(known) = app.stores().records.remembered(space, key).await? else {
        return Ok(None);
    };
    if known.request != request {
        return Err(Problem::reused_key());
    }
    let first = serde_json::from_slice(&known.response).map_err(|_| Problem::internal())?;
    Ok(Some(first))
}

/// Says whether a response still tells what is so: its batch is written and all that it took is stored. What was erased
/// since, or never written, goes the way of a batch once more, which ends at the same position if nothing was lost.
async fn stands(app: &App, space: &SpaceId, first: &Accepted) -> Result<bool, Problem> {
    let position = watermark::parse(space, &first.watermark)?;
    let records = &app.stores().records;
    if !records.is_written(space, position).await? {
        return Ok(false);
    }
    let taken = first.items.iter().filter(|it| it.status != ItemStatus::Rejected);
    let ids: BTreeSet<RecordId> = taken.filter_map(|it| it.record).collect();
    let ids: Vec<RecordId> = ids.into_iter().collect();
    Ok(records.get(space, &ids).await?.len() == ids.len())
}

/// Nothing of the batch was taken.
fn refused(items: Vec<Item>) -> Problem {
    let conflicts = items
        .iter()
        .all(|it| it.problem.as_ref().is_some_and(|it| it.status == 409));
    let first = items
        .first()
        .and_then(|it| it.problem.as_ref())
        .map(|it| it.detail.clone())
        .unwrap_or_default();
    let detail = format!("none of {} records was taken; the first: {first}", items.len());
    let mut problem = if conflicts {
        Problem::conflict(detail)
    } else {
        Problem::invalid(detail)
    };
    problem.items = items;
    problem
}

fn conflict(id: &str) -> Problem {
    Problem::conflict(format!(
        "the id `{id}` stands for other content; records are never rewritten, use another id"
    ))
}

fn reject(item: &mut Item, problem: Problem) {
    item.status = ItemStatus::Rejected;
    item.problem = Some(Box::new(problem));
}

/// What the records of one request share.
struct Batch<'a> {
    space: &'a SpaceId,
    key: Option<&'a str>,
    text_bytes_max: usize,
    now: DateTime<Utc>,
    /// Microseconds, greater than those of every earlier request.
    clock_us: u64,
}

impl<'a> Batch<'a> {
    fn new(app: &App, space: &'a SpaceId, key: Option<&'a str>) -> Batch<'a> {
        let (text_bytes_max, clock_us) = (app.config.text_bytes_max, app.batch_clock_us());
        Batch {
            space,
            key,
            text_bytes_max,
            now: clock::now(),
            clock_us,
        }
    }

    /// Returns the records that passed, each id once, and an item for every record given.
    fn read(&self, given: Vec<Value>) -> Result<(Vec<Draft>, Vec<Item>), Problem> {
        let mut drafts = Vec::new();
        let mut items = Vec::with_capacity(given.len());
        let mut seen: BTreeMap<RecordId, Hash> = BTreeMap::new();
        let mut occurrences: BTreeMap<Hash, usize> = BTreeMap::new();
        for (index, value) in given.into_iter().enumerate() {
            let mut item = Item {
                index,
                id: given_id(&value),
                record: None,
                status: ItemStatus::Accepted,
                problem: None,
            };
            match self.parse(value) {
                Err(detail) => reject(&mut item, Problem::invalid(detail)),
                Ok(new) => {
                    let digest = digest(&new)?;
                    let occurrence = occurrences.entry(digest).or_default();
                    let external_id = self.external_id(&new, index, (digest, *occurrence));
                    *occurrence += 1;
                    let id = RecordId::derive(self.space, &external_id);
                    (item.id, item.record) = (external_id.clone(), Some(id));
                    match seen.entry(id) {
                        Entry::Occupied(it) if *it.get() == digest => item.status = ItemStatus::Duplicate,
                        Entry::Occupied(_) => reject(&mut item, conflict(&external_id)),
                        Entry::Vacant(it) => {
                            it.insert(digest);
                            match self.record(new, id, external_id, index) {
                                Ok(record) => drafts.push(Draft { index, digest, record }),
                                Err(detail) => reject(&mut item, Problem::invalid(detail)),
                            }
                        }
                    }
                }
            }
            items.push(item);
        }
        Ok((drafts, items))
    }

    fn parse(&self, value: Value) -> Result<NewRecord, String> {
        let Object(new): Object<NewRecord> = serde_path_to_error::deserialize(value).map_err(|error| {
            let path = error.path().to_string();
            at_path(&path, error.inner())
        })?;
        validate::record(&new, self.text_bytes_max)?;
        if let Some(at) = &new.observed_at {
            validate::observed_at(at, self.now).map_err(|error| format!("observed_at: {error}"))?;
        }
        Ok(new)
    }

    /// The caller's id; else one that a repeated request derives again: from its key, or from content with a time of
    /// its own. A record with neither is new each time.
    fn external_id(&self, new: &NewRecord, index: usize, (digest, occurrence): (Hash, usize)) -> String {
        if let Some(id) = &new.id {
            return id.clone();
        }
        let hash = match (self.key, &new.observed_at) {
            (Some(key), _) => Sha256::new().chain_update(format!("key {index} ")).chain_update(key),
            (None, Some(_)) => Sha256::new()
                .chain_update(format!("content {occurrence} "))
                .chain_update(digest),
            (None, None) => Sha256::new()
                .chain_update(format!("new {} {index} ", self.clock_us))
                .chain_update(digest),
        };
        format!("auto-{}", hex(&hash.finalize()[..16]))
    }

    fn record(&self, new: NewRecord, id: RecordId, external_id: String, index: usize) -> Result<Record, String> {
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
            session: SessionId::derive(self.space, &session_name),
            session_name,
            ordinal: new.ordinal.unwrap_or(self.clock_us * 1_024 + index as u64),
            modality: new.modality.unwrap_or(guessed),
            actor: new.actor.unwrap_or_default(),
            text,
            image_caption: new.image_caption,
            image_uri: new.image_uri,
            tool: new.tool.map(|it| ToolCall {
                name: it.name,
                arguments: validate::json_text(&it.arguments),
                result: validate::json_text(&it.result),
            }),
            observed_at,
            metadata: new.metadata,
        })
    }
}

/// Digest of the JSON text; maps are sorted and fields have a fixed order, so equal values have equal digests.
pub(crate) fn digest(value: &impl serde::Serialize) -> Result<Hash, Problem> {
    let text = serde_json::to_vec(value).map_err(|_| Problem::internal())?;
    Ok(Sha256::digest(&text).into())
}

fn given_id(value: &Value) -> String {
    value
        .get("id")
        .and_then(Value::as_str)
        .filter(|it| it.len() <= 256)
        .unwrap_or_default()
        .to_owned()
}
