//! Means over questions, by category and over all, with intervals.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::Row;
use super::retrieval::Metrics;

/// Name of the table row over all questions.
pub const ALL: &str = "ALL";

/// Mean scores of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Metrics by category; [`ALL`] is over all questions. Shares are 0 to 1.
    pub table: BTreeMap<String, Metrics>,
    /// Number of questions without a line.
    pub missing: usize,
    /// Intervals by metric over all questions, if requested.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub intervals: BTreeMap<String, (f64, f64)>,
    /// Intervals by category and metric, if requested.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub category_intervals: BTreeMap<String, BTreeMap<String, (f64, f64)>>,
}

/// Returns the means of rows, by category and over all. `macroE@512` is the mean over the categories that have
/// evidence.
pub fn summarise_rows(rows: &[Row]) -> Summary {
    let categories: BTreeSet<&str> = rows.iter().map(|it| it.category.as_str()).collect();
    let mut table = BTreeMap::new();
    for category in categories {
        let of: Vec<&Row> = rows.iter().filter(|it| it.category == category).collect();
        table.insert(category.to_owned(), mean_metrics(&of));
    }
    let shares: Vec<f64> = table.values().filter_map(|it| it.get("E@512").copied()).collect();
    let mut all = mean_metrics(&rows.iter().collect::<Vec<_>>());
    if !shares.is_empty() {
        all.insert("macroE@512".into(), mean_of(&shares));
    }
    table.insert(ALL.to_owned(), all);
    let missing = rows.iter().filter(|it| !it.present).count();
    Summary {
        table,
        missing,
        intervals: BTreeMap::new(),
        category_intervals: BTreeMap::new(),
    }
}

impl Summary {
    /// Adds the intervals of `metrics` over all rows, and by category.
    pub fn add_intervals(&mut self, rows: &[Row], metrics: &[&str], seed: u64) {
        self.intervals = bootstrap_intervals(rows, metrics, seed);
        let categories: BTreeSet<&str> = rows.iter().map(|it| it.category.as_str()).collect();
        for category in categories {
            let of: Vec<Row> = rows.iter().filter(|it| it.category == category).cloned().collect();
            self.category_intervals
                .insert(category.to_owned(), bootstrap_intervals(&of, metrics, seed));
        }
    }
}

fn bootstrap_intervals(rows: &[Row], metrics: &[&str], seed: u64) -> BTreeMap<String, (f64, f64)> {
    let drawn = metrics
        .iter()
        .filter_map(|it| Some(((*it).to_owned(), bootstrap_interval(rows, it, seed)?)));
    drawn.collect()
}

fn mean_metrics(rows: &[&Row]) -> Metrics {
    let names: BTreeSet<&String> = rows.iter().flat_map(|it| it.metrics.keys()).collect();
    let mut metrics = Metrics::new();
    for name in names {
        let values: Vec<f64> = rows.iter().filter_map(|it| it.metrics.get(name).copied()).collect();
        metrics.insert(name.clone(), mean_of(&values));
    }
    let with_evidence = rows.iter().filter(|it| it.metrics.contains_key("R@1")).count();
    metrics.insert("n".into(), rows.len() as f64);
    metrics.insert("n_evidence".into(), with_evidence as f64);
    add_latency(rows, &mut metrics);
    if rows.iter().any(|it| it.answered || it.refused) {
        add_refusals(rows, &mut metrics);
    }
    metrics
}

fn add_latency(rows: &[&Row], metrics: &mut Metrics) {
    let mut times: Vec<f64> = rows
        .iter()
        .filter_map(|it| it.metrics.get("latency_ms").copied())
        .collect();
    if !times.is_empty() {
        times.sort_by(f64::total_cmp);
        metrics.insert("latency_p50".into(), times[times.len() / 2]);
        metrics.insert("latency_p95".into(), times[times.len() * 95 / 100]);
    }
}

/// Adds precision, recall and F1 of the refusals, and the share of answerable questions that were refused.
fn add_refusals(rows: &[&Row], metrics: &mut Metrics) {
    let count = |refused: bool, answerable: bool| {
        rows.iter()
            .filter(|it| it.refused == refused && it.answerable == answerable)
            .count() as f64
    };
    let (right, wrong, missed) = (count(true, false), count(true, true), count(false, false));
    let (precision, recall) = (share_of(right, right + wrong), share_of(right, right + missed));
    metrics.insert("refusal_P".into(), precision);
    metrics.insert("refusal_R".into(), recall);
    metrics.insert(
        "refusal_F1".into(),
        share_of(2.0 * precision * recall, precision + recall),
    );
    metrics.insert("false_refusal_rate".into(), share_of(wrong, wrong + count(false, true)));
}

fn share_of(part: f64, whole: f64) -> f64 {
    if whole == 0.0 { 0.0 } else { part / whole }
}

fn mean_of(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Number of draws for an interval.
const DRAWS: usize = 1000;

/// Returns the 95 % interval of a metric's mean, or `None` if no row has the metric.
///
/// Conversations are drawn with replacement, and then questions in each of them, because questions about one
/// conversation are not independent. The same seed gives the same draws.
pub fn bootstrap_interval(rows: &[Row], name: &str, seed: u64) -> Option<(f64, f64)> {
    let values = rows
        .iter()
        .filter_map(|it| Some((it.conversation.as_str(), *it.metrics.get(name)?)));
    interval_of_mean(values, seed)
}

/// Returns the 95 % interval of the mean of values by conversation, like [`bootstrap_interval`]; `None` if there are no
/// values.
pub fn interval_of_mean<'a>(values: impl Iterator<Item = (&'a str, f64)>, seed: u64) -> Option<(f64, f64)> {
    let mut groups: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (conversation, value) in values {
        groups.entry(conversation).or_default().push(value);
    }
    let groups: Vec<Vec<f64>> = groups.into_values().collect();
    if groups.is_empty() {
        return None;
    }
    let mut draw = Draw(seed);
    let mut means: Vec<f64> = (0..DRAWS).map(|_| drawn_mean(&groups, &mut draw)).collect();
    means.sort_by(f64::total_cmp);
    Some((means[DRAWS * 25 / 1000], means[DRAWS * 975 / 1000]))
}

fn drawn_mean(groups: &[Vec<f64>], draw: &mut Draw) -> f64 {
    let (mut sum, mut count) = (0.0, 0_usize);
    for _ in groups {
        let values = &groups[draw.below(groups.len())];
        sum += (0..values.len()).map(|_| values[draw.below(values.len())]).sum::<f64>();
        count += values.len();
    }
    sum / count as f64
}

/// SplitMix64 (Steele, Lea, Flood 2014). The intervals only need a sequence that is the same in every run.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(z ^ (z >> 31)) * bound as u128) >> 64) as usize
    }
}
