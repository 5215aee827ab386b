//! Features of a pair: whether a unit belongs with an anchor.

use std::collections::BTreeSet;

use domain::id::UnitId;

use crate::space::view::View;

/// Names of the pair features, by slot.
pub const NAMES: &[&str] = &[
    "same_session",
    "adjacent",
    "follows",
    "days_apart",
    "shared_words",
    "same_actor",
    "related",
];

/// Relations between units, both ways.
pub type Related = BTreeSet<(UnitId, UnitId)>;

/// Returns the features of the pair `anchor` -> `unit`; both are positions in the view.
pub fn pair_features(view: &View, related: &Related, anchor: usize, unit: usize) -> [f32; 7] {
    let (a, b) = (&view.turns()[anchor], &view.turns()[unit]);
    let flag = |it: bool| f32::from(u8::from(it));
    let session = view.session_of(anchor) == view.session_of(unit);
    let days = (b.unit.observed_at - a.unit.observed_at).num_hours().abs() as f32 / 24.0;
    let rarity = |it: &u32| view.idf(view.word_parts(*it));
    let words: Vec<u32> = b.parts().flat_map(|it| it.distinct_words()).collect();
    let is_in_first = |it: &&u32| a.words().contains(it);
    let shared: f32 = words.iter().filter(is_in_first).map(rarity).sum();
    let all: f32 = words.iter().map(rarity).sum();
    [
        flag(session),
        flag(session && anchor.abs_diff(unit) == 1),
        flag(session && unit == anchor + 1),
        (1.0 + days).ln(),
        shared / all.max(1.0),
        flag(a.unit.actor == b.unit.actor),
        flag(related.contains(&(a.unit.id, b.unit.id)) || related.contains(&(b.unit.id, a.unit.id))),
    ]
}
