//! The further turn units of records with a long text. The id of the first unit derives from its record; the others
//! are found by counting on from it.

use std::collections::{BTreeMap, BTreeSet};

use domain::PortError;
use domain::id::{RecordId, SpaceId, UnitId};
use domain::record::Record;
use host::Backends;

use crate::write::units_of;
use crate::{erase, redact};

/// Number of parts of one record looked up in one step, after the first step.
const PARTS_AT_ONCE: u16 = 64;
/// Number of units looked up in one request.
const UNITS_AT_ONCE: usize = 1_000;

/// Returns the stored turn units of records except the first of each, also for records that no longer exist.
pub(crate) async fn further_units(
    backends: &Backends,
    space: &SpaceId,
    records: impl IntoIterator<Item = RecordId>,
) -> Result<BTreeSet<UnitId>, PortError> {
    let mut found = BTreeSet::new();
    let mut open: Vec<RecordId> = records.into_iter().collect();
    let (mut from, mut step) = (1, 1);
    while !open.is_empty() {
        let until = from + step;
        let ids: Vec<UnitId> = open
            .iter()
            .flat_map(|it| (from..until).map(|number| UnitId::part(*it, number)))
            .collect();
        for some in ids.chunks(UNITS_AT_ONCE) {
            let units = backends.graph.units(space, some).await?;
            found.extend(units.iter().map(|it| it.id));
        }
        // The parts of a record are stored together, so a missing part is the end.
        open.retain(|it| found.contains(&UnitId::part(*it, until - 1)));
        if until > u16::MAX - PARTS_AT_ONCE {
            break;
        }
        (from, step) = (until, PARTS_AT_ONCE);
    }
    Ok(found)
}

/// Redacts the curations about further units of records that are about to be erased, and returns these units.
pub(crate) async fn redacted(
    backends: &Backends,
    space: &SpaceId,
    records: &BTreeSet<RecordId>,
) -> Result<BTreeSet<UnitId>, PortError> {
    let units = further_units(backends, space, records.iter().copied()).await?;
    if !units.is_empty() {
        redact::acts(backends, space, &units).await?;
    }
    Ok(units)
}

/// Retires the further units of records that were erased while these units were derived.
pub(crate) async fn retire_orphaned<'a>(
    backends: &Backends,
    space: &SpaceId,
    records: impl IntoIterator<Item = &'a Record>,
) -> Result<(), PortError> {
    let mut units: BTreeMap<RecordId, Vec<UnitId>> = BTreeMap::new();
    for record in records {
        let further: Vec<UnitId> = units_of(record).skip(1).collect();
        if !further.is_empty() {
            units.insert(record.id, further);
        }
    }
    if units.is_empty() {
        return Ok(());
    }
    let ids: Vec<RecordId> = units.keys().copied().collect();
    for stored in backends.records.get(space, &ids).await? {
        units.remove(&stored.id);
    }
    let orphaned: BTreeSet<UnitId> = units.into_values().flatten().collect();
    if orphaned.is_empty() {
        return Ok(());
    }
    erase::retire(backends, space, &orphaned).await
}
