//! Looks up readings of pairs of events in the store.

use std::collections::BTreeMap;

use domain::PortError;
use domain::id::{ReadingId, SpaceId, UnitId};
use domain::reading::Reading;
use domain::unit::Unit;
use host::Backends;

use crate::judgements::coreference::{Pair, PairJudgement};

/// Number of readings looked up in one request.
const AT_ONCE: usize = 256;

/// Returns the content of the stored readings of some pairs, as far as it applies to the current state of the events.
pub(crate) async fn look_up(
    backends: &Backends,
    space: &SpaceId,
    pairs: &[Pair],
) -> Result<Vec<PairJudgement>, PortError> {
    let mut verdicts = Vec::new();
    for some in pairs.chunks(AT_ONCE) {
        let ids: Vec<ReadingId> = some.iter().map(|it| it.reading).collect();
        let readings = backends.readings.get(space, &ids).await?;
        if readings.is_empty() {
            continue;
        }
        let readings: BTreeMap<ReadingId, Reading> = readings.into_iter().map(|it| (it.id, it)).collect();
        let found = some.iter().filter_map(|it| Some((it, readings.get(&it.reading)?)));
        let found: Vec<(&Pair, &Reading)> = found.collect();
        let events: Vec<UnitId> = found.iter().flat_map(|it| [it.0.earlier, it.0.later]).collect();
        let units = units_by_id(backends, space, &events).await?;
        verdicts.extend(found.into_iter().filter_map(|(pair, reading)| {
            PairJudgement::from_reading(reading, units.get(&pair.earlier)?, units.get(&pair.later)?)
        }));
    }
    Ok(verdicts)
}

/// Returns units by id, without unknown ids.
pub(crate) async fn units_by_id(
    backends: &Backends,
    space: &SpaceId,
    ids: &[UnitId],
) -> Result<BTreeMap<UnitId, Unit>, PortError> {
    let units = backends.graph.units(space, ids).await?;
    Ok(units.into_iter().map(|it| (it.id, it)).collect())
}
