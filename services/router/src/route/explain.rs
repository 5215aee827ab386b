use std::collections::BTreeMap;

use domain::evidence::{FeatureValue, UnitExplanation};
use domain::unit::Grain;

use crate::route::Scored;
use crate::route::pack::{Choice, Fate, Packed};
use crate::route::query::Query;
use crate::route::scoring::feature_slots::{self, Group, N, Values};
use crate::route::scoring::heads::Weights;

/// Number of features listed for a unit.
const LISTED_FEATURES_MAX: usize = 6;
/// A group of features is mentioned if its sum moves the log odds by at least this much (natural logarithm).
const GROUP_SUM_MIN: f32 = 0.15;

/// Returns, for the `count` best units (turns and gists), the reasons why they are in the pack or not.
pub(crate) fn explain_best_units(
    choice: &Choice<'_>,
    packed: &Packed,
    count: usize,
    weights: &Weights,
) -> Vec<UnitExplanation> {
    if count == 0 {
        return Vec::new();
    }
    let of_turns = mean_features(choice.turns.scored);
    let of_gists = choice.gists.map(|it| mean_features(it.scored));
    let best = choice.by_probability().into_iter().take(count).enumerate();
    best.map(|(at, key)| {
        let (unit, scored) = (&choice.unit_of_key(key).unit, choice.scored_unit(key));
        let means = of_gists.as_ref().filter(|_| key.grain == Grain::Gist);
        let moved = weights
            .support
            .feature_contributions(&scored.values, means.unwrap_or(&of_turns));
        let (fate, price) = (packed.fate_of_unit(key), packed.price_of_unit(key));
        let query = choice.list_of_grain(key.grain).query;
        UnitExplanation {
            unit: unit.id,
            external_ids: unit.external_ids(),
            rank: at as u32 + 1,
            scores: scored.scores,
            channels: scored.channels.clone(),
            reason: format!(
                "{}{}; {}",
                describe_fate(fate, scored, query, price),
                describe_support_bonus(scored),
                in_words(&moved)
            ),
            features: strongest_features(scored, &moved),
            price,
            packed: fate == Fate::Packed,
        }
    })
    .collect()
}

/// Returns the mean of every feature over all candidates, with which each unit is compared.
fn mean_features(scored: &[Scored]) -> Values {
    let mut means = [0.0; N];
    for it in scored {
        means.iter_mut().zip(&it.values).for_each(|(sum, value)| *sum += value);
    }
    means.map(|it| it / scored.len().max(1) as f32)
}

/// Returns the features that moved the support score most against the mean, strongest first, ties by slot.
fn strongest_features(scored: &Scored, moved: &[f32]) -> Vec<FeatureValue> {
    let mut slots: Vec<usize> = (0..moved.len()).filter(|&it| moved[it].abs() > 1e-6).collect();
    slots.sort_by(|&a, &b| moved[b].abs().total_cmp(&moved[a].abs()).then(a.cmp(&b)));
    let strongest = slots.into_iter().take(LISTED_FEATURES_MAX);
    strongest
        .map(|it| FeatureValue {
            name: feature_slots::NAMES[it].to_owned(),
            value: scored.values[it],
            moved: moved[it],
        })
        .collect()
}

/// Returns the reasons for and against a unit in words. Features of one group are added up.
fn in_words(moved: &[f32]) -> String {
    let mut sums: BTreeMap<Group, f32> = BTreeMap::new();
    for (group, moved) in feature_slots::GROUPS.iter().zip(moved) {
        *sums.entry(*group).or_default() += moved;
    }
    let sums = sums.into_iter().map(|(group, sum)| (describe_group(group), sum));
    let mut sums: Vec<(&str, f32)> = sums.filter(|it| it.1.abs() >= GROUP_SUM_MIN).collect();
    sums.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(b.0)));
    let list = |sign: f32| {
        let groups: Vec<&str> = sums
            .iter()
            .filter(|it| it.1 * sign > 0.0)
            .take(3)
            .map(|it| it.0)
            .collect();
        if groups.is_empty() {
            "nothing".to_owned()
        } else {
            groups.join(", ")
        }
    };
    format!("for it: {}; against it: {}", list(1.0), list(-1.0))
}

fn describe_group(group: Group) -> &'static str {
    match group {
        Group::Words => "the words of the question",
        Group::Likeness => "words of similar meaning",
        Group::Matter => "the everyday matters it asks for",
        Group::Meaning => "its meaning as a whole",
        Group::Else => "how much else it says",
        Group::Names => "the names of the question",
        Group::Own => "whether the person asked about says it about themselves",
        Group::Other => "whether another person says it",
        Group::Role => "whether the user or the assistant says it",
        Group::Time => "the time asked about",
        Group::Kind => "the kind of answer wanted",
        Group::Wishes => "wishes and habits",
        Group::Asking => "whether it tells or asks",
        Group::Around => "the turns around it",
        Group::Session => "its session",
        Group::Age => "how recently it was said",
        Group::Form => "its length and form",
        Group::Chain => "what belongs with the best",
    }
}

/// Returns a note for a unit whose score was raised because it was pinned or gathered; otherwise an empty string.
fn describe_support_bonus(scored: &Scored) -> String {
    if scored.favour > 0.0 {
        format!(
            "; ranked higher by {:.2}, because it was pinned or found in an earlier step",
            scored.favour
        )
    } else {
        String::new()
    }
}

fn describe_fate(fate: Fate, scored: &Scored, query: &Query, price: u32) -> String {
    let share = scored.probability * 100.0;
    let words = (scored.values[feature_slots::LATE] * 100.0).round();
    let known = if query.words.is_empty() {
        "the question has no content words".to_owned()
    } else {
        format!("covers {words} % of the question")
    };
    match fate {
        Fate::Packed => format!("packed: {known}, {share:.1} % probable, {price} tokens"),
        Fate::Repeats => format!("left out: another line states the same ({known})"),
        Fate::TooDear => {
            format!("left out: the remaining budget did not cover its {price} tokens ({known}, {share:.1} % probable)")
        }
        Fate::Spared => format!("left out: the packed lines are enough ({known}, {share:.1} % probable)"),
        Fate::Weak => format!("left out: too many units rank higher ({known})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_of_one_group_are_explained_by_their_sum() {
        let mut moved = [0.0; N];
        (
            moved[feature_slots::LATER],
            moved[feature_slots::LATE],
            moved[feature_slots::LATE_TOP],
        ) = (-0.5, 0.1, 0.1);
        assert_eq!(
            in_words(&moved),
            "for it: words of similar meaning; against it: how recently it was said"
        );
    }
}
