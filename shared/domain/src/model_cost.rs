//! The cost of calls of a language model.

use serde::{Deserialize, Serialize};

/// Tokens that a language model used, as counted by the model itself; 0 if it does not report them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct Usage {
    /// Tokens read.
    pub prompt_tokens: u32,
    /// Tokens written.
    pub completion_tokens: u32,
}

impl Usage {
    /// Returns true if no tokens are counted.
    pub fn is_none(&self) -> bool {
        *self == Usage::default()
    }

    /// Returns the sum of the tokens read and written.
    pub fn total_tokens(self) -> u32 {
        self.prompt_tokens.saturating_add(self.completion_tokens)
    }

    /// Adds the tokens of another call.
    pub fn add_usage(&mut self, other: Usage) {
        self.prompt_tokens = self.prompt_tokens.saturating_add(other.prompt_tokens);
        self.completion_tokens = self.completion_tokens.saturating_add(other.completion_tokens);
    }
}

/// The cost of language model calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelCost {
    /// Number of calls.
    #[serde(rename = "model_calls")]
    pub calls: u32,
    /// Tokens read and written; estimated if the model does not report them.
    #[serde(default, skip_serializing_if = "Usage::is_none")]
    pub usage: Usage,
    /// Duration in milliseconds, including the time in the queue.
    #[serde(rename = "model_ms", default, skip_serializing_if = "is_no_time")]
    pub ms: f32,
}

impl ModelCost {
    /// Adds another cost.
    pub fn add_cost(&mut self, other: ModelCost) {
        self.calls = self.calls.saturating_add(other.calls);
        self.usage.add_usage(other.usage);
        self.ms += other.ms;
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
pub(crate) fn is_no_time(ms: &f32) -> bool {
    *ms == 0.0
}
