//! Accepts an act of curation: checks that its target exists, claims its id for its content, and publishes it.
//!
//! An act takes the same path as records and is stored by the writer, so it has the same durability and order. The
//! watermark shows when the memory reflects the act.

use chrono::{DateTime, Utc};
use domain::curation::{Act, Curation};
use domain::fact::Fact;
use domain::id::{CurationId, ErasureId, RecordId, SpaceId, UnitId};
use domain::merge::Merge;
use domain::message::RecordsAcceptedV1;
use domain::page::Page;
use domain::port::{Claim, Position};
use domain::topic::Topic;
use domain::unit::Status;
use host::clock;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::api::problem::Problem;
use crate::api::{Curated, NewAct, NewCuration};
use crate::app::config::Right;
use crate::app::hex::to_hex;
use crate::app::idempotency::{self, KeyState};
use crate::app::state::App;
use crate::app::watermark;
use crate::use_cases::lists::derived_items;
use crate::use_cases::validate;
use crate::use_cases::write::accept::{Hash, claim_ids, json_digest};

const OBJECT_BYTES_MAX: usize = 1_024;
const REASON_BYTES_MAX: usize = 1_024;

/// Returns the right that an act needs.
pub(crate) fn required_right(act: &NewAct) -> Right {
    match act {
        NewAct::EraseRecord { .. } => Right::Admin,
        NewAct::CorrectFact { .. }
        | NewAct::RetireFact { .. }
        | NewAct::UndoMerge { .. }
        | NewAct::UndoLabel { .. }
        | NewAct::UndoSummary { .. }
        | NewAct::PinUnit { .. }
        | NewAct::ForgetUnit { .. }
        | NewAct::Undo { .. } => Right::Write,
    }
}

/// Accepts an act in an existing space. `by` is the name of the key, `key` the caller's `Idempotency-Key`.
pub(crate) async fn accept_act(
    app: &App,
    space: &SpaceId,
    new: NewCuration,
    by: &str,
    key: Option<&str>,
) -> Result<Curated, Problem> {
    check_act(&new)?;
    let request = json_digest(&new)?;
    // The key of a batch never starts with a space.
    let key_kept = key.map(|it| format!(" curation {it}"));
    let taken = match key_kept {
        Some(key) => match idempotency::take_key(app, space, key, request).await? {
            KeyState::Nothing(taken) => Some(taken),
            // The id identifies the act, so the code below finds it again.
            KeyState::Response(_) => None,
        },
        None => None,
    };
    let curated = claim_and_publish_act(app, space, new, request, by, key).await;
    if let Some(taken) = taken {
        // Only the fact of the response is stored: the text of an act is erased together with its target.
        taken.end_hold(curated.as_ref().map(|_| &())).await?;
    }
    curated
}

async fn claim_and_publish_act(
    app: &App,
    space: &SpaceId,
    new: NewCuration,
    digest: Hash,
    by: &str,
    key: Option<&str>,
) -> Result<Curated, Problem> {
    // Acts are ordered by their times, so no two acts of a process share one.
    let clock_us = app.batch_clock_us();
    let external_id = match (&new.id, key) {
        (Some(id), _) => id.clone(),
        (None, Some(key)) => auto_id_from_hash(Sha256::new().chain_update("key ").chain_update(key)),
        (None, None) => auto_id_from_hash(
            Sha256::new()
                .chain_update(format!("new {clock_us} "))
                .chain_update(digest),
        ),
    };
    let id = CurationId::from_external_id(space, &external_id);
    // Look for an earlier act first, because its target may not exist any more.
    let stored = find_stored_act(app, space, id).await?;
    let act = match &stored {
        Some(it) => it.act.clone(),
        None => resolve_target(app, space, new.act).await?,
    };
    // Ids of acts and of records derive from different inputs, so they share the table of claims without collisions.
    let claims = [(RecordId::from_uuid(id.uuid()), digest)];
    if claim_ids(app, space, &claims).await?.contains(&Claim::Conflict) {
        return Err(match (&new.id, key) {
            (None, Some(_)) => Problem::reused_key(),
            (Some(_), _) | (None, None) => {
                Problem::conflict("the id belongs to another act; acts are never changed, use another id")
            }
        });
    }
    let curation = match stored {
        // A stored act may not be applied yet. Publishing it again ends at the same position, or has no effect at
        // another one. But records that were erased may have been accepted again since, and must not be erased a second
        // time.
        Some(curation) => match erased_at(app, space, &curation).await? {
            Some(position) => {
                return curated_response(app, space, position, curation).await;
            }
            None => curation,
        },
        None => Curation {
            id,
            at: time_from_clock_us(clock_us),
            by: by.to_owned(),
            act,
            reason: new.reason,
        },
    };
    let position = publish_acts(app, space, &claims, vec![curation.clone()]).await?;
    curated_response(app, space, position, curation).await
}

async fn curated_response(
    app: &App,
    space: &SpaceId,
    position: Position,
    curation: Curation,
) -> Result<Curated, Problem> {
    let erases = matches!(curation.act, Act::EraseRecord { .. });
    Ok(Curated {
        watermark: watermark::from_position(app, space, position).await?,
        erasure: erases.then(|| ErasureId::of_records(curation.id)),
        curation,
    })
}

/// A batch of erasures that is on disk.
pub(crate) struct Erasing {
    /// The position to wait for.
    pub(crate) position: Position,
    /// The id of the receipt, which is written later.
    pub(crate) erasure: ErasureId,
    /// The act for the first record.
    pub(crate) first: Curation,
}

/// Erases at least one record of an existing space, each by a separate act, in one batch.
pub(crate) async fn erase_records(
    app: &App,
    space: &SpaceId,
    records: &[RecordId],
    by: &str,
) -> Result<Erasing, Problem> {
    let mut claims = Vec::with_capacity(records.len());
    let mut curations = Vec::with_capacity(records.len());
    for record in records {
        let clock_us = app.batch_clock_us();
        let act = Act::EraseRecord { record: *record };
        let digest = json_digest(&act)?;
        let new = Sha256::new()
            .chain_update(format!("new {clock_us} "))
            .chain_update(digest);
        let id = CurationId::from_external_id(space, &auto_id_from_hash(new));
        claims.push((RecordId::from_uuid(id.uuid()), digest));
        curations.push(Curation {
            id,
            at: time_from_clock_us(clock_us),
            by: by.to_owned(),
            act,
            reason: String::new(),
        });
    }
    let first = curations.first().ok_or_else(Problem::internal_error)?.clone();
    claim_ids(app, space, &claims).await?;
    Ok(Erasing {
        position: publish_acts(app, space, &claims, curations).await?,
        erasure: ErasureId::of_records(first.id),
        first,
    })
}

/// Returns the position at which a stored erasure was applied; `None` if it is not applied yet, or is another act.
async fn erased_at(app: &App, space: &SpaceId, curation: &Curation) -> Result<Option<Position>, Problem> {
    if !matches!(curation.act, Act::EraseRecord { .. }) {
        return Ok(None);
    }
    let records = &app.stores().records;
    let Some(position) = records.position_of_curation(space, curation.id).await? else {
        // For an act from before positions were stored, this is the best known value.
        return Ok(Some(app.require_space(space).await?.written));
    };
    let done = records.is_written(space, position).await?;
    Ok(done.then_some(position))
}

/// Publishes acts whose ids are claimed.
async fn publish_acts(
    app: &App,
    space: &SpaceId,
    claims: &[(RecordId, Hash)],
    curations: Vec<Curation>,
) -> Result<Position, Problem> {
    let mut batch = Sha256::new().chain_update("curation ");
    for (id, digest) in claims {
        batch.update(id.uuid().as_bytes());
        batch.update(digest);
    }
    let created = app.require_space(space).await?.created_at;
    let message = RecordsAcceptedV1 {
        space: space.clone(),
        batch: to_hex(&batch.finalize()),
        created: Some(created),
        records: Vec::new(),
        curations,
    };
    Ok(app.context.publish_message(&message).await?)
}

/// Returns the record with this id, which is the caller's or Mnemic's.
async fn find_record_id(app: &App, space: &SpaceId, id: &str) -> Result<RecordId, Problem> {
    let mut ids = vec![RecordId::from_external_id(space, id)];
    ids.extend(id.parse::<RecordId>().ok());
    let found = app.stores().records.get(space, &ids).await?.into_iter().next();
    found.map(|it| it.id).ok_or_else(|| {
        Problem::not_found(
            "there is no record with this id; if it was accepted just now, wait until its write is searchable",
        )
    })
}

/// Returns the act with this id, which is the caller's or Mnemic's; `None` if there is none.
pub(crate) async fn find_act(app: &App, space: &SpaceId, id: &str) -> Result<Option<Curation>, Problem> {
    let found = find_stored_act(app, space, CurationId::from_external_id(space, id)).await?;
    match (found, id.parse()) {
        (None, Ok(id)) => find_stored_act(app, space, id).await,
        (found, _) => Ok(found),
    }
}

async fn find_stored_act(app: &App, space: &SpaceId, id: CurationId) -> Result<Option<Curation>, Problem> {
    // A list that starts after the previous id starts at `id`.
    let before = id.uuid().as_u128().checked_sub(1).map(Uuid::from_u128);
    let found = app
        .stores()
        .records
        .curations(space, before.map(CurationId::from_uuid), 1)
        .await?;
    Ok(found.into_iter().next().filter(|it| it.id == id))
}

fn check_act(new: &NewCuration) -> Result<(), Problem> {
    let name = |field: &str, text: &str, bytes_max: usize| {
        validate::check_name(field, Some(text), bytes_max).map_err(Problem::invalid_request)?;
        if text.trim().is_empty() {
            return Err(Problem::invalid_request(format!("{field}: is empty")));
        }
        Ok(())
    };
    if let Some(id) = &new.id {
        name("id", id, validate::NAME_BYTES_MAX)?;
        validate::check_addressable("id", Some(id)).map_err(Problem::invalid_request)?;
    }
    validate::check_content("reason", &new.reason, REASON_BYTES_MAX).map_err(Problem::invalid_request)?;
    match &new.act {
        NewAct::CorrectFact { object, .. } => {
            validate::check_content("act.object", object, OBJECT_BYTES_MAX).map_err(Problem::invalid_request)?;
            if object.trim().is_empty() {
                return Err(Problem::invalid_request(
                    "act.object: is empty; use `retire_fact` to withdraw a fact without a new value",
                ));
            }
            Ok(())
        }
        NewAct::EraseRecord { record } => name("act.record", record, validate::RECORD_ID_BYTES_MAX),
        NewAct::Undo { curation } => name("act.curation", curation, validate::NAME_BYTES_MAX),
        NewAct::RetireFact { .. }
        | NewAct::UndoMerge { .. }
        | NewAct::UndoLabel { .. }
        | NewAct::UndoSummary { .. }
        | NewAct::PinUnit { .. }
        | NewAct::ForgetUnit { .. } => Ok(()),
    }
}

/// Looks up the target of the act.
async fn resolve_target(app: &App, space: &SpaceId, act: NewAct) -> Result<Act, Problem> {
    Ok(match act {
        NewAct::CorrectFact { fact, object } => {
            derived_items::find_derived_item::<Fact>(app, space, fact.uuid()).await?;
            Act::CorrectFact {
                fact,
                object: object.trim().to_owned(),
            }
        }
        NewAct::RetireFact { fact } => {
            derived_items::find_derived_item::<Fact>(app, space, fact.uuid()).await?;
            Act::RetireFact { fact }
        }
        NewAct::UndoMerge { merge } => {
            derived_items::find_derived_item::<Merge>(app, space, merge.uuid()).await?;
            Act::UndoMerge { merge }
        }
        NewAct::UndoLabel { topic } => {
            derived_items::find_derived_item::<Topic>(app, space, topic.uuid()).await?;
            Act::UndoLabel { topic }
        }
        NewAct::UndoSummary { page } => {
            derived_items::find_derived_item::<Page>(app, space, page.uuid()).await?;
            Act::UndoSummary { page }
        }
        NewAct::PinUnit { unit } => Act::PinUnit {
            unit: in_use(app, space, unit).await?,
        },
        NewAct::ForgetUnit { unit } => Act::ForgetUnit {
            unit: in_use(app, space, unit).await?,
        },
        NewAct::EraseRecord { record: id } => Act::EraseRecord {
            record: find_record_id(app, space, &id).await?,
        },
        NewAct::Undo { curation } => Act::Undo {
            curation: find_undoable_act(app, space, &curation).await?,
        },
    })
}

/// Checks that a unit exists and was not removed.
async fn in_use(app: &App, space: &SpaceId, id: UnitId) -> Result<UnitId, Problem> {
    let found = app.stores().graph.units(space, &[id]).await?.into_iter().next();
    let found = found.filter(|it| it.status != Status::Superseded);
    found
        .map(|it| it.id)
        .ok_or_else(|| derived_items::missing_item_problem(space, "unit", "units"))
}

/// Returns the id of the act to undo; an erasure cannot be undone.
async fn find_undoable_act(app: &App, space: &SpaceId, id: &str) -> Result<CurationId, Problem> {
    let found = find_act(app, space, id).await?.ok_or_else(|| {
        Problem::not_found(
            "there is no act with this id; see the list of curations, which has a newly accepted act once its write \
             is searchable",
        )
    })?;
    if matches!(found.act, Act::EraseRecord { .. }) {
        return Err(Problem::conflict(
            "an erasure cannot be undone: nothing of the record is left; send the record again if it was erased by mistake",
        ));
    }
    Ok(found.id)
}

fn auto_id_from_hash(hash: Sha256) -> String {
    format!("auto-{}", to_hex(&hash.finalize()[..16]))
}

fn time_from_clock_us(clock_us: u64) -> DateTime<Utc> {
    let us = i64::try_from(clock_us).unwrap_or(i64::MAX);
    DateTime::from_timestamp_micros(us).unwrap_or_else(clock::now)
}
