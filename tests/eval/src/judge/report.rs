//! Adds verdicts up by category: the share of right answers with its interval, and how often the two verdicts agree.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use domain::port::Usage;
use serde::Serialize;

use super::Answer;
use super::prompt::Verdict;
use super::verdicts::VerdictLine;
use crate::score::summary::ALL;

/// 97.5 % quantile of the normal distribution, for two-sided 95 % intervals.
const Z: f64 = 1.959_963_984_540_054;

/// Counts of the verdicts of one category.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Tally {
    /// Answers with two readable verdicts.
    pub judged: usize,
    /// Judged answers that both verdicts call right.
    pub right: usize,
    /// Judged answers whose two verdicts agree.
    pub agreed: usize,
    /// Answers with a verdict that could not be read.
    pub unreadable: usize,
    /// Answers without two verdicts.
    pub missing: usize,
    /// Calls of the judge, including those of earlier runs.
    pub calls: u32,
    /// Tokens of these calls.
    pub usage: Usage,
}

/// The bounds of a 95 % interval, as shares.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

impl Tally {
    /// Returns the share of right answers among the judged ones, 0 if there are none.
    pub fn share_right(&self) -> f64 {
        share_of(self.right, self.judged)
    }

    /// Returns the share of judged answers whose verdicts agree, 0 if there are none.
    pub fn agreement(&self) -> f64 {
        share_of(self.agreed, self.judged)
    }

    fn add(&mut self, verdicts: &[&VerdictLine]) {
        for line in verdicts {
            self.calls = self.calls.saturating_add(line.calls);
            self.usage.add_usage(line.usage);
        }
        match verdicts {
            [first, second] => match (first.verdict, second.verdict) {
                (Verdict::Unreadable, _) | (_, Verdict::Unreadable) => self.unreadable += 1,
                (one, other) => {
                    self.judged += 1;
                    self.agreed += usize::from(one == other);
                    self.right += usize::from(one == other && one == Verdict::Right);
                }
            },
            _ => self.missing += 1,
        }
    }
}

fn share_of(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Returns the Wilson score interval of `part` in `whole` (Wilson 1927). Returns 0 to 1 if `whole` is 0.
pub fn wilson_interval(part: usize, whole: usize) -> Interval {
    if whole == 0 {
        return Interval { low: 0.0, high: 1.0 };
    }
    let (count, share) = (whole as f64, share_of(part, whole));
    let middle = share + Z * Z / (2.0 * count);
    let margin = Z * (share * (1.0 - share) / count + Z * Z / (4.0 * count * count)).sqrt();
    let scale = 1.0 + Z * Z / count;
    Interval {
        low: ((middle - margin) / scale).max(0.0),
        high: ((middle + margin) / scale).min(1.0),
    }
}

/// Returns the counts of the verdicts by category; [`ALL`] is over all answers.
pub fn count_verdicts(answers: &[Answer], verdicts: &[VerdictLine]) -> BTreeMap<String, Tally> {
    let mut by_answer: HashMap<&str, Vec<&VerdictLine>> = HashMap::new();
    for line in verdicts {
        by_answer.entry(&line.id).or_default().push(line);
    }
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    for answer in answers {
        let own = by_answer.get(answer.id.as_str()).map(Vec::as_slice).unwrap_or_default();
        let category = if answer.category.is_empty() {
            "other"
        } else {
            &answer.category
        };
        for name in [ALL, category] {
            tallies.entry(name.to_owned()).or_default().add(own);
        }
    }
    tallies
}

/// Returns the tallies as a table for people: shares in percent, all answers first.
pub fn verdict_table(tallies: &BTreeMap<String, Tally>) -> String {
    let names = tallies.keys().map(|it| it.chars().count());
    let width = names.max().unwrap_or_default() + 1;
    let mut out = format!(
        "{:width$}{:>8}{:>8}{:>16}{:>8}{:>12}{:>9}{:>8}{:>12}",
        "", "judged", "right", "95 %", "agreed", "unreadable", "missing", "calls", "tokens"
    );
    let all = tallies.get_key_value(ALL);
    for (name, tally) in all.into_iter().chain(tallies.iter().filter(|it| it.0 != ALL)) {
        let interval = wilson_interval(tally.right, tally.judged);
        let interval = format!("{:.1} to {:.1}", 100.0 * interval.low, 100.0 * interval.high);
        let _ = write!(
            out,
            "\n{name:width$}{:>8}{:>8.1}{interval:>16}{:>8.1}{:>12}{:>9}{:>8}{:>12}",
            tally.judged,
            100.0 * tally.share_right(),
            100.0 * tally.agreement(),
            tally.unreadable,
            tally.missing,
            tally.calls,
            tally.usage.total_tokens(),
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_equals_the_wilson_score_interval() {
        for (part, whole, low, high) in [
            (0, 10, 0.0, 0.2775),
            (5, 10, 0.2366, 0.7634),
            (10, 10, 0.7225, 1.0),
            (0, 0, 0.0, 1.0),
        ] {
            let found = wilson_interval(part, whole);
            let close = (found.low - low).abs() < 1e-4 && (found.high - high).abs() < 1e-4;
            assert!(close, "{found:?} for {part} of {whole}");
        }
    }
}
