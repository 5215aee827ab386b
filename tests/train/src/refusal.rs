//! Fits the reader's check whether to refuse. The check is a logistic regression on its features with given signs. The
//! threshold is chosen so that no more answerable questions of unseen conversations are refused than allowed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, ensure};
use domain::evidence::AnswerStyle;
use domain::message::AnswerV1;
use domain::port::{ModelAllowance, SearchResult};
use reader::check::evidence_features::{Features, NAMES, SIGNS, VERSION};
use router::route;
use router::route::scoring::edges::Related;
use router::route::scoring::heads::Weights;
use serde_json::{Value, json};

use crate::logistic::{self, Logistic, probability_of_logit};
use crate::world::{World, build_request};

/// Number of bins of the reliability table.
const BINS: usize = 10;

/// A question with the features that the reader computes from its evidence.
pub struct Sample {
    /// Setting that the conversation belongs to.
    pub setting: String,
    /// Id of the conversation.
    pub conversation: String,
    /// Kind of question, or of trap if the question has no answer.
    pub kind: String,
    /// Whether the question has no answer.
    pub trap: bool,
    /// The features.
    pub values: Features,
}

/// A fitted check. The logit of a refusal is `bias` plus the weighted features; a question is refused above
/// `threshold`.
#[derive(Clone, Debug)]
pub struct FittedRefusal {
    /// Weights in the order of the features.
    pub weights: Vec<f64>,
    /// Logit of a question whose features are all 0.
    pub bias: f64,
    /// Logit above which a question is refused.
    pub threshold: f64,
}

impl FittedRefusal {
    /// Returns the logit of a sample.
    pub fn logit(&self, sample: &Sample) -> f64 {
        let pairs = self.weights.iter().zip(&sample.values);
        self.bias + pairs.map(|(weight, value)| weight * f64::from(*value)).sum::<f64>()
    }

    /// Returns the weights file that the reader includes; `about` describes how it was made.
    pub fn file(&self, version: &str, about: &Value) -> Value {
        let round = |it: f64| (it * 1e4).round() / 1e4;
        let weights: BTreeMap<&str, f64> = NAMES
            .into_iter()
            .zip(self.weights.iter().map(|it| round(*it)))
            .collect();
        json!({
            "version": version,
            "features": VERSION,
            "about": about,
            "bias": round(self.bias),
            "threshold": round(self.threshold),
            "weights": weights,
        })
    }
}

/// Returns the samples of all questions of the worlds. The folder `dir` contains the questions with their kinds.
///
/// # Errors
/// If a file cannot be read, the router fails, or no question is unanswerable.
pub fn collect_samples(dir: &Path, worlds: &[World], weights: &Weights) -> anyhow::Result<Vec<Sample>> {
    let kinds = read_kinds(dir)?;
    let mut out = Vec::new();
    for world in worlds {
        for question in &world.questions {
            let Some(values) = reader::evidence_features_of_request(&ask_reader(world, &question.question, weights)?)
            else {
                continue;
            };
            out.push(Sample {
                setting: world.setting.clone(),
                conversation: world.name.clone(),
                kind: kinds
                    .get(&question.id)
                    .cloned()
                    .unwrap_or_else(|| question.category.clone()),
                trap: !question.answerable,
                values,
            });
        }
    }
    ensure!(out.iter().any(|it| it.trap), "no unanswerable question to learn from");
    Ok(out)
}

/// Budget in tokens and number of scenes of the request.
const TOKENS: u32 = 512;
const SCENES: u32 = 24;

/// Returns the request that the reader gets for a question.
///
/// # Errors
/// If the router fails.
pub(crate) fn ask_reader(world: &World, question: &str, weights: &Weights) -> anyhow::Result<AnswerV1> {
    let mut request = build_request(question, TOKENS)?;
    request.scenes = SCENES;
    let query = world.query(question, &request);
    let (found, related) = (SearchResult::default(), Related::new());
    let routed = route::route_turns(&world.view, &query, &found, &related, &request, weights);
    Ok(AnswerV1 {
        space: request.space,
        question: question.to_owned(),
        anchors: routed.anchors,
        reading: routed.reading,
        speakers: routed.speakers,
        words: routed.words,
        pack: routed.pack,
        scenes: routed.scenes,
        style: AnswerStyle::default(),
        allow: ModelAllowance::default(),
    })
}

/// Returns the kind of each question by its id. The kind of a trap is in a field that scoring does not read.
pub(crate) fn read_kinds(dir: &Path) -> anyhow::Result<BTreeMap<String, String>> {
    let path = dir.join("questions.jsonl");
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut kinds = BTreeMap::new();
    for line in text.lines().filter(|it| !it.trim().is_empty()) {
        let question: Value = serde_json::from_str(line).with_context(|| format!("a line of {}", path.display()))?;
        if let (Some(id), Some(kind)) = (question["id"].as_str(), question["kind"].as_str()) {
            kinds.insert(id.to_owned(), kind.to_owned());
        }
    }
    Ok(kinds)
}

/// Fits the weights, and chooses the threshold on conversations that are left out one at a time, so that at most the
/// share `mistakes` of their answerable questions is refused.
pub fn fit_refusal(samples: &[Sample], l2: f64, mistakes: f64) -> FittedRefusal {
    let all: Vec<&Sample> = samples.iter().collect();
    let threshold = choose_threshold(samples, &left_out(samples, l2, |it| &it.conversation), mistakes);
    FittedRefusal {
        threshold,
        ..fit_logistic(&all, l2)
    }
}

/// Returns the logits of all samples, each from a fit without the group of the sample.
pub fn left_out(samples: &[Sample], l2: f64, group: fn(&Sample) -> &String) -> Vec<f64> {
    let groups: BTreeSet<&String> = samples.iter().map(group).collect();
    let mut logits = vec![0.0; samples.len()];
    for name in groups {
        let others: Vec<&Sample> = samples.iter().filter(|it| group(it) != name).collect();
        let fitted = fit_logistic(&others, l2);
        for (logit, sample) in logits.iter_mut().zip(samples).filter(|it| group(it.1) == name) {
            *logit = fitted.logit(sample);
        }
    }
    logits
}

/// Returns the lowest logit above which at most the share `mistakes` of the answerable questions lies.
pub fn choose_threshold(samples: &[Sample], logits: &[f64], mistakes: f64) -> f64 {
    let mut fine: Vec<f64> = samples
        .iter()
        .zip(logits)
        .filter(|it| !it.0.trap)
        .map(|it| *it.1)
        .collect();
    fine.sort_by(|a, b| b.total_cmp(a));
    let allowed = (mistakes * fine.len() as f64) as usize;
    fine.get(allowed).copied().unwrap_or_default()
}

/// Fits the weights with the signs of the features; the threshold stays 0.
fn fit_logistic(samples: &[&Sample], l2: f64) -> FittedRefusal {
    let rows: Vec<Vec<f64>> = samples
        .iter()
        .map(|it| it.values.iter().map(|value| f64::from(*value)).collect())
        .collect();
    let traps: Vec<bool> = samples.iter().map(|it| it.trap).collect();
    let Logistic { weights, bias } = logistic::fit_logistic_regression(&rows, &traps, &SIGNS, l2);
    FittedRefusal {
        weights,
        bias,
        threshold: 0.0,
    }
}

/// Reports how good logits are at a threshold: precision, recall and F1, the share of refused questions by kind and by
/// setting, and the reliability table of the probabilities.
pub fn report_lines(samples: &[Sample], logits: &[f64], threshold: f64) -> Vec<String> {
    let pairs = || samples.iter().zip(logits);
    let share = |chosen: &dyn Fn(&Sample) -> bool| {
        let all: Vec<bool> = pairs().filter(|it| chosen(it.0)).map(|it| *it.1 > threshold).collect();
        (all.iter().filter(|it| **it).count(), all.len())
    };
    let percent = |(part, all): (usize, usize)| 100.0 * part as f64 / all.max(1) as f64;
    let (hit, mistaken) = (share(&|it| it.trap), share(&|it| !it.trap));
    let refused = hit.0 + mistaken.0;
    let mut lines = vec![format!(
        "precision {:.1}  recall {:.1}  F1 {:.1}  false refusals {:.1}",
        percent((hit.0, refused)),
        percent(hit),
        percent((2 * hit.0, refused + hit.1)),
        percent(mistaken),
    )];
    for trap in [true, false] {
        let kinds: BTreeSet<&String> = samples.iter().filter(|it| it.trap == trap).map(|it| &it.kind).collect();
        for kind in kinds {
            let here = share(&|it| it.trap == trap && it.kind == *kind);
            let name = if trap { "trap" } else { "fine" };
            lines.push(format!("{name} {kind:26} refused {:5.1} of {}", percent(here), here.1));
        }
    }
    let settings: BTreeSet<&String> = samples.iter().map(|it| &it.setting).collect();
    for setting in settings {
        let traps = share(&|it| it.trap && it.setting == *setting);
        let fine = share(&|it| !it.trap && it.setting == *setting);
        lines.push(format!(
            "setting {setting:22} recall {:5.1} false refusals {:5.1}",
            percent(traps),
            percent(fine)
        ));
    }
    lines.extend(reliability_lines(samples, logits));
    lines
}

/// Returns the mean probability and the share of traps, in ten bins of equal size.
fn reliability_lines(samples: &[Sample], logits: &[f64]) -> Vec<String> {
    let mut pairs: Vec<(f64, bool)> = logits
        .iter()
        .zip(samples)
        .map(|(it, sample)| (probability_of_logit(*it), sample.trap))
        .collect();
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let size = pairs.len().div_ceil(BINS).max(1);
    let bin = |bin: &[(f64, bool)]| {
        let mean_predicted = bin.iter().map(|it| it.0).sum::<f64>() / bin.len() as f64;
        let share_correct = bin.iter().filter(|it| it.1).count() as f64 / bin.len() as f64;
        format!(
            "said {:5.1} was {:5.1} of {}",
            100.0 * mean_predicted,
            100.0 * share_correct,
            bin.len()
        )
    };
    pairs.chunks(size).map(bin).collect()
}
