//! What the benches print of times.

pub(crate) fn sorted(mut times: Vec<f64>) -> Vec<f64> {
    times.sort_by(f64::total_cmp);
    times
}

/// Returns the value below which a share of the sorted ones lies, by the nearest rank.
pub(crate) fn percentile(sorted: &[f64], share: f64) -> f64 {
    sorted[((sorted.len() - 1) as f64 * share).round() as usize]
}
