//! Puts the gists of stored readings into the index.

use std::collections::BTreeSet;

use domain::id::{RecordId, SpaceId, UnitId};
use domain::reading::Reading;
use domain::record::Record;
use host::Backends;
use tracing::{Instrument as _, info_span};

use crate::Error;
use crate::pictures::picture_store;
use crate::reading::derive::{DerivedFromReading, derive_from_reading};
use crate::store_access::{unit_retirement, unit_vectors};
use crate::units::points;

/// Puts the stored gists of all readings of some records into the index again. When a space is rebuilt, its new index
/// generation thus has them before it is searched. A gist that is not stored yet gets its points when it is stored.
pub(crate) async fn put_in_index_again(backends: &Backends, space: &SpaceId, records: &[Record]) -> Result<(), Error> {
    let ids: Vec<RecordId> = records.iter().map(|it| it.id).collect();
    for reading in backends.readings.of_records(space, &ids).await? {
        let first = reading.records.first();
        // Once for each reading, in whichever batches its records come.
        if !reading.kind.is_passage() || !first.is_some_and(|it| ids.contains(it)) {
            continue;
        }
        let DerivedFromReading { mut units, .. } = derive_from_stored_records(backends, space, &reading).await?;
        let gists: Vec<UnitId> = units.iter().map(|it| it.id).collect();
        let stored = backends.graph.units(space, &gists).await?;
        let stored: BTreeSet<UnitId> = stored.iter().map(|it| it.id).collect();
        units.retain(|it| stored.contains(&it.id));
        put_in_index(backends, space, &units).await?;
        // An erasure that ended before the put did not find these points.
        if backends.readings.get(space, &[reading.id]).await?.is_empty() {
            unit_retirement::retire_units(backends, space, &stored).await?;
        }
    }
    Ok(())
}

/// Returns the data derived from a reading and its records.
pub(crate) async fn derive_from_stored_records(
    backends: &Backends,
    space: &SpaceId,
    reading: &Reading,
) -> Result<DerivedFromReading, Error> {
    let records = picture_store::read_captioned_records(backends, space, &reading.records).await?;
    let before = picture_store::read_captioned_records(backends, space, &reading.beside).await?;
    let reading = reading.clone();
    Ok(host::spawn_background(move || derive_from_reading(&reading, &before, &records)).await?)
}

pub(crate) async fn put_in_index(
    backends: &Backends,
    space: &SpaceId,
    units: &[domain::unit::Unit],
) -> Result<(), Error> {
    let parts = units.iter().flat_map(points::parts_of_unit).collect();
    let points = unit_vectors::embed_parts(backends, parts).await?;
    let put = info_span!("index.put", points = points.len());
    Ok(backends.index.put(space, &points, &[]).instrument(put).await?)
}
