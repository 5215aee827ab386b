//! Units with their merges. The state is computed from the merges and not stored in the units, so an undone merge
//! leaves no trace.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use domain::derived::{DerivedId, DerivedKind};
use domain::id::{MergeId, SpaceId, UnitId};
use domain::merge::{Merge, Standing};
use domain::port::Graph;
use domain::unit::{Grain, Status, Unit};

use crate::api::{Absorbed, UnitView};
use crate::kept::Kept;
use crate::problem::Problem;
use crate::state::App;

/// Number of items read in one step.
const AT_ONCE: usize = 1_000;

/// Returns units with their merges as of a time; without a time, with the current ones.
pub(crate) async fn shown(
    app: &App,
    space: &SpaceId,
    units: Vec<Unit>,
    as_of: Option<DateTime<Utc>>,
) -> Result<Vec<UnitView>, Problem> {
    let graph = &*app.stores().graph;
    let events = units.iter().filter(|it| it.grain == Grain::Event);
    let events: Vec<DerivedId> = events.map(|it| derived(DerivedKind::Standing, it.id.uuid())).collect();
    let standings: Vec<Standing> = read(graph, space, &events).await?;
    let named = standings.iter().flat_map(|it| it.into.iter().chain(&it.absorbed));
    let mut named: Vec<MergeId> = named.copied().collect();
    named.sort_unstable();
    named.dedup();
    let named: Vec<DerivedId> = named
        .into_iter()
        .map(|it| derived(DerivedKind::Merge, it.uuid()))
        .collect();
    let mut merges: HashMap<MergeId, Merge> = HashMap::new();
    let holding = |it: &Merge| it.holds(as_of);
    let found = read::<Merge>(graph, space, &named).await?.into_iter();
    merges.extend(found.filter(holding).map(|it| (it.id, it)));
    let standings: HashMap<UnitId, Standing> = standings.into_iter().map(|it| (it.unit, it)).collect();
    let view = |unit: Unit| view(standings.get(&unit.id), &merges, unit);
    Ok(units.into_iter().map(view).collect())
}

fn view(standing: Option<&Standing>, merges: &HashMap<MergeId, Merge>, mut unit: Unit) -> UnitView {
    let into = standing.and_then(|it| it.into).and_then(|it| merges.get(&it));
    let absorbed = standing.into_iter().flat_map(|it| &it.absorbed);
    let absorbed = absorbed.filter_map(|it| merges.get(it)).map(absorbed_by).collect();
    if into.is_some() && unit.status == Status::Active {
        unit.status = Status::Merged;
    }
    UnitView {
        unit,
        merged_into: into.map(|it| UnitId::from_uuid(it.kept)),
        merged_by: into.map(|it| it.id),
        absorbed,
    }
}

fn absorbed_by(merge: &Merge) -> Absorbed {
    Absorbed {
        unit: UnitId::from_uuid(merge.merged),
        records: merge.records.clone(),
        merge: merge.id,
        reason: merge.reason.clone(),
        similarity: merge.similarity,
        same_event: merge.same_event,
        has_overlap: merge.has_overlap,
        relation_type: merge.relation_type,
    }
}

async fn read<T: Kept>(graph: &dyn Graph, space: &SpaceId, ids: &[DerivedId]) -> Result<Vec<T>, Problem> {
    let mut found = Vec::with_capacity(ids.len());
    for some in ids.chunks(AT_ONCE) {
        found.extend(graph.derived(space, some).await?.into_iter().filter_map(T::take));
    }
    Ok(found)
}

fn derived(kind: DerivedKind, id: uuid::Uuid) -> DerivedId {
    DerivedId { kind, id }
}
