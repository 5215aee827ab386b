use std::collections::BTreeMap;

use domain::evidence::{FeatureValue, UnitExplanation};
use domain::unit::Grain;

use crate::heads::Weights;
use crate::pack::{Choice, Fate, Packed};
use crate::query::Query;
use crate::route::Scored;
use crate::slots::{self, Group, N, Values};

/// Number of features listed for a unit.
const TOLD: usize = 6;
/// A group of features is mentioned if its sum moves the log odds by at least this much (natural logarithm).
const SAID: f32 = 0.15;

/// Returns, for the `count` best units (turns and gists), the reasons why they are in the pack or not.
pub(crate) fn explain(choice: &Choice<'_>, packed: &Packed, count: usize, weights: &Weights) -> Vec<UnitExplanation> {
    if count == 0 {
        return Vec::new();
    }
    let of_turns = means(choice.turns.scored);
    let of_gists = choice.gists.map(|it| means(it.scored));
    let told = choice.by_probability().into_iter().take(count).enumerate();
    told.map(|(at, key)| {
        let (unit, scored) = (&choice.unit(key).unit, choice.scored(key));
        let means = of_gists.as_ref().filter(|_| key.grain == Grain::Gist);
        let moved = weights.support.moved(&scored.values, means.unwrap_or(&of_turns));
        let (fate, price) = (packed.fate(key), packed.price(key));
        let query = choice.list(key.grain).query;
        UnitExplanation {
            unit: unit.id,
            external_ids: unit.external_ids.clone(),
            rank: at as u32 + 1,
            scores: scored.scores,
            channels: scored.channels.clone(),
            reason: format!(
                "{}{}; {}",
                reason(fate, scored, query, price),
                favour(scored),
                in_words(&moved)
            ),
            features: strongest(scored, &moved),
            price,
            packed: fate == Fate::Packed,
        }
    })
    .collect()
}

/// Returns the mean of every feature over all candidates, with which each unit is compared.
fn means(scored: &[Scored]) -> Values {
    let mut means = [0.0; N];
    for it in scored {
        means.iter_mut().zip(&it.values).for_each(|(sum, value)| *sum += value);
    }
    means.map(|it| it / scored.len().max(1) as f32)
}

/// Returns the features that moved the support score most against the mean, strongest first, ties by slot.
fn strongest(scored: &Scored, moved: &[f32]) -> Vec<FeatureValue> {
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

/// Returns the reasons for and against a unit in words. Features of one group are added up.
fn in_words(moved: &[f32]) -> String {
    let mut sums: BTreeMap<Group, f32> = BTreeMap::new();
    for (group, moved) in slots::GROUPS.iter().zip(moved) {
        *sums.entry(*group).or_default() += moved;
    }
    let sums = sums.into_iter().map(|(group, sum)| (words(group), sum));
    let mut sums: Vec<(&str, f32)> = sums.filter(|it| it.1.abs() >= SAID).collect();
    sums.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(b.0)));
    let list = |sign: f32| {
        let told: Vec<&str> = sums
            .iter()
            .filter(|it| it.1 * sign > 0.0)
            .take(3)
            .map(|it| it.0)
            .collect();
        if told.is_empty() {
            "nothing".to_owned()
        } else {
            told.join(", ")
        }
    };
    format!("for it: {}; against it: {}", list(1.0), list(-1.0))
}

fn words(group: Group) -> &'static str {
    match group {
        Group::Words => "the words of the question",
        Group::Likeness => "words of like meaning",
        Group::Matter => "the everyday matters it asks for",
        Group::Meaning => "its meaning as a whole",
        Group::Else => "how much else it says",
        Group::Names => "the names of the question",
        Group::Own => "whether the one asked about says it of themselves",
        Group::Other => "whether somebody else says it",
        Group::Role => "whether the user or the assistant says it",
        Group::Time => "the time asked about",
        Group::Kind => "the kind of answer wanted",
        Group::Wishes => "wishes and habits",
        Group::Asking => "whether it tells or asks",
        Group::Around => "the turns around it",
        Group::Session => "its session",
        Group::Age => "how late it was said",
        Group::Form => "its length and form",
        Group::Chain => "what belongs with the best",
    }
}

/// Returns a note for a unit whose score was raised because it was pinned or gathered; otherwise an empty string.
fn favour(scored: &Scored) -> String {
    if scored.favour > 0.0 {
        format!(
            "; brought forward by {:.2}, since it was pinned or gathered on the way",
            scored.favour
        )
    } else {
        String::new()
    }
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
        Fate::Repeats => format!("left out: another line says the same ({known})"),
        Fate::TooDear => {
            format!("left out: the budget was spent before its {price} tokens came up ({known}, {share:.1} % probable)")
        }
        Fate::Spared => format!("left out: what is packed is enough ({known}, {share:.1} % probable)"),
        Fate::Weak => format!("left out: too many units are stronger ({known})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_of_one_group_are_explained_by_their_sum() {
        let mut moved = [0.0; N];
        (moved[slots::LATER], moved[slots::LATE], moved[slots::LATE_TOP]) = (-0.5, 0.1, 0.1);
        assert_eq!(
            in_words(&moved),
            "for it: words of like meaning; against it: how late it was said"
        );
    }
}
