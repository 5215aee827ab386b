//! Fits the heads one after the other: first what a unit says, then whether it holds evidence, then which other units
//! belong to it.

use std::collections::BTreeMap;

use router::route::scoring::edges::{self, Related, pair_features};
use router::route::scoring::feature_slots;
use router::route::scoring::heads::Weights;
use serde_json::{Value, json};

use crate::fit::{Case, case_loss, fit_weights};
use crate::world::{Example, World, build_examples};

/// Features of the first head: the content of a unit and of its neighbours.
const FIRST: &[&str] = &[
    "bm25_raw",
    "bigram",
    "late",
    "sentence",
    "strong",
    "nouns",
    "window",
    "dense",
    "dense_window",
    "questions",
    "in_time",
];
/// Features of the anchor head: constraints that the question states.
const ANCHOR: &[&str] = &["cover", "hits", "rare", "late", "by_named", "names", "in_time"];
/// Features that the support head does not learn: the score of another head, the position in the space, a feature that
/// only recall reads, and a feature whose weight is set by hand below.
const NOT_SUPPORT: &[&str] = &["chained", "later", "covered_sentence", LONG];
/// The penalty for long answers of an assistant is set by hand. Which of them are worth their tokens depends on the
/// budget, and the objective does not know the budget.
const LONG: &str = "assistant_long";
const LONG_WEIGHT: f64 = -1.0;

/// Start of the names of features that only a memory with a sentence encoder has.
const ENCODED: &str = "encoded";

/// Number of best candidates among which the edge head finds the rest of the evidence; the router chains as many.
const PAIRED: usize = 64;

/// Options of a training run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Weight decay of all heads, with features scaled to deviation 1.
    pub l2: f64,
    /// Features that are left out, by the start of their names.
    pub without: Vec<String>,
}

impl Default for Plan {
    fn default() -> Plan {
        Plan {
            l2: 0.1,
            without: Vec::new(),
        }
    }
}

/// Weights in training: maps from feature to weight.
#[derive(Clone, Debug, Default)]
pub struct Heads {
    /// Weights of the first head.
    pub first: BTreeMap<String, f64>,
    /// Weights of the support head.
    pub support: BTreeMap<String, f64>,
    /// Weights of the anchor head.
    pub anchor: BTreeMap<String, f64>,
    /// Weights of the edge head.
    pub edge: BTreeMap<String, f64>,
    /// Mean negative log likelihood of the evidence under the support head.
    pub loss: f64,
}

impl Heads {
    /// Returns the content of the weights file; `about` describes how the weights were made.
    pub fn file(&self, version: &str, about: Value) -> Value {
        json!({
            "version": version,
            "features": feature_slots::VERSION,
            "temperature": 1.0,
            "about": about,
            "first": round_weights(&self.first),
            "support": round_weights(&self.support),
            "anchor": round_weights(&self.anchor),
            "edge": round_weights(&self.edge),
        })
    }

    /// Returns the weights as the router reads them.
    ///
    /// # Errors
    /// If a feature is unknown to the router.
    pub fn weights(&self) -> anyhow::Result<Weights> {
        Ok(Weights::from_json(&self.file("in-training", Value::Null).to_string())?)
    }
}

/// Returns the weights without those up to 0.0001, rounded to four decimals, which keeps the file small.
fn round_weights(weights: &BTreeMap<String, f64>) -> BTreeMap<&str, f64> {
    let kept = weights.iter().filter(|it| it.1.abs() > 1e-4);
    kept.map(|(name, weight)| (name.as_str(), (weight * 1e4).round() / 1e4))
        .collect()
}

/// Fits all heads to the questions of `worlds`.
///
/// # Errors
/// If the optimiser fails or a world cannot be read.
pub fn train_heads(worlds: &[World], plan: &Plan) -> anyhow::Result<Heads> {
    let mut heads = Heads {
        edge: edges::NAMES.iter().map(|it| ((*it).to_owned(), 0.0)).collect(),
        ..Heads::default()
    };
    let plain = build_examples(worlds, &heads.weights()?)?;
    heads.first = fit_head(&build_cases(worlds, &plain, FIRST), FIRST, plan.l2)?;
    heads.anchor = fit_head(&anchor_cases(worlds, &plain), ANCHOR, plan.l2)?;
    let full = build_examples(worlds, &heads.weights()?)?;
    let names = select_support_features(worlds, plan);
    let support = build_cases(worlds, &full, &names);
    heads.support = support_head(&support, &names, plan.l2)?;
    heads.loss = mean_loss(&support, &heads.support, &names);
    let pairs = pairs_of_turns(worlds, &full, &heads.weights()?);
    heads.edge = fit_head(&pairs, edges::NAMES, plan.l2)?;
    Ok(heads)
}

/// Fits the support head to `names` again; the other heads stay as they are.
///
/// # Errors
/// Those of [`train_heads`].
pub(crate) fn refit_heads(worlds: &[World], heads: &Heads, names: &[&str], l2: f64) -> anyhow::Result<Heads> {
    let cases = build_cases(worlds, &build_examples(worlds, &heads.weights()?)?, names);
    Ok(Heads {
        support: support_head(&cases, names, l2)?,
        ..heads.clone()
    })
}

fn support_head(cases: &[Case], names: &[&str], l2: f64) -> anyhow::Result<BTreeMap<String, f64>> {
    let mut support = fit_head(cases, names, l2)?;
    support.insert(LONG.to_owned(), LONG_WEIGHT);
    Ok(support)
}

/// Returns the cases of the anchor head: the target is the candidate from which a question starts. If a question does
/// not name that candidate, the target is all of its evidence.
fn anchor_cases(worlds: &[World], examples: &[Example]) -> Vec<Case> {
    let mut cases = build_cases(worlds, examples, ANCHOR);
    for (case, example) in cases.iter_mut().zip(examples) {
        if let Some(anchor) = example.anchor {
            case.gold.fill(0.0);
            case.gold[anchor] = 1.0;
        }
    }
    cases
}

/// Returns the cases of the edge head. A case starts at the anchor of a question with several turns of evidence, or at
/// each of these turns if the question names no anchor. The target is the rest of the evidence among the best other
/// candidates.
fn pairs_of_turns(worlds: &[World], examples: &[Example], weights: &Weights) -> Vec<Case> {
    let mut cases = Vec::new();
    for example in examples {
        let view = &worlds[example.world].view;
        let held: Vec<usize> = (0..example.rows.len()).filter(|&it| example.gold[it] > 0.0).collect();
        let mut best: Vec<(f32, usize)> = example
            .rows
            .iter()
            .map(|it| weights.support.score(it))
            .zip(0..)
            .collect();
        best.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        best.truncate(PAIRED);
        let starts = |it: &&usize| example.anchor.is_none_or(|anchor| anchor == **it);
        let anchors: Vec<usize> = held.iter().filter(starts).filter(|_| held.len() > 1).copied().collect();
        for &anchor in &anchors {
            let units: Vec<usize> = best.iter().map(|it| it.1).filter(|it| *it != anchor).collect();
            let gold: Vec<f64> = units
                .iter()
                .map(|&it| f64::from(u8::from(example.gold[it] > 0.0)))
                .collect();
            let sum: f64 = gold.iter().sum();
            if sum > 0.0 {
                let pair = |&it: &usize| {
                    pair_features(view, &Related::new(), example.places[anchor], example.places[it]).to_vec()
                };
                cases.push(Case {
                    rows: units.iter().map(pair).collect(),
                    gold: gold.into_iter().map(|it| it / sum).collect(),
                    weight: 1.0 / anchors.len() as f64,
                });
            }
        }
    }
    cases
}

/// Returns the features that the support head learns.
pub(crate) fn select_support_features(worlds: &[World], plan: &Plan) -> Vec<&'static str> {
    let encoded = worlds.iter().any(|it| !it.hits.is_empty());
    let left = |name: &&&str| {
        !NOT_SUPPORT.contains(name)
            && !plan.without.iter().any(|it| name.starts_with(it.as_str()))
            && (encoded || !name.starts_with(ENCODED))
    };
    feature_slots::NAMES.iter().filter(left).copied().collect()
}

fn mean_loss(cases: &[Case], head: &BTreeMap<String, f64>, names: &[&str]) -> f64 {
    let weights: Vec<f64> = names.iter().map(|it| head[*it]).collect();
    let sum: f64 = cases.iter().map(|it| it.weight * case_loss(it, &weights)).sum();
    let mean = sum / cases.iter().map(|it| it.weight).sum::<f64>();
    (mean * 1e4).round() / 1e4
}

fn fit_head(cases: &[Case], names: &[&str], l2: f64) -> anyhow::Result<BTreeMap<String, f64>> {
    let weights = fit_weights(cases, l2)?;
    Ok(names.iter().map(|it| (*it).to_owned()).zip(weights).collect())
}

/// Returns the examples with only the features `names`. The weight of a question is one over the square root of the
/// number of questions in its setting, so a setting counts with the square root of its questions.
pub fn build_cases(worlds: &[World], examples: &[Example], names: &[&str]) -> Vec<Case> {
    let slots: Vec<usize> = names
        .iter()
        .filter_map(|name| feature_slots::NAMES.iter().position(|it| it == name))
        .collect();
    let mut counts: BTreeMap<&str, f64> = BTreeMap::new();
    for example in examples {
        *counts.entry(&worlds[example.world].setting).or_default() += 1.0;
    }
    let case = |example: &Example| Case {
        rows: example
            .rows
            .iter()
            .map(|row| slots.iter().map(|&it| row[it]).collect())
            .collect(),
        gold: example.gold.clone(),
        weight: counts[worlds[example.world].setting.as_str()].powf(-0.5),
    };
    examples.iter().map(case).collect()
}
