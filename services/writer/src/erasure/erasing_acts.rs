//! Acts that erase records, as they are stored.

use std::collections::BTreeSet;

use domain::PortError;
use domain::curation::{Act, Curation};
use domain::id::{RecordId, SpaceId};
use domain::record::Record;
use host::Backends;

/// Number of curations read in one request.
const AT_ONCE: usize = 1_000;

/// Returns the records that curations erase.
pub(crate) fn records_to_erase(curations: &[Curation]) -> BTreeSet<RecordId> {
    let record = |it: &Curation| {
        let Act::EraseRecord { record } = it.act else {
            return None;
        };
        Some(record)
    };
    curations.iter().filter_map(record).collect()
}

/// Returns the records of a late or redelivered batch that were erased and not accepted again, which means that they
/// have no claim.
pub(crate) async fn find_revoked_records(
    backends: &Backends,
    space: &SpaceId,
    records: impl IntoIterator<Item = &Record>,
) -> Result<BTreeSet<RecordId>, PortError> {
    let own: BTreeSet<RecordId> = records.into_iter().map(|it| it.id).collect();
    let ids: Vec<RecordId> = own.iter().copied().collect();
    let claimed = BTreeSet::from_iter(backends.records.claimed(space, &ids).await?);
    let unclaimed: BTreeSet<RecordId> = own.into_iter().filter(|it| !claimed.contains(it)).collect();
    if unclaimed.is_empty() {
        return Ok(unclaimed);
    }
    let erased = records_to_erase(&read_curations(backends, space).await?);
    Ok(erased.intersection(&unclaimed).copied().collect())
}

/// Returns all curations of a space.
pub(crate) async fn read_curations(backends: &Backends, space: &SpaceId) -> Result<Vec<Curation>, PortError> {
    let mut all: Vec<Curation> = Vec::new();
    loop {
        let after = all.last().map(|it| it.id);
        let page = backends.records.curations(space, after, AT_ONCE).await?;
        let read = page.len();
        all.extend(page);
        if read < AT_ONCE {
            return Ok(all);
        }
    }
}
