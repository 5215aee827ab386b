//! A bonus for units that a strategy gathered on its way, and for units that a user pinned.
//!
//! Both become candidates even if no channel proposes them. Both gain a bounded part of the support score, which is a
//! logit: a bonus of 1 multiplies the odds by 2.7. A unit that the filter or the time excludes never becomes evidence
//! by a bonus.

use std::collections::BTreeMap;

use domain::id::UnitId;

use crate::route::propose::Gate;
use crate::route::query::Query;
use crate::space::view::{Turn, View};

/// Bonus of the best gathered unit. The bonus falls evenly with the rank towards [`GATHERED_LEAST`].
const GATHERED: f32 = 1.5;
const GATHERED_LEAST: f32 = 0.75;
/// Maximum number of gathered units that are considered.
const GATHERED_MAX: usize = 1_000;
/// Bonus of a pinned unit that shares a word or a name with the question, or whose speaker the question is about.
const PINNED: f32 = 0.5;
/// Maximum number of pinned units that are considered, in the order of their ids.
const PINNED_MAX: usize = 1_000;

/// The bonus that is added to the support score, by position in the view.
pub type Favoured = BTreeMap<usize, f32>;

/// Returns the bonus of each turn: turns of `focus`, best first, and pinned turns. Unknown ids are ignored.
pub fn support_bonuses(view: &View, query: &Query, gate: &Gate<'_>, focus: &[UnitId]) -> Favoured {
    let mut favoured = Favoured::new();
    let known = |it: &UnitId| {
        view.position_of_unit(*it)
            .filter(|it| gate.may_be_evidence(&view.turns()[*it]))
    };
    let gathered: Vec<usize> = focus.iter().take(GATHERED_MAX).filter_map(known).collect();
    let step = (GATHERED - GATHERED_LEAST) / gathered.len().max(1) as f32;
    for (rank, place) in gathered.into_iter().enumerate() {
        favoured.entry(place).or_insert(GATHERED - step * rank as f32);
    }
    for place in view.marks().pinned.iter().take(PINNED_MAX).filter_map(known) {
        if shares_term_or_speaker(view, query, &view.turns()[place]) {
            *favoured.entry(place).or_default() += PINNED;
        }
    }
    favoured
}

fn shares_term_or_speaker(view: &View, query: &Query, turn: &Turn) -> bool {
    let holds = |term: u32| turn.words().contains(&term);
    let is_speaker = |it: &usize| *view.speakers().names()[*it] == *turn.unit.actor;
    query.words.iter().any(|it| holds(it.term))
        || query.names.iter().any(|it| turn.names().binary_search(it).is_ok())
        || query.subjects.iter().any(is_speaker)
}
