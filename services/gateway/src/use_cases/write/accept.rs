//! Accepts a batch: checks each record, claims its id for its content, publishes the batch, and stores the response.
//!
//! The claim comes before the publish, so an id can never have two contents. A process that dies between the two leaves
//! a claim without a record. The caller got no 202 and retries; a record that is claimed for the same content but not
//! stored is then published again.

mod admitted_batch;
mod batch;
mod message_content;
mod messages;
mod tool_calls;
mod write_input;

use std::collections::{BTreeMap, BTreeSet};

use domain::id::{RecordId, SpaceId};
use domain::message::{Message, RecordsAcceptedV1};
use domain::port::{Claim, Position};
use domain::record::Record;
use host::clock;
use host::metrics::Operation;
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio::time::Instant;

use crate::api::problem::Problem;
use crate::api::{Accepted, Item, ItemStatus};
use crate::app::hex::to_hex;
use crate::app::idempotency::{self, KeyState};
use crate::app::keys::access::Access;
use crate::app::state::App;
use admitted_batch::Admitted;
use batch::{Batch, CheckedBatch, Draft};
pub(crate) use messages::FromMessages;
pub use write_input::leaves_no_record;
pub(crate) use write_input::{WriteInput, accept_request};

pub(crate) type Hash = [u8; 32];

/// Minimum number of records that are parsed outside the async runtime.
const MANY: usize = 32;
/// Number of stored records that are compared with new ones in one step: each may hold a long text.
const COMPARED_AT_ONCE: usize = 16;

/// Accepts a batch of a caller. `key` is its `Idempotency-Key`. A space that does not exist is created, unless the
/// settings forbid it.
pub(crate) async fn accept_batch(
    app: &App,
    by: &Access,
    space: &SpaceId,
    raw_records: Vec<Value>,
    key: Option<&str>,
) -> Result<Accepted, Problem> {
    let started = Instant::now();
    check_size(app, &raw_records)?;
    let batch = Batch::new(app, space, key);
    let key = key.map(|name| RequestKey::new(name, &raw_records)).transpose()?;
    let checked = read_batch(batch, raw_records).await?;
    ensure_space_exists(app, by, space, &checked).await?;
    let outcome = accept_idempotently(app, by, space, checked, key).await;
    app.context
        .metrics
        .observe_operation(Operation::Store, outcome.is_ok(), started.elapsed());
    outcome
}

/// An `Idempotency-Key`, and the digest of the request that has it.
struct RequestKey<'a> {
    name: &'a str,
    digest: Hash,
}

impl<'a> RequestKey<'a> {
    fn new(name: &'a str, raw_records: &[Value]) -> Result<RequestKey<'a>, Problem> {
        let digest = json_digest(&raw_records)?;
        Ok(RequestKey { name, digest })
    }
}

fn check_size(app: &App, raw_records: &[Value]) -> Result<(), Problem> {
    let (most, count) = (app.config.batch_max, raw_records.len());
    if (1..=most).contains(&count) {
        return Ok(());
    }
    Err(Problem::invalid_request(format!(
        "records: must be 1 to {most}, this request has {count}"
    )))
}

/// Creates the space if it does not exist, the settings allow it, a record of the batch is valid, and the caller's quota
/// and the queue have room for the batch. If other requests fill the queue after this check, the space stays empty.
async fn ensure_space_exists(app: &App, by: &Access, space: &SpaceId, checked: &CheckedBatch) -> Result<(), Problem> {
    let records = &app.stores().records;
    if records.space(space).await?.is_some() {
        return Ok(());
    }
    if !app.config.create_spaces {
        return Err(Problem::unknown_space(space));
    }
    if checked.drafts.is_empty() {
        return Err(batch_refused_problem(checked.items.clone()));
    }
    let now = clock::now();
    app.meters
        .check_records(by.name(), by.quotas(), checked.drafts.len(), now)?;
    app.stores().bus.check_room(RecordsAcceptedV1::SUBJECT).await?;
    records.create_space(space, now).await?;
    Ok(())
}

async fn accept_idempotently(
    app: &App,
    by: &Access,
    space: &SpaceId,
    checked: CheckedBatch,
    key: Option<RequestKey<'_>>,
) -> Result<Accepted, Problem> {
    let Some(key) = key else {
        return admit_batch(app, by, space, checked)
            .await?
            .into_accepted(app, space)
            .await;
    };
    match idempotency::take_key(app, space, key.name.to_owned(), key.digest).await? {
        KeyState::Response(response) => answer_repeated_request(app, by, space, checked, &response).await,
        KeyState::Nothing(taken) => {
            let admitted = admit_batch(app, by, space, checked).await;
            taken.end_hold(admitted.as_ref()).await?;
            admitted?.into_accepted(app, space).await
        }
    }
}

/// Returns the earlier response if it is still valid. If a record was erased since, or never written, the batch is
/// processed again; it ends at the same position if nothing was lost.
async fn answer_repeated_request(
    app: &App,
    by: &Access,
    space: &SpaceId,
    checked: CheckedBatch,
    response: &[u8],
) -> Result<Accepted, Problem> {
    let first = Admitted::from_stored_response(response)?;
    if is_response_still_valid(app, space, &first).await? {
        return first.into_accepted(app, space).await;
    }
    let admitted = admit_batch(app, by, space, checked).await?;
    if first.position == admitted.position || is_response_still_valid(app, space, &first).await? {
        return first.into_accepted(app, space).await;
    }
    admitted.into_accepted(app, space).await
}

/// Admits the valid records of a batch and publishes the new ones.
async fn admit_batch(app: &App, by: &Access, space: &SpaceId, checked: CheckedBatch) -> Result<Admitted, Problem> {
    let CheckedBatch { drafts, mut items } = checked;
    let claims: Vec<(RecordId, Hash)> = drafts.iter().map(|it| (it.record.id, it.digest)).collect();
    count_against_quota(app, by, space, &claims).await?;
    let outcomes = if claims.is_empty() {
        Vec::new()
    } else {
        claim_ids(app, space, &claims).await?
    };
    let mut new_drafts = Vec::new();
    let drafts = find_equivalent_stored_records(app, space, drafts.into_iter().zip(outcomes).collect()).await?;
    for (draft, outcome) in drafts {
        let item = &mut items[draft.index];
        match outcome {
            Claim::Fresh => item.status = ItemStatus::Accepted,
            Claim::Same => item.status = ItemStatus::Duplicate,
            Claim::Conflict => reject_item(item, id_conflict_problem(&item.id)),
        }
        if outcome != Claim::Conflict {
            new_drafts.push((draft, outcome));
        }
    }
    if new_drafts.is_empty() && items.iter().all(|it| it.status == ItemStatus::Rejected) {
        return Err(batch_refused_problem(items));
    }
    let position = publish_records(app, space, new_drafts).await?;
    Ok(Admitted { position, items })
}

/// Returns the record that would be stored for a record of a request; `None` if it is invalid.
pub(crate) fn checked_record(app: &App, space: &SpaceId, raw_record: Value) -> Option<Record> {
    let mut checked = Batch::new(app, space, None).read_records(vec![raw_record]).ok()?;
    checked.drafts.pop().map(|it| it.record)
}

/// Parses and checks the records of a request. Large batches take milliseconds, in which no question would progress, so
/// they are parsed on a thread of low priority.
async fn read_batch(batch: Batch, raw_records: Vec<Value>) -> Result<CheckedBatch, Problem> {
    if raw_records.len() < MANY {
        return batch.read_records(raw_records);
    }
    let read = host::spawn_background(move || batch.read_records(raw_records)).await;
    read.unwrap_or_else(|_| Err(Problem::internal_error()))
}

/// Counts the new records against the quota of the caller's key. This happens before the claim: a record whose id is
/// already claimed was counted at its first attempt, whatever the outcome.
async fn count_against_quota(
    app: &App,
    by: &Access,
    space: &SpaceId,
    claims: &[(RecordId, Hash)],
) -> Result<(), Problem> {
    let quotas = by.quotas();
    if quotas.records_per_day.is_none() || claims.is_empty() {
        return Ok(());
    }
    let ids: BTreeSet<RecordId> = claims.iter().map(|(id, _)| *id).collect();
    let ids: Vec<RecordId> = ids.into_iter().collect();
    let claimed = app.stores().records.claimed(space, &ids).await?;
    let new = ids.len().saturating_sub(claimed.len());
    app.meters.take_records(by.name(), quotas, new, clock::now())
}

/// Marks those records with other content that mean the same as the stored record: an export contains derived values
/// explicitly.
async fn find_equivalent_stored_records(
    app: &App,
    space: &SpaceId,
    mut drafts: Vec<(Draft, Claim)>,
) -> Result<Vec<(Draft, Claim)>, Problem> {
    for some in drafts.chunks_mut(COMPARED_AT_ONCE) {
        let other: Vec<RecordId> = some
            .iter()
            .filter(|(_, claim)| *claim == Claim::Conflict)
            .map(|(draft, _)| draft.record.id)
            .collect();
        if other.is_empty() {
            continue;
        }
        let stored = app.stores().records.get(space, &other).await?;
        let mut stored: BTreeMap<RecordId, Record> = stored.into_iter().map(|it| (it.id, it)).collect();
        for (draft, claim) in some {
            if let Some(stored_record) = stored.remove(&draft.record.id)
                && draft.has_same_content(&stored_record)
            {
                draft.record = stored_record;
                *claim = Claim::Same;
            }
        }
    }
    Ok(drafts)
}

/// Claims ids for the digests of their contents.
pub(crate) async fn claim_ids(app: &App, space: &SpaceId, claims: &[(RecordId, Hash)]) -> Result<Vec<Claim>, Problem> {
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

/// Publishes records that are not known to be searchable; returns the position to wait for.
async fn publish_records(app: &App, space: &SpaceId, drafts: Vec<(Draft, Claim)>) -> Result<Position, Problem> {
    let same: Vec<RecordId> = drafts
        .iter()
        .filter(|(_, claim)| *claim == Claim::Same)
        .map(|(draft, _)| draft.record.id)
        .collect();
    let stored = if same.is_empty() {
        Vec::new()
    } else {
        searchable_records(app, space, &same).await?
    };
    // Read after the claims, so that this counts an act that made an id free again, and a new creation of the space. A
    // batch published before either of them is another batch, and its position says nothing about this one.
    let now = app.require_space(space).await?;
    let mut batch = Sha256::new();
    batch.update(now.created_at.timestamp_micros().to_be_bytes());
    batch.update(now.revision.curations.to_be_bytes());
    let mut records = Vec::new();
    for (draft, _) in drafts {
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
        batch: to_hex(&batch.finalize()),
        created: Some(now.created_at),
        records,
        curations: Vec::new(),
    };
    let position = app.context.publish_message(&message).await?;
    app.context
        .metrics
        .stored_bytes(u64::try_from(bytes).unwrap_or(u64::MAX));
    Ok(position)
}

/// Returns those of `ids` that are searchable, sorted. A stored record may still be missing from the index, so the
/// result is empty while the space has a backlog; an equal batch is then published under its old position.
async fn searchable_records(app: &App, space: &SpaceId, ids: &[RecordId]) -> Result<Vec<RecordId>, Problem> {
    if app.backlog_of_space(space).await? > 0 {
        return Ok(Vec::new());
    }
    let records = app.stores().records.get(space, ids).await?;
    let mut stored: Vec<RecordId> = records.iter().map(|it| it.id).collect();
    stored.sort_unstable();
    Ok(stored)
}

/// Returns true if the earlier response is still valid: the batch is written, and all its accepted records are stored.
async fn is_response_still_valid(app: &App, space: &SpaceId, first: &Admitted) -> Result<bool, Problem> {
    let records = &app.stores().records;
    if !records.is_written(space, first.position).await? {
        return Ok(false);
    }
    let taken = first.items.iter().filter(|it| it.status != ItemStatus::Rejected);
    let ids: BTreeSet<RecordId> = taken.filter_map(|it| it.record).collect();
    let ids: Vec<RecordId> = ids.into_iter().collect();
    Ok(records.get(space, &ids).await?.len() == ids.len())
}

/// Returns the problem that no record of the batch was accepted.
fn batch_refused_problem(items: Vec<Item>) -> Problem {
    let conflicts = items
        .iter()
        .all(|it| it.problem.as_ref().is_some_and(|it| it.status == 409));
    let first = items
        .first()
        .and_then(|it| it.problem.as_ref())
        .map(|it| it.detail.clone())
        .unwrap_or_default();
    let detail = match items.len() {
        1 => first,
        count => format!("none of the {count} records was accepted; the first problem: {first}"),
    };
    let mut problem = if conflicts {
        Problem::conflict(detail)
    } else {
        Problem::invalid_request(detail)
    };
    problem.items = items;
    problem
}

fn id_conflict_problem(id: &str) -> Problem {
    Problem::conflict(format!(
        "the id `{id}` belongs to other content; records are never changed, use another id"
    ))
}

fn reject_item(item: &mut Item, problem: Problem) {
    item.status = ItemStatus::Rejected;
    item.problem = Some(Box::new(problem.into()));
}

/// Returns the digest of the JSON text. Maps are sorted and fields have a fixed order, so equal values have equal
/// digests.
pub(crate) fn json_digest(value: &impl serde::Serialize) -> Result<Hash, Problem> {
    let text = serde_json::to_vec(value).map_err(|_| Problem::internal_error())?;
    Ok(Sha256::digest(&text).into())
}
