//! Facts bring the turns that state them: who moved to Graz lives there, though no word of "where does she live" says so
//! (REMem, section 3).

use domain::id::UnitId;
use text::facts::Slot;

use crate::memory::Known;
use crate::query::Query;
use crate::view::{View, is_user};

/// At most this many turns, those of the facts told last: what holds, and what held before.
const STATED: usize = 2;

/// Returns the sources of the facts that hold the value a question asks for, the last told first; none if it asks for anything
/// else, or of more than one by name.
pub(crate) fn stated(view: &View, known: Known<'_>, query: &Query, question: &str) -> Vec<UnitId> {
    let lower = question.to_lowercase().replace('\u{2019}', "'");
    let Some(slot) = Slot::asked(&lower) else {
        return Vec::new();
    };
    let own = text::words(&lower).iter().any(|it| matches!(*it, "i" | "my"));
    let named: Vec<&str> = query
        .anchors
        .subjects
        .iter()
        .chain(&query.anchors.names)
        .map(String::as_str)
        .collect();
    let users = || {
        view.speakers()
            .names()
            .iter()
            .map(String::as_str)
            .filter(|it| is_user(it))
    };
    let name = match named.as_slice() {
        [only] => Some(*only),
        [] if own => users().next(),
        _ => None,
    };
    let mut found = name.map(|it| known.facts_about(it)).unwrap_or_default();
    found.retain(|it| slot.is_told_by(&it.predicate));
    found.sort_by_key(|it| std::cmp::Reverse((it.recorded_at, it.id)));
    found.into_iter().take(STATED).map(|it| it.source).collect()
}
