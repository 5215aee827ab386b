//! Finds stored units that belong to records and readings.

use std::collections::BTreeSet;

use domain::PortError;
use domain::id::{ReadingId, RecordId, SpaceId, UnitId};
use host::Backends;

use crate::reading::derive::GISTS_MAX;

/// Number of parts of one record looked up in one step, after the first step.
const PARTS_AT_ONCE: u16 = 64;
/// Number of units looked up in one request.
const UNITS_AT_ONCE: usize = 1_000;
/// Number of readings whose gists are looked up in one request.
const READINGS_AT_ONCE: usize = 64;

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
            .flat_map(|it| (from..until).map(|number| UnitId::of_part(*it, number)))
            .collect();
        for some in ids.chunks(UNITS_AT_ONCE) {
            let units = backends.graph.units(space, some).await?;
            found.extend(units.iter().map(|it| it.id));
        }
        // The parts of a record are stored together, so a missing part is the end.
        open.retain(|it| found.contains(&UnitId::of_part(*it, until - 1)));
        if until > u16::MAX - PARTS_AT_ONCE {
            break;
        }
        (from, step) = (until, PARTS_AT_ONCE);
    }
    Ok(found)
}

/// Returns the stored gists of readings, also of readings that no longer exist.
pub(crate) async fn gists_of(
    backends: &Backends,
    space: &SpaceId,
    readings: &[ReadingId],
) -> Result<BTreeSet<UnitId>, PortError> {
    let mut found = BTreeSet::new();
    for some in readings.chunks(READINGS_AT_ONCE) {
        let gists = |it: &ReadingId| {
            let id = *it;
            (0..GISTS_MAX).map(move |number| UnitId::of_gist(id, number))
        };
        let ids: Vec<UnitId> = some.iter().flat_map(gists).collect();
        let stored = backends.graph.units(space, &ids).await?;
        found.extend(stored.iter().map(|it| it.id));
    }
    Ok(found)
}
