//! The fitted weights of turns, candidate answers and times, as `mnemic-train answers` writes them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::answer::{span_names, time_names};
use crate::rank;

/// Version of what is weighed; weights for other features are of no use.
pub const VERSION: &str = "answers-4";

/// A weights file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Name of the weights.
    pub version: String,
    /// [`VERSION`] of the features.
    pub features: String,
    /// SHA-256 of the data they come from.
    pub data: String,
    /// Temperature at which candidate answers vote for each other.
    pub heat: f32,
    /// Weights of turns by feature; what is missing is 0.
    pub turns: BTreeMap<String, f32>,
    /// Weights of candidate answers by feature.
    pub spans: BTreeMap<String, f32>,
    /// Weights of times by feature.
    pub times: BTreeMap<String, f32>,
}

/// Weights in the order of the features.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Weights {
    pub(crate) heat: f32,
    pub(crate) turns: Vec<f32>,
    pub(crate) spans: Vec<f32>,
    pub(crate) times: Vec<f32>,
}

static BUILTIN: LazyLock<Option<Weights>> = LazyLock::new(|| {
    let file: File = serde_json::from_str(include_str!("../weights/answer.json")).ok()?;
    Weights::of(&file)
});

impl Weights {
    /// Returns the shipped weights; a test rules out that they do not fit.
    pub fn builtin() -> &'static Weights {
        static NONE: Weights = Weights {
            heat: 1.0,
            turns: Vec::new(),
            spans: Vec::new(),
            times: Vec::new(),
        };
        BUILTIN.as_ref().unwrap_or(&NONE)
    }

    /// Reads a file; none if it was made for other features.
    pub fn of(file: &File) -> Option<Weights> {
        if file.features != VERSION || file.heat <= 0.0 {
            return None;
        }
        Some(Weights {
            heat: file.heat,
            turns: ordered(&file.turns, rank::NAMES)?,
            spans: ordered(&file.spans, &span_names())?,
            times: ordered(&file.times, time_names())?,
        })
    }
}

fn ordered(weights: &BTreeMap<String, f32>, names: &[&str]) -> Option<Vec<f32>> {
    let known = weights.keys().all(|it| names.contains(&it.as_str()));
    known.then(|| {
        names
            .iter()
            .map(|it| weights.get(*it).copied().unwrap_or_default())
            .collect()
    })
}

/// Returns the weighted sum of a row.
pub(crate) fn dot(row: &[f32], weights: &[f32]) -> f32 {
    row.iter().zip(weights).map(|(it, weight)| it * weight).sum()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_weights_fit_the_features() {
        assert!(super::BUILTIN.is_some());
    }
}
