use std::collections::BTreeMap;

use domain::filter::Filter;
use domain::id::HintId;
use domain::port::{ModelAllowance, ModelRole, Usage};
use domain::recall::Hint;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::object::object;
use super::query::time_ms;
use crate::api::{RoleCost, StepTime};

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
    /// Which records hints may come from.
    #[serde(default, deserialize_with = "object", skip_serializing_if = "Filter::is_empty")]
    pub filter: Filter,
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

impl Default for RecallRequest {
    fn default() -> RecallRequest {
        RecallRequest {
            message: String::new(),
            actor: String::new(),
            session: usual(),
            at: None,
            limit: few(),
            sensitive: false,
            after: None,
            filter: Filter::default(),
            budget: RecallBudget::default(),
        }
    }
}

/// What recall may cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RecallBudget {
    /// Milliseconds for everything, waiting for `after` included; left out, 2,000, and 30,000 where calls of a language model are
    /// allowed. Without calls, no more than the 30,000 that `[gateway] request_ms_max` allows.
    #[schema(value_type = Option<u64>)]
    pub ms: Option<u64>,
    /// Calls of a language model. If one is set up and may be called, it decides which of the candidates are worth saying, and
    /// with two calls and more it may search the memory first. A reply that cannot be read is asked for once more if a call is
    /// left. What it chooses passes the same conditions as a hint by rule.
    #[schema(maximum = 64)]
    pub model_calls: u32,
    /// Tokens that those calls may read and write together; left out, as many as they take. A call that may take more than is
    /// left is not made.
    #[schema(value_type = Option<u32>, maximum = 10_000_000)]
    pub model_tokens: Option<u32>,
}

impl RecallBudget {
    /// Returns the milliseconds for everything, where a request may take `most`.
    pub fn time_ms(&self, most: u64) -> u64 {
        time_ms(self.ms, self.model_calls, most)
    }

    /// Returns what may be spent on a language model.
    pub fn models(&self) -> ModelAllowance {
        ModelAllowance {
            calls: self.model_calls,
            tokens: self.model_tokens,
        }
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
    /// A stable code for each entry of `degraded`, in their order, such as `index_unavailable`; docs/ERRORS.md has all of
    /// them. Not there when all is well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub degraded_codes: Vec<String>,
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
    /// Tokens those calls read and wrote, as the model counts them; estimated where it does not say.
    #[serde(default, skip_serializing_if = "Usage::is_none")]
    pub usage: Usage,
    /// The same by what the calls were for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub roles: BTreeMap<ModelRole, RoleCost>,
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
