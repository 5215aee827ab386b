//! Looks up readings of pages and of pairs of names in the store.

use domain::PortError;
use domain::id::{ReadingId, SpaceId};
use domain::reading::Reading;
use host::Backends;

use crate::judgements::reading_lookup::ReadingSubject;

/// Number of readings looked up in one request.
const AT_ONCE: usize = 256;

/// Returns the content of the stored readings of some things; `read` extracts it from a reading.
pub(crate) async fn look_up_sayings<K, T>(
    backends: &Backends,
    space: &SpaceId,
    places: &[ReadingSubject<K>],
    read: impl Fn(&Reading) -> Option<T>,
) -> Result<Vec<T>, PortError> {
    let mut found = Vec::new();
    for some in places.chunks(AT_ONCE) {
        let ids: Vec<ReadingId> = some.iter().map(|it| it.reading).collect();
        let readings = backends.readings.get(space, &ids).await?;
        found.extend(readings.iter().filter_map(&read));
    }
    Ok(found)
}
