//! Prints summaries and compares them with floors.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::score::summary::{ALL, Summary};

/// Columns of the table: metric and heading.
const COLUMNS: [(&str, &str); 27] = [
    ("n", "n"),
    ("R@1", "R@1"),
    ("R@3", "R@3"),
    ("R@5", "R@5"),
    ("R@10", "R@10"),
    ("R@20", "R@20"),
    ("MRR", "MRR"),
    ("nDCG@10", "nDCG"),
    ("E@256", "E@256"),
    ("E@512", "E@512"),
    ("E@1024", "E@1024"),
    ("E@2048", "E@2048"),
    ("all@256", "all@256"),
    ("all@512", "all@512"),
    ("all@1024", "all@1024"),
    ("all@2048", "all@2048"),
    ("used@512", "used512"),
    ("prec@512", "prec512"),
    ("ans@512", "ans512"),
    ("right", "right"),
    ("given", "given"),
    ("fooled", "fooled"),
    ("answer", "ansF1"),
    ("F1", "F1"),
    ("BLEU-1", "BLEU-1"),
    ("EM", "EM"),
    ("refusal_F1", "refF1"),
];

/// Metrics that are printed below the table, over all questions.
const BELOW: [&str; 10] = [
    "macroE@512",
    "claimE@512",
    "nugget@512",
    "refusal_P",
    "refusal_R",
    "refusal_F1",
    "false_refusal_rate",
    "trap@5",
    "latency_p50",
    "latency_p95",
];

/// Returns the summary as a table for people: shares in percent, one line for each category, all questions first.
pub fn summary_table(summary: &Summary) -> String {
    let columns: Vec<_> = COLUMNS
        .iter()
        .filter(|(name, _)| summary.table.values().any(|it| it.contains_key(*name)))
        .collect();
    let width = summary
        .table
        .keys()
        .map(|it| it.chars().count())
        .max()
        .unwrap_or_default()
        + 1;
    let mut out = format!("{:width$}", "");
    for (_, heading) in &columns {
        let _ = write!(out, "{heading:>9}");
    }
    let all = summary.table.get_key_value(ALL);
    for (category, metrics) in all
        .into_iter()
        .chain(summary.table.iter().filter(|(name, _)| *name != ALL))
    {
        let _ = write!(out, "\n{category:width$}");
        for (name, _) in &columns {
            let _ = match metrics.get(*name) {
                Some(value) => write!(out, "{:>9}", format_value(name, *value)),
                None => write!(out, "{:>9}", ""),
            };
        }
    }
    let found = BELOW.iter().filter_map(|name| Some((name, all?.1.get(*name)?)));
    let below: Vec<String> = found
        .map(|(name, value)| format!("{name} {}", format_value(name, *value)))
        .collect();
    let _ = write!(
        out,
        "\n{}; questions without a line: {}",
        below.join(", "),
        summary.missing
    );
    for (name, (low, high)) in &summary.intervals {
        let _ = write!(out, "\n95 % interval of {name}: {}", format_interval(name, *low, *high));
    }
    add_category_intervals(summary, &mut out);
    out
}

/// Adds the intervals of the metrics that papers report, one line for each category.
fn add_category_intervals(summary: &Summary, out: &mut String) {
    for (category, intervals) in &summary.category_intervals {
        let reported = ["F1", "BLEU-1", "EM"]
            .iter()
            .filter_map(|name| Some((name, intervals.get(*name)?)));
        let reported: Vec<String> = reported
            .map(|(name, (low, high))| format!("{name} {}", format_interval(name, *low, *high)))
            .collect();
        if !reported.is_empty() {
            let _ = write!(out, "\n95 % intervals, {category}: {}", reported.join(", "));
        }
    }
}

fn format_interval(name: &str, low: f64, high: f64) -> String {
    format!("{} to {}", format_value(name, low), format_value(name, high))
}

fn format_value(name: &str, value: f64) -> String {
    match name {
        "n" => format!("{value:.0}"),
        _ if name.starts_with("used") || name == "packed_tokens" => format!("{value:.0}"),
        _ if name.starts_with("latency") => format!("{value:.1} ms"),
        _ => format!("{:.1}", 100.0 * value),
    }
}

/// Minimum values by metric, as shares from 0 to 1. A key `category/metric` applies to one category, and a key `metric`
/// to all questions.
pub type Floor = BTreeMap<String, f64>;

/// Returns a sentence for every metric that is missing or below its floor.
pub fn metrics_below_floor(summary: &Summary, floor: &Floor) -> Vec<String> {
    let mut found = Vec::new();
    for (key, least) in floor {
        let (category, metric) = key.rsplit_once('/').unwrap_or((ALL, key));
        match summary.table.get(category).and_then(|it| it.get(metric)) {
            None => found.push(format!("{key} was not measured, its floor is {least}")),
            Some(value) if value < least => found.push(format!("{key} is {value:.4}, its floor is {least}")),
            Some(_) => {}
        }
    }
    found
}
