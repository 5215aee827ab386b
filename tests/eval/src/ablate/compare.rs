//! Compares runs without a part with the run that has all parts, question by question.

use std::collections::HashMap;
use std::fmt::Write as _;

use serde::Serialize;

use super::part::Part;
use crate::score::Row;
use crate::score::summary::interval_of_mean;

/// Metrics that are compared, if both runs have them.
pub const METRICS: [&str; 7] = ["E@256", "E@512", "E@1024", "R@10", "answer", "F1", "right"];

/// Difference that a part makes to one metric, over the questions that have the metric in both runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Name of the metric.
    pub metric: &'static str,
    /// Number of compared questions.
    pub pairs: usize,
    /// Mean with all parts.
    pub whole: f64,
    /// Mean without the part.
    pub without: f64,
    /// Lower bound of the 95 % interval of `without - whole`.
    pub low: f64,
    /// Upper bound of that interval.
    pub high: f64,
}

/// Result of removing one part.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ablation {
    /// Name of the part.
    pub part: &'static str,
    /// Number of removed objects, over all spaces.
    pub removed: usize,
    /// Differences by metric; empty if there was nothing to remove.
    pub differences: Vec<Difference>,
}

/// Compares the rows without a part with the rows of the run that has all parts. The intervals draw conversations and
/// their questions.
pub fn compare_runs(part: Part, removed: usize, whole: &[Row], without: &[Row], seed: u64) -> Ablation {
    let differences = METRICS
        .iter()
        .filter_map(|metric| metric_difference(metric, whole, without, seed));
    Ablation {
        part: part.name(),
        removed,
        differences: differences.collect(),
    }
}

fn metric_difference(metric: &'static str, whole: &[Row], without: &[Row], seed: u64) -> Option<Difference> {
    let values: HashMap<&str, f64> = without
        .iter()
        .filter(|it| it.present)
        .filter_map(|it| Some((it.id.as_str(), *it.metrics.get(metric)?)))
        .collect();
    let pairs: Vec<Pair<'_>> = whole
        .iter()
        .filter(|it| it.present)
        .filter_map(|row| {
            Some(Pair {
                conversation: &row.conversation,
                whole: *row.metrics.get(metric)?,
                without: *values.get(row.id.as_str())?,
            })
        })
        .collect();
    let drawn = pairs.iter().map(|it| (it.conversation, it.without - it.whole));
    let (low, high) = interval_of_mean(drawn, seed)?;
    let count = pairs.len() as f64;
    Some(Difference {
        metric,
        pairs: pairs.len(),
        whole: pairs.iter().map(|it| it.whole).sum::<f64>() / count,
        without: pairs.iter().map(|it| it.without).sum::<f64>() / count,
        low,
        high,
    })
}

struct Pair<'a> {
    conversation: &'a str,
    whole: f64,
    without: f64,
}

/// Returns the ablations as a table for people, in percent and percentage points.
pub fn render_table(ablations: &[Ablation]) -> String {
    let mut out = format!(
        "{:<10}{:>9} {:<8}{:>7}{:>8}{:>9}{:>12}{:>18}",
        "without", "removed", "metric", "pairs", "whole", "without", "difference", "95 %"
    );
    for ablation in ablations {
        if ablation.differences.is_empty() {
            let _ = write!(out, "\n{:<10}{:>9} nothing to compare", ablation.part, ablation.removed);
        }
        for it in &ablation.differences {
            let interval = format!("{:+.1} to {:+.1}", 100.0 * it.low, 100.0 * it.high);
            let _ = write!(
                out,
                "\n{:<10}{:>9} {:<8}{:>7}{:>8.1}{:>9.1}{:>+12.1}{interval:>18}",
                ablation.part,
                ablation.removed,
                it.metric,
                it.pairs,
                100.0 * it.whole,
                100.0 * it.without,
                100.0 * (it.without - it.whole),
            );
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row_with_recall(id: usize, value: f64) -> Row {
        Row {
            id: id.to_string(),
            conversation: (id % 2).to_string(),
            category: "plain".to_owned(),
            answerable: true,
            refused: false,
            answered: true,
            present: true,
            metrics: [("E@512".to_owned(), value)].into(),
        }
    }

    #[test]
    fn a_comparison_pairs_the_questions_that_both_runs_have() {
        let whole: Vec<Row> = (0..10).map(|id| row_with_recall(id, 1.0)).collect();
        let mut without: Vec<Row> = (0..8).map(|id| row_with_recall(id, 0.75)).collect();
        without[7].present = false;
        let found = compare_runs(Part::Topics, 3, &whole, &without, 7);
        assert_eq!(found.differences.len(), 1);
        let it = &found.differences[0];
        assert_eq!((it.metric, it.pairs), ("E@512", 7));
        // Every pair has the same difference, so the interval has no width.
        let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
        close(it.whole, 1.0);
        close(it.without, 0.75);
        close(it.low, -0.25);
        close(it.high, -0.25);
        assert!(compare_runs(Part::Topics, 0, &whole, &[], 7).differences.is_empty());
    }
}
