//! Derives searchable turn units from accepted records.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use domain::id::{RecordId, SessionId, SpaceId, UnitId};
use domain::message::{RecordsAcceptedV1, UnitsWrittenV1};
use domain::port::{SpaceInfo, UnfinishedErasure};
use domain::record::Record;
use domain::unit::Unit;
use domain::{Classify, ErrorKind, PortError};
use futures::future::try_join_all;
use host::{Backends, Context, Meta};
use tracing::{Instrument, debug, info_span};

use crate::erasure::erase::{self, Around};
use crate::erasure::{dead_letters, erasing_acts, orphaned_curations, receipt};
use crate::intake::long_texts;
use crate::store_access::unit_vectors::embed_parts;
use crate::store_access::window::{self, RecordOrder};
use crate::store_access::{gist_points, unit_lookup, unit_retirement};
use crate::units::points::{self, Part};
use crate::units::turn_units::units_of;
use crate::{Error, write_turn_units};

/// Number of sessions of one batch that are read concurrently.
const SESSIONS_AT_ONCE: usize = 8;

/// Consecutive records of a session, and the ids of those to write.
type Window = (Vec<Record>, BTreeSet<RecordId>);

/// Stores the records of a batch and their turn units, makes them searchable, applies the curations, marks the batch
/// as written and announces it. A batch with curations is marked by the clusterer, because the memory reflects them
/// only then.
///
/// A batch that is already marked is only announced; the bus stores the announcement once. If the space was deleted,
/// nothing is stored, even if a new space has the same name.
pub(crate) async fn accept_batch(context: &Context, message: RecordsAcceptedV1, meta: Meta) -> Result<(), Error> {
    let backends = &context.backends;
    let (space, created) = (message.space.clone(), message.created);
    let acts = !message.curations.is_empty();
    let mut sessions: BTreeSet<SessionId> = message.records.iter().map(|it| it.session).collect();
    let mut units: Vec<UnitId> = message.records.iter().map(|it| UnitId::of_turn(it.id)).collect();
    let around = match apply_batch(backends, message, &meta).await {
        Ok(Some(around)) => around,
        Ok(None) => {
            debug!(%space, "another space has the name now, batch dropped");
            return Ok(());
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return drop_batch_of_deleted_space(backends, &space, created, error).await;
        }
        Err(error) => return Err(error),
    };
    sessions.extend(around.sessions);
    let known: BTreeSet<UnitId> = units.iter().copied().collect();
    units.extend(around.units.difference(&known));
    let announcement = UnitsWrittenV1 {
        space,
        position: meta.position,
        sessions: sessions.into_iter().collect(),
        units,
        acts,
    };
    context.publish_message(&announcement).await?;
    Ok(())
}

/// Applies the batch unless that was done already, and returns what else has to be organised. Returns none if the
/// space was deleted and created again in the meantime.
async fn apply_batch(backends: &Backends, message: RecordsAcceptedV1, meta: &Meta) -> Result<Option<Around>, Error> {
    let RecordsAcceptedV1 {
        space,
        created,
        mut records,
        curations,
        ..
    } = message;
    let erased = erasing_acts::records_to_erase(&curations);
    if meta.attempt > 1 && backends.records.is_written(&space, meta.position).await? {
        let around = match erased.is_empty() {
            true => Around::default(),
            false => erase::find_traces(backends, &space, &erased).await?,
        };
        return Ok(Some(around));
    }
    let before = read_space_info(backends, &space).await?;
    if created.is_some_and(|it| it != before.created_at) {
        return Ok(None);
    }
    // Curations from now on are noticed after the records were stored.
    if before.revision.curations > 0 {
        let revoked = erasing_acts::find_revoked_records(backends, &space, &records).await?;
        // An earlier attempt may have stored their units after the erasure, and ended before it retracted them. Attempts
        // that follow at once have the same number, so it does not say whether there was one.
        let of_revoked = records.iter().filter(|it| revoked.contains(&it.id));
        let units: BTreeSet<UnitId> = of_revoked.flat_map(units_of).collect();
        unit_retirement::retire_units(backends, &space, &units).await?;
        records.retain(|it| !revoked.contains(&it.id));
    }
    if !records.is_empty() && !store_records(backends, &before, records).await? {
        return Ok(None);
    }
    if !curations.is_empty() {
        let records = &backends.records;
        records.put_curations(&space, meta.position, &curations).await?;
        orphaned_curations::redact_late_curations(backends, &space, &curations).await?;
    }
    receipt::store_receipt(backends, &before, meta.position, &curations).await?;
    let around = erased_with_parts(backends, &space, &erased)
        .instrument(info_span!("erase", records = erased.len()))
        .await?;
    if curations.is_empty() {
        backends.records.mark_written(&space, meta.position).await?;
    }
    Ok(Some(around))
}

/// Erases records with all their units and their traces in curations and dead letters, and returns what else has to be
/// organised.
async fn erased_with_parts(
    backends: &Backends,
    space: &SpaceId,
    records: &BTreeSet<RecordId>,
) -> Result<Around, PortError> {
    if records.is_empty() {
        return Ok(Around::default());
    }
    let further = long_texts::redact_further_units(backends, space, records).await?;
    let around = erase::erase_records(backends, space, records).await?;
    if !further.is_empty() {
        unit_retirement::retire_units(backends, space, &further).await?;
    }
    dead_letters::clean_dead_letters(backends, space).await?;
    Ok(around)
}

async fn read_space_info(backends: &Backends, space: &SpaceId) -> Result<SpaceInfo, PortError> {
    let missing = || PortError::new("accept", ErrorKind::NotFound, "the space was deleted");
    backends.records.space(space).await?.ok_or_else(missing)
}

/// Stores records and their turn units in the space described by `before`. Returns false if another space has its
/// name by now; none of the records is left in it then.
async fn store_records(backends: &Backends, before: &SpaceInfo, mut records: Vec<Record>) -> Result<bool, Error> {
    let space = &before.space;
    let put = info_span!("records.put", records = records.len());
    backends.records.put(space, &records).instrument(put).await?;
    let now = read_space_info(backends, space).await?;
    if now.created_at == before.created_at {
        if now.revision.curations > 0 {
            // An erasure may have run between the first look and the put, which then restored its record. Its
            // curation may be older than the first look, so the number of curations may be the same.
            let revoked = erasing_acts::find_revoked_records(backends, space, &records).await?;
            records.retain(|it| !revoked.contains(&it.id));
            let revoked: Vec<RecordId> = revoked.into_iter().collect();
            backends.records.erase(space, &revoked).await?;
        }
        put_units(backends, space, &records, &[]).await?;
        gist_points::put_in_index_again(backends, space, &records).await?;
        if read_space_info(backends, space).await?.created_at == before.created_at {
            return Ok(true);
        }
    }
    take_back(backends, space, &records).await?;
    Ok(false)
}

/// Removes records from a space that never accepted them, with everything derived from them. A record that the space
/// itself accepted under the same id stays, and its units are derived again.
async fn take_back(backends: &Backends, space: &SpaceId, records: &[Record]) -> Result<(), Error> {
    let ids: Vec<RecordId> = records.iter().map(|it| it.id).collect();
    let accepted = backends.records.claimed(space, &ids).await?;
    let free: Vec<RecordId> = ids.iter().copied().filter(|it| !accepted.contains(it)).collect();
    backends.records.erase(space, &free).await?;
    let mut units = unit_lookup::further_units(backends, space, ids.iter().copied()).await?;
    units.extend(ids.iter().map(|it| UnitId::of_turn(*it)));
    unit_retirement::retire_units(backends, space, &units).await?;
    let own = backends.records.get(space, &ids).await?;
    put_units(backends, space, &own, &[]).await
}

/// Derives the turn units of stored records again; they may have fewer points than before.
pub(crate) async fn replace_units(backends: &Backends, space: &SpaceId, records: &[Record]) -> Result<(), Error> {
    let units: Vec<UnitId> = records.iter().flat_map(units_of).collect();
    put_units(backends, space, records, &units).await
}

/// Derives the turn units of stored records, makes them searchable, and deletes points of other `former` units.
async fn put_units(backends: &Backends, space: &SpaceId, records: &[Record], former: &[UnitId]) -> Result<(), Error> {
    let windows = read_windows(backends, space, records).await?;
    let rules = info_span!("rules");
    let (units, parts) = host::spawn_background(move || rules.in_scope(|| derive_units_and_parts(&windows))).await?;
    let points = embed_parts(backends, parts).await?;
    // The graph comes first: an erasure finds the further units of a long text only there, so a failure must not leave
    // points of units that the graph does not have.
    let (graph, index) = (&backends.graph, &backends.index);
    let put = info_span!("graph.put_units", units = units.len());
    graph.put_units(space, &units, &[]).instrument(put).await?;
    let put = info_span!("index.put", points = points.len());
    index.put(space, &points, former).instrument(put).await?;
    let ids: Vec<RecordId> = records.iter().map(|it| it.id).collect();
    erase::retract_orphaned_units(backends, space, &ids).await?;
    Ok(long_texts::retire_orphaned(backends, space, records).await?)
}

/// Returns stretches of sessions, with the ids of the records to write in each.
async fn read_windows(backends: &Backends, space: &SpaceId, records: &[Record]) -> Result<Vec<Window>, PortError> {
    let mut sessions: BTreeMap<SessionId, BTreeSet<RecordOrder>> = BTreeMap::new();
    for record in records {
        sessions
            .entry(record.session)
            .or_default()
            .insert(record.session_order_key());
    }
    let span = info_span!("session.window", sessions = sessions.len());
    let sessions: Vec<(SessionId, BTreeSet<RecordOrder>)> = sessions.into_iter().collect();
    let mut out = Vec::new();
    for some in sessions.chunks(SESSIONS_AT_ONCE) {
        let mut reads = Vec::with_capacity(some.len());
        for (session, places) in some {
            reads.push(read_session_windows(backends, space, *session, places));
        }
        let windows = try_join_all(reads).instrument(span.clone()).await?;
        out.extend(windows.into_iter().flatten());
    }
    Ok(out)
}

async fn read_session_windows(
    backends: &Backends,
    space: &SpaceId,
    session: SessionId,
    places: &BTreeSet<RecordOrder>,
) -> Result<Vec<Window>, PortError> {
    let stretches = window::read_stretches(backends, space, session, places).await?;
    let wanted: BTreeSet<RecordId> = places.iter().map(|it| it.2).collect();
    Ok(stretches.into_iter().map(|it| (it.records, wanted.clone())).collect())
}

fn derive_units_and_parts(windows: &[Window]) -> (Vec<Unit>, Vec<Part>) {
    let mut units = Vec::new();
    for (window, wanted) in windows {
        let places: Vec<usize> = (0..window.len())
            .filter(|&at| wanted.contains(&window[at].id))
            .collect();
        units.extend(write_turn_units(window, &places));
    }
    units.sort_by_key(|it| it.id);
    units.dedup_by_key(|it| it.id);
    let parts = units.iter().flat_map(points::parts_of_unit).collect();
    (units, parts)
}

/// Settles a batch whose space, created at `created`, was deleted while it waited, and deletes points that were already
/// stored for it. Another space may get the name at any time, and keeps its points; only a batch of an earlier release
/// does not say when its space was created.
async fn drop_batch_of_deleted_space(
    backends: &Backends,
    space: &SpaceId,
    created: Option<DateTime<Utc>>,
    error: Error,
) -> Result<(), Error> {
    if backends.records.space(space).await?.is_some() {
        return Err(error);
    }
    debug!(%space, "the space was deleted, batch dropped");
    match created {
        Some(created_at) => {
            let space = space.clone();
            let erasure = UnfinishedErasure { space, created_at };
            backends.index.erase_deleted(&erasure).await?;
        }
        None => backends.index.erase(space).await?,
    }
    Ok(())
}

#[cfg(test)]
mod tests;
