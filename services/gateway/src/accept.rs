//! Accepts a batch: checks each record, claims its id for its content, publishes the batch, and stores the response.
//!
//! The claim comes before the publish, so an id can never have two contents. A process that dies between the two leaves
//! a claim without a record. The caller got no 202 and retries; a record that is claimed for the same content but not
//! stored is then published again.

mod admitted;
mod batch;
mod given;
mod messages;

use std::collections::{BTreeMap, BTreeSet};

use domain::id::{RecordId, SpaceId};
use domain::message::RecordsAcceptedV1;
use domain::port::{Claim, Position};
use domain::record::Record;
use host::clock;
use host::metrics::Operation;
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio::time::Instant;

use crate::api::{Accepted, Item, ItemStatus};
use crate::auth::{Access, hex};
use crate::idempotency::{self, Found};
use crate::problem::Problem;
use crate::state::App;
use admitted::Admitted;
use batch::{Batch, Draft};
pub(crate) use given::Given;
pub(crate) use messages::FromMessages;

pub(crate) type Hash = [u8; 32];

/// Minimum number of records that are parsed outside the async runtime.
const MANY: usize = 32;

/// Accepts a batch of a caller. `key` is its `Idempotency-Key`. A space that does not exist is created, unless the
/// settings forbid it.
pub(crate) async fn accept(
    app: &App,
    by: &Access,
    space: &SpaceId,
    given: Vec<Value>,
    key: Option<&str>,
) -> Result<Accepted, Problem> {
    let started = Instant::now();
    enter(app, space).await?;
    let outcome = take(app, by, space, given, key).await;
    app.context
        .metrics
        .operation(Operation::Store, outcome.is_ok(), started.elapsed());
    outcome
}

/// Creates the space if it does not exist and the settings allow it.
async fn enter(app: &App, space: &SpaceId) -> Result<(), Problem> {
    let records = &app.stores().records;
    if records.space(space).await?.is_some() {
        return Ok(());
    }
    if !app.config.create_spaces {
        return Err(Problem::unknown_space(space));
    }
    records.create_space(space, clock::now()).await?;
    Ok(())
}

async fn take(
    app: &App,
    by: &Access,
    space: &SpaceId,
    given: Vec<Value>,
    key: Option<&str>,
) -> Result<Accepted, Problem> {
    let most = app.config.batch_max;
    if given.is_empty() || given.len() > most {
        return Err(Problem::invalid(format!(
            "records: a request has 1 to {most} records, this one has {}",
            given.len()
        )));
    }
    let Some(key) = key else {
        return admit(app, by, space, given, None).await?.response(app, space).await;
    };
    match idempotency::take(app, space, key.to_owned(), digest(&given)?).await? {
        Found::Response(response) => {
            again(
                app,
                by,
                space,
                given,
                Repeat {
                    key,
                    response: &response,
                },
            )
            .await
        }
        Found::Nothing(taken) => {
            let admitted = admit(app, by, space, given, Some(key)).await;
            taken.end(admitted.as_ref()).await?;
            admitted?.response(app, space).await
        }
    }
}

/// A request that was already answered under its `Idempotency-Key`.
struct Repeat<'a> {
    key: &'a str,
    response: &'a [u8],
}

/// Returns the earlier response if it is still valid. If a record was erased since, or never written, the batch is
/// processed again; it ends at the same position if nothing was lost.
async fn again(
    app: &App,
    by: &Access,
    space: &SpaceId,
    given: Vec<Value>,
    repeat: Repeat<'_>,
) -> Result<Accepted, Problem> {
    let first = Admitted::remembered(repeat.response)?;
    if stands(app, space, &first).await? {
        return first.response(app, space).await;
    }
    let admitted = admit(app, by, space, given, Some(repeat.key)).await?;
    if first.position == admitted.position || stands(app, space, &first).await? {
        return first.response(app, space).await;
    }
    admitted.response(app, space).await
}

/// Admits the valid records of a batch and publishes the new ones.
async fn admit(
    app: &App,
    by: &Access,
    space: &SpaceId,
    given: Vec<Value>,
    key: Option<&str>,
) -> Result<Admitted, Problem> {
    let (drafts, mut items) = read(Batch::new(app, space, key), given).await?;
    let claims: Vec<(RecordId, Hash)> = drafts.iter().map(|it| (it.record.id, it.digest)).collect();
    charge(app, by, space, &claims).await?;
    let outcomes = if claims.is_empty() {
        Vec::new()
    } else {
        claim(app, space, &claims).await?
    };
    let mut wanted = Vec::new();
    let drafts = recognised(app, space, drafts.into_iter().zip(outcomes).collect()).await?;
    for (draft, outcome) in drafts {
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
    Ok(Admitted { position, items })
}

/// Parses and checks the records of a request. Large batches take milliseconds, in which no question would progress, so
/// they are parsed on a thread of low priority.
async fn read(batch: Batch, given: Vec<Value>) -> Result<(Vec<Draft>, Vec<Item>), Problem> {
    if given.len() < MANY {
        return batch.read(given);
    }
    let read = host::background(move || batch.read(given)).await;
    read.unwrap_or_else(|_| Err(Problem::internal()))
}

/// Counts the new records against the quota of the caller's key. This happens before the claim: a record whose id is
/// already claimed was counted at its first attempt, whatever the outcome.
async fn charge(app: &App, by: &Access, space: &SpaceId, claims: &[(RecordId, Hash)]) -> Result<(), Problem> {
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

/// Returns the records with other content that mean the same as the stored record: an export contains derived values
/// explicitly.
async fn recognised(
    app: &App,
    space: &SpaceId,
    mut drafts: Vec<(Draft, Claim)>,
) -> Result<Vec<(Draft, Claim)>, Problem> {
    let other: Vec<RecordId> = drafts
        .iter()
        .filter(|(_, claim)| *claim == Claim::Conflict)
        .map(|(draft, _)| draft.record.id)
        .collect();
    if other.is_empty() {
        return Ok(drafts);
    }
    let stored = app.stores().records.get(space, &other).await?;
    let mut stored: BTreeMap<RecordId, Record> = stored.into_iter().map(|it| (it.id, it)).collect();
    for (draft, claim) in &mut drafts {
        if let Some(kept) = stored.remove(&draft.record.id)
            && draft.says(&kept)
        {
            draft.record = kept;
            *claim = Claim::Same;
        }
    }
    Ok(drafts)
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

/// Publishes records that are not known to be searchable; returns the position to wait for.
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
    // Read after the claims, so that this counts an act that made an id free again, and a new creation of the space. A
    // batch published before either of them is another batch, and its position says nothing about this one.
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

/// Returns those of `ids` that are searchable, sorted. A stored record may still be missing from the index, so the
/// result is empty while the space has a backlog; an equal batch is then published under its old position.
async fn searchable(app: &App, space: &SpaceId, ids: &[RecordId]) -> Result<Vec<RecordId>, Problem> {
    if app.backlog(space).await? > 0 {
        return Ok(Vec::new());
    }
    let records = app.stores().records.get(space, ids).await?;
    let mut stored: Vec<RecordId> = records.iter().map(|it| it.id).collect();
    stored.sort_unstable();
    Ok(stored)
}

/// Returns true if the earlier response is still valid: the batch is written, and all its accepted records are stored.
async fn stands(app: &App, space: &SpaceId, first: &Admitted) -> Result<bool, Problem> {
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

/// Returns the digest of the JSON text. Maps are sorted and fields have a fixed order, so equal values have equal
/// digests.
pub(crate) fn digest(value: &impl serde::Serialize) -> Result<Hash, Problem> {
    let text = serde_json::to_vec(value).map_err(|_| Problem::internal())?;
    Ok(Sha256::digest(&text).into())
}
