//! Readings of pages, in the store.

use domain::PortError;
use domain::id::{ReadingId, SpaceId};
use host::Backends;

use crate::summaries::{PageSummary, SummaryPlace};

/// Readings looked up in one step.
const AT_ONCE: usize = 256;

/// Returns what the stored readings of some pages say.
pub(crate) async fn look_up_summaries(
    backends: &Backends,
    space: &SpaceId,
    places: &[SummaryPlace],
) -> Result<Vec<PageSummary>, PortError> {
    let mut summaries = Vec::new();
    for some in places.chunks(AT_ONCE) {
        let ids: Vec<ReadingId> = some.iter().map(|it| it.reading).collect();
        let readings = backends.readings.get(space, &ids).await?;
        summaries.extend(readings.iter().filter_map(PageSummary::of));
    }
    Ok(summaries)
}
