//! Run files: what a system returned for the questions of a data set, one question a line.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One piece of evidence a system showed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// The turns it says it comes from.
    #[serde(default)]
    pub turn_ids: Vec<String>,
    /// What a reader would see.
    #[serde(default)]
    pub text: String,
}

/// What a system returned for one question.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// The question.
    pub question_id: String,
    /// Evidence, best first.
    #[serde(default)]
    pub ranked: Vec<Item>,
    /// Packs by token budget; a budget without one is filled from `ranked`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub packs: BTreeMap<u32, Vec<Item>>,
    /// What the system says the pack costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packed_tokens: Option<f64>,
    /// Whether it refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub abstained: Option<bool>,
    /// Its answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Time from question to response, milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<f64>,
}

impl Line {
    /// Whether the system refused: it said so, or its answer does.
    pub fn refused(&self) -> bool {
        self.abstained.unwrap_or_else(|| {
            let answer = self.answer.as_deref().unwrap_or_default().to_lowercase();
            ["no information available", "not mentioned"]
                .iter()
                .any(|phrase| answer.contains(phrase))
        })
    }
}
