//! Units with their merges. The state is computed from the merges and not stored in the units, so an undone merge
//! leaves no trace.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use domain::derived::{DerivedId, DerivedKind};
use domain::id::{MergeId, SpaceId, UnitId};
use domain::merge::{Merge, Standing};
use domain::port::Graph;
use domain::unit::{Grain, Status, Unit};

use crate::api::problem::Problem;
use crate::api::{Absorbed, UnitView};
use crate::app::state::App;
use crate::use_cases::lists::derived_items::DerivedItem;

/// Number of items read in one step.
const AT_ONCE: usize = 1_000;

/// Returns units with their merges as of a time; without a time, with the current ones.
pub(crate) async fn units_with_merges(
    app: &App,
    space: &SpaceId,
    units: Vec<Unit>,
    as_of: Option<DateTime<Utc>>,
) -> Result<Vec<UnitView>, Problem> {
    let graph = &*app.stores().graph;
    let events = units.iter().filter(|it| it.grain == Grain::Event);
    let events: Vec<DerivedId> = events
        .map(|it| derived_id(DerivedKind::Standing, it.id.uuid()))
        .collect();
    let standings: Vec<Standing> = read_derived(graph, space, &events).await?;
    let merge_ids = standings.iter().flat_map(|it| it.into.iter().chain(&it.absorbed));
    let mut merge_ids: Vec<MergeId> = merge_ids.copied().collect();
    merge_ids.sort_unstable();
    merge_ids.dedup();
    let merge_ids: Vec<DerivedId> = merge_ids
        .into_iter()
        .map(|it| derived_id(DerivedKind::Merge, it.uuid()))
        .collect();
    let mut merges: HashMap<MergeId, Merge> = HashMap::new();
    let holding = |it: &Merge| it.holds_at(as_of);
    let found = read_derived::<Merge>(graph, space, &merge_ids).await?.into_iter();
    merges.extend(found.filter(holding).map(|it| (it.id, it)));
    let standings: HashMap<UnitId, Standing> = standings.into_iter().map(|it| (it.unit, it)).collect();
    let view = |unit: Unit| unit_view(standings.get(&unit.id), &merges, unit);
    Ok(units.into_iter().map(view).collect())
}

fn unit_view(standing: Option<&Standing>, merges: &HashMap<MergeId, Merge>, mut unit: Unit) -> UnitView {
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

async fn read_derived<T: DerivedItem>(
    graph: &dyn Graph,
    space: &SpaceId,
    ids: &[DerivedId],
) -> Result<Vec<T>, Problem> {
    let mut found = Vec::with_capacity(ids.len());
    for some in ids.chunks(AT_ONCE) {
        found.extend(
            graph
                .derived(space, some)
                .await?
                .into_iter()
                .filter_map(T::from_derived),
        );
    }
    Ok(found)
}

fn derived_id(kind: DerivedKind, id: uuid::Uuid) -> DerivedId {
    DerivedId { kind, id }
}
