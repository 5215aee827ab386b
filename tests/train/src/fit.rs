//! Fits a linear head with a softmax over all candidates of a question.

use anyhow::Context;
use argmin::core::{CostFunction, Error, Executor, Gradient, State};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::quasinewton::LBFGS;

/// Maximum number of steps of the optimiser, and the number of vectors that it keeps.
const STEPS: u64 = 200;
const MEMORY: usize = 8;
/// Added to the standard deviation of a feature, so that a feature that hardly varies gets no large weight.
const STEADY: f64 = 1e-3;

/// The candidates of one question with their features and their shares of the evidence.
pub struct Case {
    /// Features of each candidate, limited to those of the head.
    pub rows: Vec<Vec<f32>>,
    /// Share of the evidence in each candidate; the shares sum to 1.
    pub gold: Vec<f64>,
    /// Weight of the question in the fit.
    pub weight: f64,
}

/// Returns the weights that make the evidence of `cases` most probable. The penalty is `l2` times the squared weights,
/// with the features scaled to deviation 1.
///
/// # Errors
/// If the optimiser fails; finite features do not cause that.
pub fn fit_weights(cases: &[Case], l2: f64) -> anyhow::Result<Vec<f64>> {
    let width = cases.first().and_then(|it| it.rows.first()).map_or(0, Vec::len);
    let scale = feature_scales(cases, width);
    let problem = Problem {
        cases,
        scale: &scale,
        l2,
        total: cases.iter().map(|it| it.weight).sum(),
    };
    let solver = LBFGS::new(MoreThuenteLineSearch::new(), MEMORY)
        .with_tolerance_cost(1e-9)
        .map_err(to_anyhow_error)?;
    let result = Executor::new(problem, solver)
        .configure(|state| state.param(vec![0.0; width]).max_iters(STEPS))
        .run()
        .map_err(to_anyhow_error)?;
    let best = result
        .state()
        .get_best_param()
        .context("the optimiser returned nothing")?;
    Ok(best.iter().zip(&scale).map(|(weight, scale)| weight / scale).collect())
}

fn to_anyhow_error(error: Error) -> anyhow::Error {
    anyhow::anyhow!("the optimiser failed: {error}")
}

/// Returns the negative log likelihood of the evidence of a case under raw `weights`.
pub fn case_loss(case: &Case, weights: &[f64]) -> f64 {
    let scores: Vec<f64> = case.rows.iter().map(|row| dot(row, weights)).collect();
    let (top, sum) = softmax(&scores);
    scores
        .iter()
        .zip(&case.gold)
        .map(|(score, gold)| -gold * (score - top - sum.ln()))
        .sum()
}

fn feature_scales(cases: &[Case], width: usize) -> Vec<f64> {
    let count: f64 = cases.iter().map(|it| it.rows.len() as f64).sum::<f64>().max(1.0);
    let rows = || cases.iter().flat_map(|it| &it.rows);
    let mut mean = vec![0.0; width];
    rows().for_each(|row| {
        mean.iter_mut()
            .zip(row)
            .for_each(|(sum, value)| *sum += f64::from(*value) / count)
    });
    let mut variance = vec![0.0; width];
    for row in rows() {
        let pairs = row.iter().zip(&mean);
        variance
            .iter_mut()
            .zip(pairs)
            .for_each(|(sum, (value, mean))| *sum += (f64::from(*value) - mean).powi(2) / count);
    }
    variance.into_iter().map(|it| it.sqrt() + STEADY).collect()
}

fn dot(row: &[f32], weights: &[f64]) -> f64 {
    row.iter()
        .zip(weights)
        .map(|(value, weight)| f64::from(*value) * weight)
        .sum()
}

/// Returns the greatest score, and the sum of the exponentials of all scores relative to it.
fn softmax(scores: &[f64]) -> (f64, f64) {
    let top = scores.iter().copied().fold(f64::MIN, f64::max);
    (top, scores.iter().map(|it| (it - top).exp()).sum())
}

struct Problem<'a> {
    cases: &'a [Case],
    scale: &'a [f64],
    l2: f64,
    total: f64,
}

impl Problem<'_> {
    fn raw(&self, weights: &[f64]) -> Vec<f64> {
        weights
            .iter()
            .zip(self.scale)
            .map(|(weight, scale)| weight / scale)
            .collect()
    }
}

impl CostFunction for Problem<'_> {
    type Param = Vec<f64>;
    type Output = f64;

    fn cost(&self, weights: &Vec<f64>) -> Result<f64, Error> {
        let raw = self.raw(weights);
        let sum: f64 = self.cases.iter().map(|it| it.weight * case_loss(it, &raw)).sum();
        Ok(sum / self.total + self.l2 * weights.iter().map(|it| it * it).sum::<f64>())
    }
}

impl Gradient for Problem<'_> {
    type Param = Vec<f64>;
    type Gradient = Vec<f64>;

    fn gradient(&self, weights: &Vec<f64>) -> Result<Vec<f64>, Error> {
        let raw = self.raw(weights);
        let mut gradient = vec![0.0; weights.len()];
        for case in self.cases {
            let scores: Vec<f64> = case.rows.iter().map(|row| dot(row, &raw)).collect();
            let (top, sum) = softmax(&scores);
            for ((row, score), gold) in case.rows.iter().zip(&scores).zip(&case.gold) {
                let off = case.weight * ((score - top).exp() / sum - gold);
                gradient
                    .iter_mut()
                    .zip(row)
                    .for_each(|(it, value)| *it += off * f64::from(*value));
            }
        }
        let both = gradient.into_iter().zip(self.scale.iter().zip(weights));
        Ok(both
            .map(|(it, (scale, weight))| it / scale / self.total + 2.0 * self.l2 * weight)
            .collect())
    }
}
