use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Result;

/// What a language model is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Prompt {
    /// What it is there for. Nothing of it comes from users.
    pub system: String,
    /// What this is about. What users and programs said is fenced in it.
    pub user: String,
    /// Name of `schema`: letters, digits and `_`.
    pub name: &'static str,
    /// JSON schema of the reply. Not every model keeps to it.
    pub schema: Value,
}

/// What a language model replied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The reply, as it came.
    pub text: String,
    /// Whether it ends where the model was not allowed to go on.
    pub cut: bool,
    /// What it cost.
    pub usage: Usage,
}

/// Tokens of a language model, as it counts them itself; 0 where it does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct Usage {
    /// Read.
    pub prompt_tokens: u32,
    /// Written.
    pub completion_tokens: u32,
}

impl Usage {
    /// Says whether there is none.
    pub fn is_none(&self) -> bool {
        *self == Usage::default()
    }

    /// Adds what another call cost.
    pub fn add(&mut self, other: Usage) {
        self.prompt_tokens = self.prompt_tokens.saturating_add(other.prompt_tokens);
        self.completion_tokens = self.completion_tokens.saturating_add(other.completion_tokens);
    }
}

/// A language model, which replies to one prompt at a time and remembers nothing.
#[async_trait]
pub trait LanguageModel: Send + Sync + 'static {
    /// What it is called.
    fn name(&self) -> &str;

    /// Returns what it replies.
    ///
    /// # Errors
    /// `Unavailable` if it is away; `Timeout` if it is slow; `Invalid` if it refuses the prompt.
    async fn complete(&self, prompt: &Prompt) -> Result<Completion>;
}
