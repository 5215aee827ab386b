//! Logistic regression on features scaled to deviation 1, by accelerated gradient steps.

/// Number of steps of the optimiser; it converges long before the last one.
const STEPS: usize = 600;
/// Added to the deviation of a feature, so that a feature that hardly varies gets no large weight.
const STEADY: f64 = 1e-3;

/// A fitted regression.
#[derive(Clone, Debug, Default)]
pub struct Logistic {
    /// Weights in the order of the features.
    pub weights: Vec<f64>,
    /// Logit of a row whose features are all 0.
    pub bias: f64,
}

impl Logistic {
    /// Returns the logit of a row.
    pub fn logit(&self, row: &[f64]) -> f64 {
        self.bias
            + row
                .iter()
                .zip(&self.weights)
                .map(|(value, weight)| value * weight)
                .sum::<f64>()
    }
}

/// Returns the probability of a logit.
pub fn probability_of_logit(logit: f64) -> f64 {
    1.0 / (1.0 + (-logit).exp())
}

/// Fits rows of equal length to targets. `signs` are the signs that the weights may have; 0 allows both. `l2` is the
/// weight decay.
pub fn fit_logistic_regression(rows: &[Vec<f64>], targets: &[bool], signs: &[i8], l2: f64) -> Logistic {
    let width = rows.first().map_or(0, Vec::len);
    let count = rows.len().max(1) as f64;
    let mean: Vec<f64> = (0..width)
        .map(|at| rows.iter().map(|it| it[at]).sum::<f64>() / count)
        .collect();
    let variance = |at: usize| rows.iter().map(|it| (it[at] - mean[at]).powi(2)).sum::<f64>() / count;
    let deviation: Vec<f64> = (0..width).map(|at| variance(at).sqrt() + STEADY).collect();
    let scaled: Vec<Vec<f64>> = rows
        .iter()
        .map(|it| {
            let values = (0..width).map(|at| (it[at] - mean[at]) / deviation[at]);
            values.chain([1.0]).collect()
        })
        .collect();
    // The curvature of the loss is at most a quarter of the largest eigenvalue, and the number of columns bounds that
    // eigenvalue.
    let step = 1.0 / (0.25 * (width + 1) as f64 + 2.0 * l2);
    let (mut best, mut ahead, mut pace) = (vec![0.0; width + 1], vec![0.0; width + 1], 1.0_f64);
    for _ in 0..STEPS {
        let gradient = loss_gradient(&scaled, targets, &ahead, l2);
        let mut next: Vec<f64> = ahead
            .iter()
            .zip(&gradient)
            .map(|(it, slope)| it - step * slope)
            .collect();
        let signed = next.iter_mut().zip(signs);
        for (weight, &sign) in signed.filter(|it| *it.1 != 0) {
            *weight = f64::from(sign) * (f64::from(sign) * *weight).max(0.0);
        }
        let faster = 0.5 * (1.0 + (1.0 + 4.0 * pace * pace).sqrt());
        let push = (pace - 1.0) / faster;
        ahead = next
            .iter()
            .zip(&best)
            .map(|(new, old)| new + push * (new - old))
            .collect();
        (best, pace) = (next, faster);
    }
    let weights: Vec<f64> = (0..width).map(|at| best[at] / deviation[at]).collect();
    let shift: f64 = weights.iter().zip(&mean).map(|(weight, mean)| weight * mean).sum();
    Logistic {
        bias: best[width] - shift,
        weights,
    }
}

fn loss_gradient(rows: &[Vec<f64>], targets: &[bool], weights: &[f64], l2: f64) -> Vec<f64> {
    let mut sum: Vec<f64> = vec![0.0; weights.len()];
    for (row, target) in rows.iter().zip(targets) {
        let logit: f64 = row.iter().zip(weights).map(|(value, weight)| value * weight).sum();
        let off = (probability_of_logit(logit) - f64::from(u8::from(*target))) / rows.len() as f64;
        sum.iter_mut().zip(row).for_each(|(it, value)| *it += off * value);
    }
    let last = weights.len() - 1;
    sum.iter_mut()
        .zip(weights)
        .take(last)
        .for_each(|(it, weight)| *it += 2.0 * l2 * weight);
    sum
}
