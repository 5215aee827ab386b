//! Stores the data derived from readings. Gists and their relations are stored after their reading, and removed with
//! it.

use std::collections::BTreeSet;

use domain::PortError;
use domain::id::{ReadingId, RecordId, SpaceId, UnitId};
use domain::reading::Reading;
use domain::record::Record;
use host::Backends;
use tracing::{Instrument, debug, info_span};

use crate::picture_store::{has_uncaptioned_picture, with_captions};
use crate::reading::derive::{Derived, GISTS_MAX, derive};
use crate::reading::prompt::digest;
use crate::{Error, accept, erase, picture_store, points};

/// Number of readings looked up in one request.
const AT_ONCE: usize = 64;

/// Replaces the data derived from an earlier version of a stored reading by the data of the current one, unless it is
/// already stored. If the reading was removed in the meantime with one of its records, its data is removed too.
/// Returns false if nothing is derived from the reading now.
///
/// An imported reading of texts that differ from those of the records is removed. If the records have pictures whose
/// captions may still change, the reading stays, but nothing is derived from it.
pub(crate) async fn put_gists(backends: &Backends, space: &SpaceId, reading: &Reading) -> Result<bool, Error> {
    let records = backends.records.get(space, &reading.records).await?;
    let may_change = records.iter().any(has_uncaptioned_picture);
    let records = with_captions(backends, space, records).await?;
    if digest(&[], &records) != reading.digest && may_change {
        debug!(%space, reading = %reading.id, "the pictures have other captions than what was read");
        let former = gists_of(backends, space, &[reading.id]).await?;
        erase::retire(backends, space, &former).await?;
        return Ok(false);
    }
    if digest(&[], &records) != reading.digest {
        debug!(%space, reading = %reading.id, "the records say something else than what was read");
        remove(backends, space, &[reading.id]).await?;
        return Ok(false);
    }
    put_derived(backends, space, reading.id, derived(backends, space, reading).await?).await?;
    Ok(true)
}

/// Stores the data derived from a stored reading whose texts match those of the records, like [`put_gists`].
pub(crate) async fn put_derived(
    backends: &Backends,
    space: &SpaceId,
    reading: ReadingId,
    derived: Derived,
) -> Result<(), Error> {
    let Derived { units, relations, .. } = derived;
    let former = gists_of(backends, space, &[reading]).await?;
    let stored: Vec<UnitId> = units.iter().map(|it| it.id).collect();
    if !units.is_empty() && backends.graph.units(space, &stored).await? == units && former.len() == units.len() {
        return Ok(());
    }
    erase::retire(backends, space, &former).await?;
    put_in_index(backends, space, &units).await?;
    backends.graph.put_units(space, &units, &[]).await?;
    backends.graph.put_relations(space, &relations).await?;
    if backends.readings.get(space, &[reading]).await?.is_empty() {
        let units = gists_of(backends, space, &[reading]).await?;
        erase::retire(backends, space, &units).await?;
    }
    Ok(())
}

/// Returns true if the model was shown the records of a reading with their current captions.
pub(crate) async fn is_as_shown(backends: &Backends, space: &SpaceId, reading: &Reading) -> Result<bool, PortError> {
    let records = picture_store::records(backends, space, &reading.records).await?;
    Ok(digest(&[], &records) == reading.digest)
}

/// Puts the gists of all readings of some records into the index again. When a space is rebuilt, its new index
/// generation thus has them before it is searched.
pub(crate) async fn put_in_index_again(backends: &Backends, space: &SpaceId, records: &[Record]) -> Result<(), Error> {
    let ids: Vec<RecordId> = records.iter().map(|it| it.id).collect();
    for reading in backends.readings.of_records(space, &ids).await? {
        let first = reading.records.first();
        // Once for each reading, in whichever batches its records come.
        if !reading.kind.is_passage() || !first.is_some_and(|it| ids.contains(it)) {
            continue;
        }
        let Derived { units, .. } = derived(backends, space, &reading).await?;
        put_in_index(backends, space, &units).await?;
    }
    Ok(())
}

/// Returns the data derived from a reading and its records.
pub(crate) async fn derived(backends: &Backends, space: &SpaceId, reading: &Reading) -> Result<Derived, Error> {
    let records = picture_store::records(backends, space, &reading.records).await?;
    let before = picture_store::records(backends, space, &reading.beside).await?;
    let reading = reading.clone();
    Ok(host::background(move || derive(&reading, &before, &records)).await?)
}

async fn put_in_index(backends: &Backends, space: &SpaceId, units: &[domain::unit::Unit]) -> Result<(), Error> {
    let parts = units.iter().flat_map(points::parts).collect();
    let points = accept::embed(backends, parts).await?;
    let put = info_span!("index.put", points = points.len());
    Ok(backends.index.put(space, &points, &[]).instrument(put).await?)
}

/// Returns the stored gists of readings, also of readings that no longer exist.
pub(crate) async fn gists_of(
    backends: &Backends,
    space: &SpaceId,
    readings: &[ReadingId],
) -> Result<BTreeSet<UnitId>, PortError> {
    let mut found = BTreeSet::new();
    for some in readings.chunks(AT_ONCE) {
        let gists = |it: &ReadingId| {
            let id = *it;
            (0..GISTS_MAX).map(move |number| UnitId::gist(id, number))
        };
        let ids: Vec<UnitId> = some.iter().flat_map(gists).collect();
        let stored = backends.graph.units(space, &ids).await?;
        found.extend(stored.iter().map(|it| it.id));
    }
    Ok(found)
}

/// Removes readings with all data derived from them. The readings are removed first: after storing gists, the writer
/// checks that their reading still exists.
pub(crate) async fn remove(backends: &Backends, space: &SpaceId, readings: &[ReadingId]) -> Result<(), PortError> {
    if readings.is_empty() {
        return Ok(());
    }
    backends.readings.remove(space, readings).await?;
    let gists = gists_of(backends, space, readings).await?;
    erase::retire(backends, space, &gists).await
}
