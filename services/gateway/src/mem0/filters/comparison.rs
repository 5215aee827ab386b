//! Comparisons of a mem0 filter with one value.

use std::cmp::Ordering;

use chrono::{DateTime, FixedOffset};

/// A comparison with a value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Test<T> {
    /// The value is present.
    Exists,
    /// The value is in this list.
    In(Vec<T>),
    /// The value is different, or missing.
    Other(T),
    /// The order of the value relative to this one is in the list.
    Than(Vec<Ordering>, T),
    /// The value contains this text.
    Holds(String),
    /// The value contains this text; letter case is ignored.
    HoldsFolded(String),
}

impl Test<String> {
    /// Returns the test for a substring, ignoring case, instead of the test for the whole text.
    pub(crate) fn of_part(self) -> Test<String> {
        if let Test::In(all) = &self
            && let [one] = all.as_slice()
        {
            return Test::HoldsFolded(one.to_lowercase());
        }
        self
    }

    /// Returns true if a text passes the test; a missing text passes only `Other`.
    pub(crate) fn accepts_text(&self, value: Option<&str>) -> bool {
        match (self, value) {
            (Test::Other(other), value) => value != Some(other),
            (_, None) => false,
            (Test::Exists, Some(_)) => true,
            (Test::In(all), Some(value)) => all.iter().any(|it| it == value),
            (Test::Than(orderings, than), Some(value)) => orderings.contains(&compare_values(value, than)),
            (Test::Holds(text), Some(value)) => value.contains(text.as_str()),
            (Test::HoldsFolded(text), Some(value)) => value.to_lowercase().contains(text.as_str()),
        }
    }
}

impl Test<DateTime<FixedOffset>> {
    /// Returns true if a time passes the test.
    pub(crate) fn accepts_moment(&self, at: DateTime<FixedOffset>) -> bool {
        match self {
            Test::Exists => true,
            Test::In(all) => all.contains(&at),
            Test::Other(other) => at != *other,
            Test::Than(orderings, than) => orderings.contains(&at.cmp(than)),
            Test::Holds(text) => at.to_rfc3339().contains(text.as_str()),
            Test::HoldsFolded(text) => at.to_rfc3339().to_lowercase().contains(text.as_str()),
        }
    }
}

/// Compares two numbers numerically, and anything else as text.
fn compare_values(one: &str, other: &str) -> Ordering {
    let numbers = one.parse::<f64>().ok().zip(other.parse::<f64>().ok());
    numbers
        .and_then(|(a, b)| a.partial_cmp(&b))
        .unwrap_or_else(|| one.cmp(other))
}
