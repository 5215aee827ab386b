//! Run files: the output of a system for the questions of a data set, one question on each line.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One piece of evidence that a system returned.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// Turns that the system cites as its source.
    #[serde(default)]
    pub turn_ids: Vec<String>,
    /// Text as a reader would see it.
    #[serde(default)]
    pub text: String,
}

/// Output of a system for one question.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Id of the question.
    pub question_id: String,
    /// Evidence, best first.
    #[serde(default)]
    pub ranked: Vec<Item>,
    /// Packs by token budget; without a pack for a budget, it is filled from `ranked`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub packs: BTreeMap<u32, Vec<Item>>,
    /// Number of tokens of the pack, as the system reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packed_tokens: Option<f64>,
    /// Whether the system refused to answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub abstained: Option<bool>,
    /// Answer of the system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Time from question to response, milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<f64>,
}

impl Line {
    /// Returns true if the system refused to answer: if `abstained` is true, or, without that field, if the answer has
    /// the wording of a refusal.
    pub fn refused(&self) -> bool {
        self.abstained.unwrap_or_else(|| {
            let answer = self.answer.as_deref().unwrap_or_default().to_lowercase();
            ["no information available", "not mentioned"]
                .iter()
                .any(|phrase| answer.contains(phrase))
        })
    }
}
