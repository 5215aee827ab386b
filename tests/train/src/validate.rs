//! Measures the fit on data that it has not seen: it leaves out settings in turn, uses less data, or uses fewer
//! features.

use std::collections::{BTreeMap, BTreeSet};

use domain::evidence::PackItem;
use domain::port::SearchResult;
use router::route;
use router::route::scoring::edges::Related;
use router::route::scoring::heads::Weights;

use crate::heads::{Heads, Plan, refit_heads, select_support_features, train_heads};
use crate::world::{World, build_request, gold_groups};

/// Budget of the validation, in tokens.
pub(crate) const BUDGET: u32 = 512;
/// Shares of the corpus on the learning curve, in percent.
const CURVE: [usize; 4] = [10, 25, 50, 100];
/// Feature groups of the ablation, by the starts of their names.
const GROUPS: [(&str, &[&str]); 8] = [
    ("words", &["bm25", "cover", "hits", "rare", "bigram"]),
    ("soft words", &["late", "sentence", "strong", "nouns", "weaker"]),
    ("vectors", &["dense"]),
    ("question covers turn", &["covered", "both_sides"]),
    (
        "neighbours",
        &[
            "window",
            "gain",
            "near",
            "reply",
            "back",
            "before",
            "after",
            "asks_ahead",
        ],
    ),
    (
        "session",
        &["session", "first_session", "opens", "closes", "in_session"],
    ),
    (
        "speaker and names",
        &["by_", "owned", "names", "other_to_you", "named_of_i"],
    ),
    (
        "time and kind",
        &["in_time", "expected", "tense", "same_", "habit", "wish"],
    ),
];

/// Features that are computed from the first head's score, by the starts of their names.
const OF_FIRST: &[&str] = &[
    "first",
    "near",
    "before",
    "after",
    "reply",
    "back",
    "asks_ahead",
    "session",
    "expected_first",
    "by_named_first",
    "by_other_first",
    "user_first",
    "in_time_first",
];

/// One line of a validation.
pub struct Finding {
    /// Description of the variant.
    pub what: String,
    /// Number of measured questions.
    pub questions: usize,
    /// Mean share of the evidence in a pack of 512 tokens, 0 to 1.
    pub packed: f64,
    /// The same for weights that were trained on everything.
    pub whole: f64,
}

/// Leaves out each setting in turn, and compares weights that have not seen it with `whole`, which have seen all
/// settings.
///
/// # Errors
/// If training fails.
pub fn leave_settings_out(worlds: &[World], whole: &Weights, plan: &Plan) -> anyhow::Result<Vec<Finding>> {
    let settings: BTreeSet<&str> = worlds.iter().map(|it| it.setting.as_str()).collect();
    let mut findings = Vec::new();
    for setting in settings {
        let (held, seen): (Vec<World>, Vec<World>) = worlds.iter().cloned().partition(|it| it.setting == setting);
        let weights = train_heads(&seen, plan)?.weights()?;
        let (packed, questions) = measure_packs(&held, &weights)?;
        findings.push(Finding {
            what: format!("without {setting}"),
            questions,
            packed,
            whole: self::measure_packs(&held, whole)?.0,
        });
    }
    Ok(findings)
}

/// Trains on part of the conversations, which are the first ones of each setting, and measures on `guard`.
///
/// # Errors
/// If training fails.
pub fn learning_curve(worlds: &[World], guard: &[World], whole: &Weights, plan: &Plan) -> anyhow::Result<Vec<Finding>> {
    let whole = measure_packs(guard, whole)?;
    let mut findings = Vec::new();
    for share in CURVE {
        let mut met: BTreeMap<&str, usize> = BTreeMap::new();
        let count = |setting: &str| worlds.iter().filter(|it| it.setting == setting).count();
        let mut part = Vec::new();
        for world in worlds {
            let number = met.entry(&world.setting).or_default();
            if *number * 100 < share * count(&world.setting) {
                part.push(world.clone());
            }
            *number += 1;
        }
        // If the selected conversations have more questions than the share allows, each keeps only its first ones.
        let per = part.iter().map(|it| it.questions.len()).sum::<usize>().max(1);
        let wanted = worlds.iter().map(|it| it.questions.len()).sum::<usize>() * share / 100;
        for world in &mut part {
            let keep = (world.questions.len() * wanted).div_ceil(per);
            world.questions.truncate(keep);
        }
        let questions = part.iter().map(|it| it.questions.len()).sum();
        findings.push(Finding {
            what: format!("{share} % of the corpus"),
            questions,
            packed: measure_packs(guard, &train_heads(&part, plan)?.weights()?)?.0,
            whole: whole.0,
        });
    }
    Ok(findings)
}

/// Leaves out each feature group in turn, and measures on `guard`.
///
/// # Errors
/// If training fails.
pub fn ablate_features(
    worlds: &[World],
    guard: &[World],
    whole: &Weights,
    plan: &Plan,
) -> anyhow::Result<Vec<Finding>> {
    let (whole, questions) = measure_packs(guard, whole)?;
    let mut findings = Vec::new();
    for (group, starts) in GROUPS {
        let plan = Plan {
            without: starts.iter().map(|it| (*it).to_owned()).collect(),
            ..plan.clone()
        };
        findings.push(Finding {
            what: format!("without {group}"),
            questions,
            packed: measure_packs(guard, &train_heads(worlds, &plan)?.weights()?)?.0,
            whole,
        });
    }
    Ok(findings)
}

/// Leaves out heads in turn, and measures on `guard`. The variants are the support head without the first head, the
/// first head in place of the support head, and the support head with the edge head's score from the anchors of the
/// anchor head. The anchor head alone changes no rank.
///
/// # Errors
/// If training fails.
pub fn compare_heads(worlds: &[World], guard: &[World], all: &Heads, plan: &Plan) -> anyhow::Result<Vec<Finding>> {
    let (whole, questions) = measure_packs(guard, &all.weights()?)?;
    let alone = select_support_features(
        worlds,
        &Plan {
            without: OF_FIRST.iter().map(|it| (*it).to_owned()).collect(),
            ..plan.clone()
        },
    );
    let chained = select_support_features(worlds, plan)
        .into_iter()
        .chain(["chained"])
        .collect();
    let mut findings = Vec::new();
    for (what, names) in [
        ("support without the first head", alone),
        ("the first head alone", vec!["first"]),
        ("with anchor and edge head", chained),
    ] {
        findings.push(Finding {
            what: what.to_owned(),
            questions,
            packed: measure_packs(guard, &refit_heads(worlds, all, &names, plan.l2)?.weights()?)?.0,
            whole,
        });
    }
    Ok(findings)
}

/// Returns the mean share of the evidence that a pack cites, and the number of questions.
fn measure_packs(worlds: &[World], weights: &Weights) -> anyhow::Result<(f64, usize)> {
    let (mut sum, mut count) = (0.0, 0);
    for world in worlds {
        for question in world.questions.iter().filter(|it| it.answerable) {
            let groups = gold_groups(question);
            if groups.is_empty() {
                continue;
            }
            let request = build_request(&question.question, BUDGET)?;
            let view = &world.view;
            let query = world.query(&question.question, &request);
            let routed = route::route_turns(
                view,
                &query,
                &SearchResult::default(),
                &Related::new(),
                &request,
                weights,
            );
            let cited = |it: &&Vec<String>| {
                it.iter()
                    .any(|id| routed.pack.items.iter().any(|item| cites_turn(item, id)))
            };
            sum += groups.iter().filter(cited).count() as f64 / groups.len() as f64;
            count += 1;
        }
    }
    Ok((sum / f64::from(u32::try_from(count.max(1))?), count))
}

fn cites_turn(item: &PackItem, id: &str) -> bool {
    item.external_ids.iter().any(|it| it == id)
}
