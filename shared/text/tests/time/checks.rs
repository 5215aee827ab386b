//! Compares the times in lines of text with the expected ones; the reference is Thursday 15 June 2023, 14:30.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use chrono::{DateTime, FixedOffset};
use text::time::{Mention, find_times, render_span};

pub(crate) fn sent_at() -> DateTime<FixedOffset> {
    DateTime::parse_from_rfc3339("2023-06-15T14:30:00+02:00").unwrap()
}

/// Returns each mention as "its words = its rendered span", joined by "; ".
pub(crate) fn read(text: &str) -> String {
    let one = |m: &Mention| {
        assert_eq!(&text[m.range.clone()], m.span.words);
        format!("{} = {}", m.span.words, render_span(&m.span, *sent_at().offset()))
    };
    let mentions = find_times(text, sent_at());
    mentions.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// Checks lines of the form "text => expected mentions".
pub(crate) fn check(lines: &str) {
    let cases: Vec<_> = lines.lines().filter_map(|line| line.trim().split_once(" =>")).collect();
    let wrong = cases.iter().filter(|(text, want)| read(text) != want.trim());
    let report: Vec<_> = wrong
        .map(|(text, want)| format!("{text}\n  got   {}\n  want {want}", read(text)))
        .collect();
    assert!(
        report.is_empty(),
        "{} of {} wrong\n{}",
        report.len(),
        cases.len(),
        report.join("\n")
    );
}
