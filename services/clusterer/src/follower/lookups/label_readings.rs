//! Looks up readings of topics in the store.

use std::collections::BTreeMap;

use domain::PortError;
use domain::id::{ReadingId, SpaceId, UnitId};
use domain::unit::Unit;
use host::Backends;

use crate::follower::lookups::coreference_readings::units_by_id;
use crate::judgements::labels::{LabelSubject, TopicLabel};

/// Returns the content of the stored readings of some topics. There are at most 64 topics with at most 84 events
/// each.
pub(crate) async fn look_up_labels(
    backends: &Backends,
    space: &SpaceId,
    places: &[LabelSubject],
) -> Result<Vec<TopicLabel>, PortError> {
    let ids: Vec<ReadingId> = places.iter().map(|it| it.reading).collect();
    let mut labels = Vec::new();
    for reading in backends.readings.get(space, &ids).await? {
        let ids: Vec<UnitId> = reading.records_seen_by_model().map(UnitId::of_event).collect();
        let events: BTreeMap<UnitId, Unit> = units_by_id(backends, space, &ids).await?;
        labels.extend(TopicLabel::from_reading(&reading, &events));
    }
    Ok(labels)
}
