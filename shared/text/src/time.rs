//! Times named in a text, resolved against a reference, and how a span reads.

use std::ops::Range;

use chrono::{DateTime, FixedOffset};
use domain::time::TimeSpan;

/// A time named in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// Bytes of the expression.
    pub range: Range<usize>,
    /// What it means.
    pub span: TimeSpan,
}

/// Returns the times that `text` names, in order of appearance, resolved against `reference`.
pub fn find(_text: &str, _reference: DateTime<FixedOffset>) -> Vec<Mention> {
    Vec::new()
}

/// Returns the span in words, no more precise than it is known.
pub fn render(span: &TimeSpan, offset: FixedOffset) -> String {
    span.start.with_timezone(&offset).format("%-d %B %Y").to_string()
}
