//! Retires units.

use std::collections::BTreeSet;

use domain::PortError;
use domain::id::{SpaceId, UnitId};
use domain::relation::Relation;
use host::Backends;

/// Number of relations read in one request.
const AT_ONCE: usize = 1_000;

/// Retires units with their relations and points.
pub(crate) async fn retire_units(
    backends: &Backends,
    space: &SpaceId,
    units: &BTreeSet<UnitId>,
) -> Result<(), PortError> {
    if units.is_empty() {
        return Ok(());
    }
    let units: Vec<UnitId> = units.iter().copied().collect();
    // Relations are withdrawn first: the store does not list relations of retired units, and they would reappear if
    // the units did.
    loop {
        let relations = backends.graph.relations(space, &units, AT_ONCE).await?;
        if relations.is_empty() {
            break;
        }
        let withdrawn = relations.into_iter().map(|it| Relation { weight: 0.0, ..it });
        let withdrawn: Vec<Relation> = withdrawn.collect();
        backends.graph.put_relations(space, &withdrawn).await?;
    }
    // Points are deleted before the units are retired: a later attempt finds further parts and gists only as long as
    // the graph has them.
    backends.index.put(space, &[], &units).await?;
    backends.graph.put_units(space, &[], &units).await
}
