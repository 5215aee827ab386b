//! What a filter of mem0 asks of one value.

use std::cmp::Ordering;

use chrono::{DateTime, FixedOffset};

/// What is asked of a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Test<T> {
    /// Is there.
    Exists,
    /// Is one of these.
    In(Vec<T>),
    /// Is another one, or is not there.
    Other(T),
    /// Compares so with this one.
    Than(Vec<Ordering>, T),
    /// Holds this text.
    Holds(String),
    /// Holds this text, in any case.
    HoldsFolded(String),
}

impl Test<String> {
    /// Returns the test for a part of a text, in any case, in place of that for one whole text.
    pub(super) fn of_part(self) -> Test<String> {
        if let Test::In(all) = &self
            && let [one] = all.as_slice()
        {
            return Test::HoldsFolded(one.to_lowercase());
        }
        self
    }

    /// Returns true if a text passes; a text that is missing passes only `Other`.
    pub(super) fn takes_text(&self, value: Option<&str>) -> bool {
        match (self, value) {
            (Test::Other(other), value) => value != Some(other),
            (_, None) => false,
            (Test::Exists, Some(_)) => true,
            (Test::In(all), Some(value)) => all.iter().any(|it| it == value),
            (Test::Than(wanted, than), Some(value)) => wanted.contains(&compared(value, than)),
            (Test::Holds(text), Some(value)) => value.contains(text.as_str()),
            (Test::HoldsFolded(text), Some(value)) => value.to_lowercase().contains(text.as_str()),
        }
    }
}

impl Test<DateTime<FixedOffset>> {
    /// Returns true if a moment passes.
    pub(super) fn takes_moment(&self, at: DateTime<FixedOffset>) -> bool {
        match self {
            Test::Exists => true,
            Test::In(all) => all.contains(&at),
            Test::Other(other) => at != *other,
            Test::Than(wanted, than) => wanted.contains(&at.cmp(than)),
            Test::Holds(text) => at.to_rfc3339().contains(text.as_str()),
            Test::HoldsFolded(text) => at.to_rfc3339().to_lowercase().contains(text.as_str()),
        }
    }
}

/// Compares numbers as numbers, all else as text.
fn compared(one: &str, other: &str) -> Ordering {
    let numbers = one.parse::<f64>().ok().zip(other.parse::<f64>().ok());
    numbers
        .and_then(|(a, b)| a.partial_cmp(&b))
        .unwrap_or_else(|| one.cmp(other))
}
