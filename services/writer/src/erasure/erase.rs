//! Erases records permanently, with the units that derive from them.
//!
//! The gists of the readings whose model was shown the record are retired first. Then the record is deleted with these
//! readings, then its units are retired, and the gists once more. After deriving units, the writer checks that their
//! records still exist ([`retract_orphaned_units`]). Whichever of erasure and derivation finishes last removes the
//! units, even across processes.
//! Events that contained the record are removed too; their neighbours are announced, and the organiser derives the
//! events again without it.

use std::collections::{BTreeMap, BTreeSet};

use domain::PortError;
use domain::id::{ReadingId, RecordId, SessionId, SpaceId, UnitId};
use domain::record::Record;
use domain::unit::{Grain, Status, Unit};
use host::Backends;

use crate::erasure::redact;
use crate::segments::segment::MARGIN;
use crate::segments::stretch::Stretch;
use crate::store_access::unit_lookup;
use crate::store_access::unit_retirement::retire_units;
use crate::store_access::window::{self, RecordOrder};

/// Number of units read in one request.
const AT_ONCE: usize = 1_000;

/// The surroundings of erased records.
#[derive(Debug, Default)]
pub(crate) struct Around {
    /// The sessions of these records.
    pub(crate) sessions: BTreeSet<SessionId>,
    /// Turn units of the nearest records before and after.
    pub(crate) units: BTreeSet<UnitId>,
    /// Events that contain one of the records.
    events: BTreeSet<UnitId>,
}

/// Erases records, their units and their points, and returns what has to be derived again. Leftovers of an earlier
/// attempt that ended half-way are found too, at the cost of reading all units.
pub(crate) async fn erase_records(
    backends: &Backends,
    space: &SpaceId,
    records: &BTreeSet<RecordId>,
) -> Result<Around, PortError> {
    if records.is_empty() {
        return Ok(Around::default());
    }
    let ids: Vec<RecordId> = records.iter().copied().collect();
    let stored = backends.records.get(space, &ids).await?;
    let mut around = if stored.len() < ids.len() {
        find_traces(backends, space, records).await?
    } else {
        Around::default()
    };
    add_neighbours_and_events(backends, space, &stored, &mut around).await?;
    let mut own: BTreeSet<UnitId> = ids.iter().flat_map(|it| units_starting_with(*it)).collect();
    let readings = backends.readings.of_records(space, &ids).await?;
    let readings: Vec<ReadingId> = readings.iter().map(|it| it.id).collect();
    let gists = unit_lookup::gists_of(backends, space, &readings).await?;
    own.extend(&gists);
    // Done before the record and its facts are deleted, because these are needed to find the curations about them and
    // the name of the session.
    redact::redact_curations_about_units(backends, space, &own).await?;
    redact::erase_recall_ledgers(backends, space, &stored).await?;
    // Erasing the records removes the readings, and without its reading a later attempt would not find a gist that
    // cites none of the records.
    retire_units(backends, space, &gists).await?;
    backends.records.erase(space, &ids).await?;
    let mut units = around.events.clone();
    units.extend(own);
    retire_units(backends, space, &units).await?;
    Ok(around)
}

/// Retires units whose records were erased while the units were derived.
pub(crate) async fn retract_orphaned_units(
    backends: &Backends,
    space: &SpaceId,
    ids: &[RecordId],
) -> Result<(), PortError> {
    // A curation is stored before the data that it erases is deleted, so without any curation there is nothing to
    // check.
    if backends.records.curations(space, None, 1).await?.is_empty() {
        return Ok(());
    }
    let stored = backends.records.get(space, ids).await?;
    let stored: BTreeSet<RecordId> = stored.iter().map(|it| it.id).collect();
    let erased = ids.iter().filter(|it| !stored.contains(it));
    let units: BTreeSet<UnitId> = erased.flat_map(|it| units_starting_with(*it)).collect();
    if units.is_empty() {
        return Ok(());
    }
    retire_units(backends, space, &units).await
}

/// Finds the leftovers of an erasure that ended half-way among all units, because the records are already deleted.
pub(crate) async fn find_traces(
    backends: &Backends,
    space: &SpaceId,
    records: &BTreeSet<RecordId>,
) -> Result<Around, PortError> {
    let turns: BTreeMap<UnitId, RecordId> = records.iter().map(|it| (UnitId::of_turn(*it), *it)).collect();
    let mut places: BTreeMap<RecordId, (SessionId, RecordOrder)> = BTreeMap::new();
    let mut around = Around::default();
    visit_units(backends, space, |unit| {
        if let Some(record) = turns.get(&unit.id) {
            places.insert(*record, (unit.session, (unit.observed_at, unit.ordinal, *record)));
        } else if unit.grain != Grain::Turn && unit.records.iter().any(|it| records.contains(it)) {
            around.events.insert(unit.id);
        }
    })
    .await?;
    around.sessions = places.values().map(|(session, _)| *session).collect();
    let mut sides: BTreeMap<RecordId, (Option<RecordOrder>, Option<RecordOrder>)> = BTreeMap::new();
    visit_units(backends, space, |unit| {
        let record = unit.records.first().filter(|it| !records.contains(it));
        let Some(record) = record.filter(|_| unit.grain == Grain::Turn && unit.status != Status::Superseded) else {
            return;
        };
        let place = (unit.observed_at, unit.ordinal, *record);
        for (erased, (session, at)) in &places {
            if *session != unit.session {
                continue;
            }
            let (before, behind) = sides.entry(*erased).or_default();
            if place < *at {
                *before = Some(before.map_or(place, |it| it.max(place)));
            } else {
                *behind = Some(behind.map_or(place, |it| it.min(place)));
            }
        }
    })
    .await?;
    let nearest = sides.into_values().flat_map(|(before, behind)| [before, behind]);
    around.units.extend(nearest.flatten().map(|it| UnitId::of_turn(it.2)));
    Ok(around)
}

/// Adds the neighbours of stored records and the events that contain them.
async fn add_neighbours_and_events(
    backends: &Backends,
    space: &SpaceId,
    records: &[Record],
    around: &mut Around,
) -> Result<(), PortError> {
    let erased: BTreeSet<RecordId> = records.iter().map(|it| it.id).collect();
    let mut sessions: BTreeMap<SessionId, BTreeSet<RecordOrder>> = BTreeMap::new();
    for record in records {
        sessions
            .entry(record.session)
            .or_default()
            .insert(record.session_order_key());
    }
    for (session, places) in sessions {
        around.sessions.insert(session);
        for stretch in window::read_stretches(backends, space, session, &places).await? {
            around.units.extend(
                nearest_remaining_records(&stretch, &erased)
                    .into_iter()
                    .map(UnitId::of_turn),
            );
            let events: Vec<UnitId> = possible_event_starts(&stretch, &erased)
                .into_iter()
                .map(UnitId::of_event)
                .collect();
            let events = backends.graph.units(space, &events).await?;
            let events = events
                .iter()
                .filter(|it| it.records.iter().any(|it| erased.contains(it)));
            around.events.extend(events.map(|it| it.id));
        }
    }
    Ok(())
}

/// Returns, for each erased record, the nearest remaining records before and after it.
fn nearest_remaining_records(stretch: &Stretch, erased: &BTreeSet<RecordId>) -> BTreeSet<RecordId> {
    let mut found = BTreeSet::new();
    let (mut last, mut open) = (None, false);
    for record in &stretch.records {
        if erased.contains(&record.id) {
            found.extend(last);
            open = true;
        } else {
            if std::mem::take(&mut open) {
                found.insert(record.id);
            }
            last = Some(record.id);
        }
    }
    found
}

/// Returns the records with which an event that contains an erased record may begin.
fn possible_event_starts(stretch: &Stretch, erased: &BTreeSet<RecordId>) -> BTreeSet<RecordId> {
    let places = (0..stretch.records.len()).filter(|at| erased.contains(&stretch.records[*at].id));
    let reach = places.flat_map(|at| at.saturating_sub(MARGIN)..=at);
    reach.map(|at| stretch.records[at].id).collect()
}

/// Returns the ids of the units that begin with a record.
pub(crate) fn units_starting_with(record: RecordId) -> [UnitId; 2] {
    [UnitId::of_turn(record), UnitId::of_event(record)]
}

/// Calls `look` for each unit of the space, including retired ones.
async fn visit_units(backends: &Backends, space: &SpaceId, mut look: impl FnMut(&Unit)) -> Result<(), PortError> {
    let mut sequence = 0;
    loop {
        let changes = backends.graph.changes(space, sequence, AT_ONCE).await?;
        let Some(last) = changes.last() else { return Ok(()) };
        sequence = last.sequence;
        changes.iter().for_each(|it| look(&it.unit));
    }
}
