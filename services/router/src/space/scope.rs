//! The turns that a filter of tags and metadata selects. Questions, tools and recall use no other turns.

use std::collections::HashSet;
use std::sync::Arc;

use domain::filter::Filter;
use domain::id::{RecordId, UnitId};

use crate::space::view::View;

/// A scope with at most this many units narrows the search of the index. For a larger scope, hits outside are dropped
/// after the search, and further candidates are taken from the view.
const SEARCHED_MAX: usize = 10_000;

/// The turns of a space that may be used.
pub struct Scope {
    turns: HashSet<UnitId>,
    searched: Option<Arc<HashSet<UnitId>>>,
}

impl Scope {
    /// Returns the turns of a view that a filter selects; `None` if it selects all. A gist is inside if all its turns
    /// are.
    pub fn from_filter(view: &View, gists: &View, filter: &Filter) -> Option<Scope> {
        if filter.is_empty() {
            return None;
        }
        let mut scope = Scope {
            turns: view.select_by_labels(filter),
            searched: None,
        };
        if scope.turns.len() <= SEARCHED_MAX {
            let inside = gists.turns().iter().map(|it| &it.unit);
            let inside = inside.filter(|it| scope.has_records(&it.records)).map(|it| it.id);
            let units: HashSet<UnitId> = scope.turns.iter().copied().chain(inside).collect();
            scope.searched = Some(Arc::new(units)).filter(|it| it.len() <= SEARCHED_MAX);
        }
        Some(scope)
    }

    /// Returns true if a turn is inside.
    pub fn has_turn(&self, turn: UnitId) -> bool {
        self.turns.contains(&turn)
    }

    /// Returns true if there is at least one record and the turns of all records are inside.
    pub(crate) fn has_records(&self, records: &[RecordId]) -> bool {
        !records.is_empty() && records.iter().all(|it| self.has_turn(UnitId::of_turn(*it)))
    }

    /// Returns the units to which a search is narrowed; `None` if they are too many.
    pub(crate) fn units_to_search(&self) -> Option<Arc<HashSet<UnitId>>> {
        self.searched.clone()
    }
}
