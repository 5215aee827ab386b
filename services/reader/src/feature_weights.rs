//! Weights of turns, candidate answers and times, by place of the feature; [`crate::weights`] reads them from a file.

/// Weights in the order of the features.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Weights {
    pub(crate) heat: f32,
    pub(crate) turns: Vec<f32>,
    pub(crate) spans: Vec<f32>,
    pub(crate) times: Vec<f32>,
}

/// Returns the weighted sum of a row.
pub(crate) fn weighted_sum(row: &[f32], weights: &[f32]) -> f32 {
    row.iter().zip(weights).map(|(it, weight)| it * weight).sum()
}
