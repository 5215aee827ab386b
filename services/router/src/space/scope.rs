//! The turns that a filter selects: for questions and recall, by tags and metadata; for tools, by the whole filter of a
//! question. No other turns are used.

use std::collections::HashSet;
use std::sync::Arc;

use domain::filter::Filter;
use domain::id::{RecordId, SpaceId, UnitId};
use domain::message::QueryFilter;

use crate::space::unit_filter::UnitFilter;
use crate::space::view::View;

/// A scope with at most this many units narrows the search of the index. For a larger scope, hits outside are dropped
/// after the search, and further candidates are taken from the view.
const SEARCHED_MAX: usize = 10_000;

/// The turns of a space that may be used.
pub struct Scope {
    /// The turns with the tags and metadata of a filter; `None` if the filter does not compare them.
    labelled: Option<HashSet<UnitId>>,
    /// The other conditions of a filter; `None` if there are none.
    conditions: Option<Conditions>,
    searched: Option<Arc<HashSet<UnitId>>>,
}

/// The conditions of a filter about other fields than tags and metadata. They are compared with a turn when it is used,
/// so that a call that uses a few turns does not read all of them.
struct Conditions {
    filter: UnitFilter,
    turns: Arc<View>,
}

impl Conditions {
    fn admit_turn(&self, turn: UnitId) -> bool {
        let place = self.turns.position_of_unit(turn);
        place.is_some_and(|it| self.filter.admits_unit(&self.turns.turns()[it].unit))
    }

    fn admitted_turns(&self) -> impl Iterator<Item = UnitId> + '_ {
        let units = self.turns.turns().iter().map(|it| &it.unit);
        units.filter(|it| self.filter.admits_unit(it)).map(|it| it.id)
    }
}

impl Scope {
    /// Returns the turns of a view that a filter of tags and metadata selects; `None` if it selects all. A gist is
    /// inside if all its turns are.
    pub fn from_filter(view: &View, gists: &View, filter: &Filter) -> Option<Scope> {
        let labelled = (!filter.is_empty()).then(|| view.select_by_labels(filter))?;
        let mut scope = Scope {
            labelled: Some(labelled),
            conditions: None,
            searched: None,
        };
        scope.list_units_to_search(gists);
        Some(scope)
    }

    /// Returns the turns that `filter` and `labels` both select; `None` if they select all. It narrows a search of the
    /// index only after [`Scope::list_units_to_search`].
    pub(crate) fn from_query_filter(
        view: &Arc<View>,
        space: &SpaceId,
        filter: &QueryFilter,
        labels: &Filter,
    ) -> Option<Scope> {
        let label_filters = [labels, &filter.labels].into_iter().filter(|it| !it.is_empty());
        let by_labels = label_filters.map(|it| view.select_by_labels(it));
        let labelled = by_labels.reduce(|some, others| some.intersection(&others).copied().collect());
        let unit_filter = UnitFilter::new(space, filter);
        let conditions = (!unit_filter.admits_all_units()).then(|| Conditions {
            filter: unit_filter,
            turns: Arc::clone(view),
        });
        (labelled.is_some() || conditions.is_some()).then_some(Scope {
            labelled,
            conditions,
            searched: None,
        })
    }

    /// Lists the turns and gists inside, so that a search of the index is narrowed to them if there are at most
    /// `SEARCHED_MAX`. Does nothing if only times are compared, since the index compares them itself.
    pub(crate) fn list_units_to_search(&mut self, gists: &View) {
        let most = SEARCHED_MAX + 1;
        let turns: Vec<UnitId> = match (&self.labelled, &self.conditions) {
            (Some(labelled), _) => {
                let inside = labelled.iter().copied().filter(|it| self.has_turn(*it));
                inside.take(most).collect()
            }
            (None, Some(it)) if !it.filter.compares_only_times() => it.admitted_turns().take(most).collect(),
            (None, _) => return,
        };
        let gists = gists.turns().iter().map(|it| &it.unit);
        let gists = gists.filter(|it| self.has_records(&it.records)).map(|it| it.id);
        let units: HashSet<UnitId> = turns.into_iter().chain(gists).take(most).collect();
        self.searched = (units.len() <= SEARCHED_MAX).then(|| Arc::new(units));
    }

    /// Returns true if a turn is inside.
    pub fn has_turn(&self, turn: UnitId) -> bool {
        self.labelled.as_ref().is_none_or(|it| it.contains(&turn))
            && self.conditions.as_ref().is_none_or(|it| it.admit_turn(turn))
    }

    /// Returns true if there is at least one record and the turns of all records are inside.
    pub(crate) fn has_records(&self, records: &[RecordId]) -> bool {
        !records.is_empty() && records.iter().all(|it| self.has_turn(UnitId::of_turn(*it)))
    }

    /// Returns the units to which a search is narrowed; `None` if they are too many or not listed.
    pub(crate) fn units_to_search(&self) -> Option<Arc<HashSet<UnitId>>> {
        self.searched.clone()
    }
}

#[cfg(test)]
mod tests {
    use domain::unit::Unit;
    use fixtures::sample_unit;

    use super::*;

    #[test]
    fn a_search_is_narrowed_to_the_listed_turns_that_a_filter_admits() {
        let space: SpaceId = "talk".parse().unwrap();
        let turn = |actor: &str| Unit {
            actor: actor.to_owned(),
            ..sample_unit(&space, actor)
        };
        let (liv, omar) = (turn("Liv"), turn("Omar"));
        let view = Arc::new(View::from_units([liv.clone(), omar.clone()]));
        let scope_of = |filter: &QueryFilter| Scope::from_query_filter(&view, &space, filter, &Filter::default());
        assert!(scope_of(&QueryFilter::default()).is_none());

        let mut scope = scope_of(&QueryFilter {
            actors: vec!["liv".to_owned()],
            ..QueryFilter::default()
        })
        .unwrap();
        assert!(scope.has_turn(liv.id) && !scope.has_turn(omar.id));
        assert!(scope.units_to_search().is_none(), "it is not listed yet");
        scope.list_units_to_search(&View::default());
        assert_eq!(*scope.units_to_search().unwrap(), HashSet::from([liv.id]));

        let mut scope = scope_of(&QueryFilter {
            until: Some(liv.observed_at),
            ..QueryFilter::default()
        })
        .unwrap();
        assert!(!scope.has_turn(liv.id));
        scope.list_units_to_search(&View::default());
        assert!(scope.units_to_search().is_none(), "the index compares times itself");
    }
}
