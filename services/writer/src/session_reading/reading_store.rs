//! Stores the data derived from readings. Gists and their relations are stored after their reading, and removed with
//! it.

use domain::PortError;
use domain::id::{ReadingId, SpaceId, UnitId};
use domain::reading::Reading;
use domain::unit::Unit;
use host::Backends;
use tracing::debug;

use crate::Error;
use crate::pictures::picture_store::{self, has_uncaptioned_picture, with_captions};
use crate::reading::derive::DerivedFromReading;
use crate::reading::prompts::prompt::shown_digest;
use crate::store_access::gist_points::{derive_from_stored_records, put_in_index};
use crate::store_access::unit_lookup::gists_of;
use crate::store_access::unit_retirement;

/// Replaces the data derived from an earlier version of a stored reading by the data of the current one, unless it is
/// already stored. If the reading was removed in the meantime with one of its records, its data is removed too.
/// Returns the number of its gists, or none if nothing is derived from the reading now.
///
/// An imported reading of texts that differ from those of the records is removed. If the records have pictures whose
/// captions may still change, the reading stays, but nothing is derived from it.
pub(crate) async fn put_gists(backends: &Backends, space: &SpaceId, reading: &Reading) -> Result<Option<usize>, Error> {
    let records = backends.records.get(space, &reading.records).await?;
    let may_change = records.iter().any(has_uncaptioned_picture);
    let records = with_captions(backends, space, records).await?;
    if shown_digest(&[], &records) != reading.digest && may_change {
        debug!(%space, reading = %reading.id, "the captions of the pictures differ from the captions in the prompt");
        retire_gists(backends, space, &[reading.id]).await?;
        return Ok(None);
    }
    if shown_digest(&[], &records) != reading.digest {
        debug!(%space, reading = %reading.id, "the text of the records differs from the text in the prompt");
        remove_readings(backends, space, &[reading.id]).await?;
        return Ok(None);
    }
    let derived = derive_from_stored_records(backends, space, reading).await?;
    let gists = derived.units.len();
    put_derived(backends, space, reading.id, derived).await?;
    Ok(Some(gists))
}

/// Stores the data derived from a stored reading whose texts match those of the records, like [`put_gists`].
pub(crate) async fn put_derived(
    backends: &Backends,
    space: &SpaceId,
    reading: ReadingId,
    derived: DerivedFromReading,
) -> Result<(), Error> {
    let DerivedFromReading { units, relations, .. } = derived;
    let former = gists_of(backends, space, &[reading]).await?;
    let stored: Vec<UnitId> = units.iter().map(|it| it.id).collect();
    if !units.is_empty() && backends.graph.units(space, &stored).await? == units && former.len() == units.len() {
        return Ok(());
    }
    unit_retirement::retire_units(backends, space, &former).await?;
    // An erasure finds points only through the graph, and the content of a gist in the graph means that it has its
    // points. So the gists are stored without content, then their points, then the content.
    let announced: Vec<Unit> = units.iter().map(Unit::without_content).collect();
    backends.graph.put_units(space, &announced, &[]).await?;
    put_in_index(backends, space, &units).await?;
    backends.graph.put_units(space, &units, &[]).await?;
    backends.graph.put_relations(space, &relations).await?;
    if backends.readings.get(space, &[reading]).await?.is_empty() {
        retire_gists(backends, space, &[reading]).await?;
    }
    Ok(())
}

/// Returns true if the model was shown the records of a reading with their current captions.
pub(crate) async fn is_as_shown(backends: &Backends, space: &SpaceId, reading: &Reading) -> Result<bool, PortError> {
    let records = picture_store::read_captioned_records(backends, space, &reading.records).await?;
    Ok(shown_digest(&[], &records) == reading.digest)
}

/// Removes readings with all data derived from them. Gists are retired before their readings are removed, because a
/// later attempt would not find them otherwise, and once more after it: after storing gists, the writer checks that
/// their reading still exists.
pub(crate) async fn remove_readings(
    backends: &Backends,
    space: &SpaceId,
    readings: &[ReadingId],
) -> Result<(), PortError> {
    if readings.is_empty() {
        return Ok(());
    }
    retire_gists(backends, space, readings).await?;
    backends.readings.remove(space, readings).await?;
    retire_gists(backends, space, readings).await
}

/// Retires the stored gists of readings.
async fn retire_gists(backends: &Backends, space: &SpaceId, readings: &[ReadingId]) -> Result<(), PortError> {
    let gists = gists_of(backends, space, readings).await?;
    unit_retirement::retire_units(backends, space, &gists).await
}
