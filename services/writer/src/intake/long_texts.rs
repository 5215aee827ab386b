//! The further turn units of records with a long text. The id of the first unit derives from its record; the others
//! are found by counting on from it.

use std::collections::{BTreeMap, BTreeSet};

use domain::PortError;
use domain::id::{RecordId, SpaceId, UnitId};
use domain::record::Record;
use host::Backends;

use crate::erasure::redact;
use crate::store_access::unit_lookup::further_units;
use crate::store_access::unit_retirement;
use crate::units::turn_units::units_of;

/// Redacts the curations about further units of records that are about to be erased, and returns these units.
pub(crate) async fn redact_further_units(
    backends: &Backends,
    space: &SpaceId,
    records: &BTreeSet<RecordId>,
) -> Result<BTreeSet<UnitId>, PortError> {
    let units = further_units(backends, space, records.iter().copied()).await?;
    if !units.is_empty() {
        redact::redact_curations_about_units(backends, space, &units).await?;
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
    unit_retirement::retire_units(backends, space, &orphaned).await
}
