//! Turns that state the facts a question asks for. A fact finds turns that share no word with the question: after a
//! move to Graz a person lives there, although the turn does not contain "live" (REMem, section 3).

use std::cmp::Reverse;

use chrono::{DateTime, Utc};
use domain::fact::Aspect;
use domain::id::UnitId;
use text::question::slot;

use crate::route::query::Query;
use crate::space::memory::MemoryAsOf;
use crate::space::view::View;

/// Maximum number of turns, those of the facts recorded last: the present value and the one before it.
const STATED: usize = 2;
/// Standing instructions may take one token in this many of the budget.
const INSTRUCTED_SHARE: u32 = 8;

/// Returns the sources of the facts that hold the value a question asks for, last recorded first; none if it asks for
/// anything else, or about several names.
pub(crate) fn sources_of_requested_facts(view: &View, known: MemoryAsOf<'_>, query: &Query) -> Vec<UnitId> {
    let Some(slot) = &query.reading.slot else {
        return Vec::new();
    };
    let names_in_question: Vec<&String> = query.anchors.subjects.iter().chain(&query.anchors.names).collect();
    let name = match names_in_question.as_slice() {
        [only] => Some(*only),
        // The user of an assistant, who is "I" in the question.
        [] => query.subjects.first().map(|it| &view.speakers().names()[*it]),
        _ => None,
    };
    let mut found = name.map(|it| known.facts_about(it)).unwrap_or_default();
    found.retain(|it| slot::is_told_by(slot, &it.predicate));
    found.sort_by_key(|it| Reverse((it.recorded_at, it.id)));
    found.into_iter().take(STATED).map(|it| it.source).collect()
}

/// Returns the turns of the standing instructions that hold at `moment`, last recorded first, up to a share of the
/// budget. The rest of the budget is for evidence.
pub(crate) fn turns_of_standing_instructions(
    view: &View,
    known: MemoryAsOf<'_>,
    moment: DateTime<Utc>,
    budget: u32,
) -> Vec<UnitId> {
    let mut room = budget / INSTRUCTED_SHARE;
    let mut out = Vec::new();
    let last_first = known.facts_with(Aspect::Instruction).rev();
    for fact in last_first.filter(|it| it.holds_at(moment)) {
        let Some(place) = view
            .position_of_unit(fact.source)
            .filter(|_| !out.contains(&fact.source))
        else {
            continue;
        };
        let price = view.turns()[place].tokens;
        if price > room {
            break;
        }
        room -= price;
        out.push(fact.source);
    }
    out
}
