//! Units that come before their equals: those a strategy gathered on its way, and those somebody pinned.
//!
//! Both are candidates whatever the channels propose, and both gain a bounded part of the support score, which is a logit:
//! 1 makes a unit 2.7 times as probable as its equal. It never makes evidence of what the filter or the time shuts out.

use std::collections::BTreeMap;

use domain::id::UnitId;

use crate::propose::Gate;
use crate::query::Query;
use crate::view::{Turn, View};

/// The best unit gathered gains this much, the last one [`GATHERED_LEAST`]; those between them by rank.
const GATHERED: f32 = 1.5;
const GATHERED_LEAST: f32 = 0.75;
/// At most this many units gathered are looked at.
const GATHERED_MAX: usize = 1_000;
/// What a pinned unit gains if it shares a word or a name with the question, or its speaker is asked about.
const PINNED: f32 = 0.5;
/// At most this many pinned units are looked at, by id.
const PINNED_MAX: usize = 1_000;

/// What is added to the support score, by place in the view.
pub type Favoured = BTreeMap<usize, f32>;

/// Returns what turns gain: those of `focus`, best first, and the pinned ones. Unknown ids are ignored.
pub fn favoured(view: &View, query: &Query, gate: &Gate<'_>, focus: &[UnitId]) -> Favoured {
    let mut favoured = Favoured::new();
    let known = |it: &UnitId| view.place(*it).filter(|it| gate.admits(&view.turns()[*it]));
    let gathered: Vec<usize> = focus.iter().take(GATHERED_MAX).filter_map(known).collect();
    let step = (GATHERED - GATHERED_LEAST) / gathered.len().max(1) as f32;
    for (rank, place) in gathered.into_iter().enumerate() {
        favoured.entry(place).or_insert(GATHERED - step * rank as f32);
    }
    for place in view.marks().pinned.iter().take(PINNED_MAX).filter_map(known) {
        if shares(view, query, &view.turns()[place]) {
            *favoured.entry(place).or_default() += PINNED;
        }
    }
    favoured
}

fn shares(view: &View, query: &Query, turn: &Turn) -> bool {
    let holds = |term: u32| turn.parts.iter().any(|it| it.words.binary_search(&term).is_ok());
    let asked = |it: &usize| view.speakers().names()[*it] == turn.unit.actor;
    query.words.iter().any(|it| holds(it.term))
        || query.names.iter().any(|it| turn.names.binary_search(it).is_ok())
        || query.subjects.iter().any(asked)
}
