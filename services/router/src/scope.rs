//! The turns that a filter of tags and metadata takes. All that a question, a tool or recall looks at stays inside of it.

use std::collections::HashSet;
use std::sync::Arc;

use domain::filter::Filter;
use domain::id::{RecordId, UnitId};

use crate::view::View;

/// A search in the index is narrowed to the units inside of a scope if they are no more than this; a greater scope shuts its
/// hits out after the search, and what is missing is sought in the view.
const SEARCHED_MAX: usize = 10_000;

/// The turns of a space that may be looked at.
pub struct Scope {
    turns: HashSet<UnitId>,
    searched: Option<Arc<HashSet<UnitId>>>,
}

impl Scope {
    /// Returns the turns of a view that a filter takes, and which gists tell of no others; nothing if the filter takes all.
    pub fn of(view: &View, gists: &View, filter: &Filter) -> Option<Scope> {
        if filter.is_empty() {
            return None;
        }
        let mut scope = Scope {
            turns: view.labelled(filter),
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
    pub fn has(&self, turn: UnitId) -> bool {
        self.turns.contains(&turn)
    }

    /// Returns true if there are records, and the turns of all of them are inside.
    pub(crate) fn has_records(&self, records: &[RecordId]) -> bool {
        !records.is_empty() && records.iter().all(|it| self.has(UnitId::turn(*it)))
    }

    /// Returns the units that a search is narrowed to; none if they are too many.
    pub(crate) fn searched(&self) -> Option<Arc<HashSet<UnitId>>> {
        self.searched.clone()
    }
}
