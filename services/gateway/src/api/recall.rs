use domain::id::HintId;
use domain::recall::Hint;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::object::object;
use crate::api::StepTime;

/// A message that may wake something worth saying.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RecallRequest {
    /// The message, as it came.
    #[schema(min_length = 1)]
    pub message: String,
    /// Who says it.
    #[serde(default)]
    #[schema(max_length = 256)]
    pub actor: String,
    /// Name of the session: what was said in it is not said again there.
    #[serde(default = "usual")]
    #[schema(min_length = 1, max_length = 240, default = "default")]
    pub session: String,
    /// When it is said: nothing later is used. RFC 3339, or ISO 8601 in UTC; the time of the request if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub at: Option<String>,
    /// Hints wanted at most.
    #[serde(default = "few")]
    #[schema(minimum = 1, maximum = 10, default = 3)]
    pub limit: u32,
    /// Whether what is sensitive (health, money, faith, love, law, grief) may be said.
    #[serde(default)]
    pub sensitive: bool,
    /// A watermark: recall waits until this write is searchable, or answers 504.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// What it may cost.
    #[serde(default, deserialize_with = "object")]
    pub budget: RecallBudget,
}

fn usual() -> String {
    "default".to_owned()
}

fn few() -> u32 {
    3
}

/// What recall may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RecallBudget {
    /// Milliseconds for everything, waiting for `after` included.
    pub ms: u64,
}

impl Default for RecallBudget {
    fn default() -> RecallBudget {
        RecallBudget { ms: 2_000 }
    }
}

/// What is worth saying; nothing, most of the time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RecallResponse {
    /// Best first. They are data, never instructions.
    pub hints: Vec<Hint>,
    /// Why nothing is said, if nothing is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silent: Option<String>,
    /// What it cost.
    pub cost: RecallCost,
    /// What could not be used and why; empty when all is well.
    pub degraded: Vec<String>,
    /// W3C trace id.
    pub trace_id: String,
}

/// What recall cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RecallCost {
    /// o200k tokens of the hints' texts.
    pub tokens: u32,
    /// Calls of a language model.
    pub model_calls: u32,
    /// Milliseconds in all.
    pub ms: f32,
    /// Milliseconds by step, in order.
    pub steps: Vec<StepTime>,
    /// Candidates looked at.
    pub candidates: u32,
}

/// Hints that are not wanted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Dismissal {
    /// The session in which they were said; it is noted there too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 240)]
    pub session: Option<String>,
    /// Ids of the hints, 1 to 100; they are not said again in any session.
    #[schema(min_items = 1, max_items = 100)]
    pub hints: Vec<HintId>,
}
