//! Fits the certainty that an answer must have. The reader answers every question of the data sets, each answer is
//! compared with the gold answer, and a logistic regression learns from the features of an answer whether it is right.

pub(crate) mod command;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, ensure};
use eval::data::{DataSet, Question};
use eval::score::right::is_right;
use reader::Reader;
use reader::check::certainty::{NAMES, SIGNS, VERSION};
use router::route::scoring::heads::Weights;
use serde_json::{Value, json};

use crate::logistic::{self, Logistic, probability_of_logit};
use crate::refusal::ask_reader;
use crate::world::build_worlds;

/// Categories of questions that have no short answer.
const NO_SHORT_ANSWER: [&str; 2] = ["message", "instruction"];
/// Number of bins of the reliability table.
const BINS: usize = 10;

/// An answer of the reader with its judgement and features.
pub struct Sample {
    /// Name of the data set.
    pub set: String,
    /// Id of the conversation.
    pub conversation: String,
    /// The question.
    pub question: Question,
    /// Answer of the reader, however uncertain it is.
    pub answer: String,
    /// Whether the answer is right.
    pub is_right: bool,
    /// Probability that the answer is right, by the weights of the reader.
    pub confidence: f64,
    /// Features of the answer.
    pub values: Vec<f64>,
}

/// Answers of a reader to the questions of a data set.
#[derive(Default)]
pub struct Answers {
    /// The questions to which the reader has an answer.
    pub samples: Vec<Sample>,
    /// Number of answerable and of unanswerable questions, by data set.
    pub asked: BTreeMap<String, [usize; 2]>,
}

impl Answers {
    /// Answers the questions of the data set in the folder `dir` and adds the answers to the samples.
    ///
    /// # Errors
    /// If the data cannot be read or the router fails.
    pub fn add(&mut self, dir: &Path, weights: &Weights, reader: &Reader) -> anyhow::Result<()> {
        let set = dir
            .file_name()
            .map(|it| it.to_string_lossy().into_owned())
            .unwrap_or_default();
        for world in build_worlds(DataSet::read(dir)?)? {
            for question in &world.questions {
                if NO_SHORT_ANSWER.contains(&question.category.as_str()) {
                    continue;
                }
                self.asked.entry(set.clone()).or_default()[usize::from(!question.answerable)] += 1;
                let assessed = reader.assess_request(&ask_reader(&world, &question.question, weights)?);
                let honest = assessed.answered.answer.filter(|_| assessed.instead.is_none());
                let (Some(answer), Some(values)) = (honest, assessed.features) else {
                    continue;
                };
                self.samples.push(Sample {
                    set: set.clone(),
                    conversation: world.name.clone(),
                    is_right: is_right(question, &answer.text),
                    question: question.clone(),
                    answer: answer.text,
                    confidence: f64::from(answer.confidence),
                    values: values.into_iter().map(f64::from).collect(),
                });
            }
        }
        Ok(())
    }

    /// Returns the logit of each sample from a fit that leaves out its conversation.
    pub fn left_out(&self, l2: f64) -> Vec<f64> {
        let names: BTreeSet<&String> = self.samples.iter().map(|it| &it.conversation).collect();
        let mut logits = vec![0.0; self.samples.len()];
        for name in names {
            let fitted = fit_certainty(self.samples.iter().filter(|it| it.conversation != *name), l2);
            for (logit, sample) in logits.iter_mut().zip(&self.samples) {
                if sample.conversation == *name {
                    *logit = fitted.logit(&sample.values);
                }
            }
        }
        logits
    }

    /// Returns the logit of each sample by the weights of the reader that answered.
    pub fn logits(&self) -> Vec<f64> {
        let logit = |it: f64| (it / (1.0 - it).max(1e-9)).ln();
        self.samples.iter().map(|it| logit(it.confidence)).collect()
    }

    /// Reports how good the answers of at least the probability `precision` are. For each data set it gives the share
    /// of them that is right, the share of the answerable questions that get an answer, and the share of the
    /// unanswerable questions that get one. The reliability table follows.
    pub fn report(&self, logits: &[f64], precision: f64) -> Vec<String> {
        let mut lines = Vec::new();
        for (set, [answerable, unanswerable]) in &self.asked {
            let here = || self.samples.iter().zip(logits).filter(|it| it.0.set == *set);
            let given = || {
                here()
                    .filter(|it| probability_of_logit(*it.1) >= precision)
                    .map(|it| it.0)
            };
            let right = |all: &[&Sample]| all.iter().filter(|it| it.is_right).count();
            let (all, passed): (Vec<&Sample>, Vec<&Sample>) = (here().map(|it| it.0).collect(), given().collect());
            let wrongly = given().filter(|it| !it.question.answerable).count();
            let polar: Vec<&Sample> = given().filter(|it| it.question.category == "yes-no").collect();
            lines.push(format!(
                "{set:16} right of all {:5.1} % of {:4}; given {:4}, right {:5.1} %, answerable answered {:5.1} %, unanswerable \
                 answered {:5.1} %, yes-no right {} of {}",
                percent_of(right(&all), all.len()),
                all.len(),
                passed.len(),
                percent_of(right(&passed), passed.len()),
                percent_of(passed.len() - wrongly, *answerable),
                percent_of(wrongly, *unanswerable),
                right(&polar),
                polar.len(),
            ));
        }
        lines.extend(self.reliability(logits));
        lines
    }

    /// Returns the table of mean probability and share of right answers, in ten bins of equal size, and the expected
    /// calibration error.
    fn reliability(&self, logits: &[f64]) -> Vec<String> {
        let mut pairs: Vec<(f64, bool)> = logits
            .iter()
            .zip(&self.samples)
            .map(|(logit, sample)| (probability_of_logit(*logit), sample.is_right))
            .collect();
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (mut lines, mut error) = (Vec::new(), 0.0);
        for bin in pairs.chunks(pairs.len().div_ceil(BINS).max(1)) {
            let mean_predicted = bin.iter().map(|it| it.0).sum::<f64>() / bin.len() as f64;
            let share_correct = bin.iter().filter(|it| it.1).count() as f64 / bin.len() as f64;
            error += (mean_predicted - share_correct).abs() * bin.len() as f64 / pairs.len() as f64;
            lines.push(format!(
                "said {:5.1} was {:5.1} of {}",
                100.0 * mean_predicted,
                100.0 * share_correct,
                bin.len()
            ));
        }
        lines.push(format!("expected calibration error {error:.3}"));
        lines
    }

    /// Fits the weights to all samples and returns the weights file that the reader includes.
    ///
    /// # Errors
    /// If no answer is right, or if all are.
    pub fn file(&self, version: &str, l2: f64, data: &[String]) -> anyhow::Result<Value> {
        let right = self.samples.iter().filter(|it| it.is_right).count();
        ensure!(
            right > 0 && right < self.samples.len(),
            "there have to be right answers and wrong ones"
        );
        let fitted = fit_certainty(self.samples.iter(), l2);
        let round = |it: f64| (it * 1e4).round() / 1e4;
        let weights: BTreeMap<&str, f64> = NAMES
            .into_iter()
            .zip(fitted.weights.iter().map(|it| round(*it)))
            .filter(|it| it.1 != 0.0)
            .collect();
        Ok(json!({
            "version": version,
            "features": VERSION,
            "about": {"answers": self.samples.len(), "right": right, "l2": l2, "data": data},
            "bias": round(fitted.bias),
            "weights": weights,
        }))
    }

    /// Writes the samples as JSON lines, for inspection.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn dump(&self, path: &Path, logits: &[f64]) -> anyhow::Result<()> {
        let line = |(sample, logit): (&Sample, &f64)| {
            let features: BTreeMap<&str, f64> = NAMES.into_iter().zip(sample.values.iter().copied()).collect();
            json!({
                "set": sample.set,
                "conversation": sample.conversation,
                "question": sample.question.question,
                "category": sample.question.category,
                "gold": sample.question.answer,
                "answer": sample.answer,
                "right": sample.is_right,
                "probability": probability_of_logit(*logit),
                "features": features,
            })
            .to_string()
        };
        let lines: Vec<String> = self.samples.iter().zip(logits).map(line).collect();
        std::fs::write(path, lines.join("\n") + "\n").with_context(|| format!("cannot write {}", path.display()))
    }
}

fn percent_of(part: usize, all: usize) -> f64 {
    100.0 * part as f64 / all.max(1) as f64
}

fn fit_certainty<'a>(samples: impl Iterator<Item = &'a Sample>, l2: f64) -> Logistic {
    let (rows, targets): (Vec<Vec<f64>>, Vec<bool>) = samples.map(|it| (it.values.clone(), it.is_right)).unzip();
    logistic::fit_logistic_regression(&rows, &targets, &SIGNS, l2)
}
