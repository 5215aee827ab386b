use domain::evidence::{FeatureValue, UnitExplanation};

use crate::heads::Weights;
use crate::pack::{Fate, Packed};
use crate::query::Query;
use crate::route::Scored;
use crate::slots;
use crate::view::View;

/// Features named for a unit.
const TOLD: usize = 6;

/// Tells for the `count` best units why they are in the pack or not.
pub(crate) fn explain(
    view: &View,
    query: &Query,
    scored: &[Scored],
    packed: &Packed,
    count: usize,
    weights: &Weights,
) -> Vec<UnitExplanation> {
    let told = scored.iter().take(count).enumerate();
    told.map(|(at, it)| {
        let unit = &view.turns()[it.place].unit;
        let price = packed.prices.get(at).copied().unwrap_or_default();
        UnitExplanation {
            unit: unit.id,
            external_ids: unit.external_ids.clone(),
            rank: at as u32 + 1,
            scores: it.scores,
            channels: it.channels.clone(),
            features: moved(it, weights),
            price,
            packed: packed.fates[at] == Fate::Packed,
            reason: reason(packed.fates[at], it, query, price),
        }
    })
    .collect()
}

/// The features that moved the support score most, strongest first, ties by slot.
fn moved(scored: &Scored, weights: &Weights) -> Vec<FeatureValue> {
    let moved = weights.support.moved(&scored.values);
    let mut slots: Vec<usize> = (0..moved.len()).filter(|&it| moved[it].abs() > 1e-6).collect();
    slots.sort_by(|&a, &b| moved[b].abs().total_cmp(&moved[a].abs()).then(a.cmp(&b)));
    let told = slots.into_iter().take(TOLD);
    told.map(|it| FeatureValue {
        name: slots::NAMES[it].to_owned(),
        value: scored.values[it],
        moved: moved[it],
    })
    .collect()
}

fn reason(fate: Fate, scored: &Scored, query: &Query, price: u32) -> String {
    let share = scored.probability * 100.0;
    let words = (scored.values[slots::LATE] * 100.0).round();
    let known = if query.words.is_empty() {
        "the question has no content words".to_owned()
    } else {
        format!("covers {words} % of the question")
    };
    match fate {
        Fate::Packed => format!("packed: {known}, {share:.1} % probable, {price} tokens"),
        Fate::Repeats => format!("left out: its words are packed already ({known})"),
        Fate::TooDear => {
            format!("left out: the budget was spent before its {price} tokens came up ({known}, {share:.1} % probable)")
        }
        Fate::Weak => format!("left out: too many units are stronger ({known})"),
    }
}
