use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Picture, Result};
use crate::model_cost::{ModelCost, Usage};

/// The purpose of a language model call. The settings may name a model for each role; metrics and traces are labelled
/// with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ModelRole {
    /// Splits a question into subgoals.
    Plan,
    /// Decides what to look up next, and which of the found lines hold the answer.
    Decide,
    /// Chooses and orders the candidates that hold the answer.
    Rank,
    /// Answers a question from evidence.
    Answer,
    /// Decides whether a message brings up something worth saying unasked.
    Recall,
    /// Reads records: events, their relations, and facts.
    Write,
    /// Describes a picture.
    See,
}

impl ModelRole {
    /// All roles.
    pub const ALL: [ModelRole; 7] = [
        ModelRole::Plan,
        ModelRole::Decide,
        ModelRole::Rank,
        ModelRole::Answer,
        ModelRole::Recall,
        ModelRole::Write,
        ModelRole::See,
    ];

    /// Returns the name used in settings, metrics and JSON.
    pub fn name(self) -> &'static str {
        match self {
            ModelRole::Plan => "plan",
            ModelRole::Decide => "decide",
            ModelRole::Rank => "rank",
            ModelRole::Answer => "answer",
            ModelRole::Recall => "recall",
            ModelRole::Write => "write",
            ModelRole::See => "see",
        }
    }
}

impl fmt::Display for ModelRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A conversation with a language model; the model writes the next message.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Chat {
    /// The purpose of the call.
    pub role: ModelRole,
    /// The messages so far, in order. System messages contain nothing from users; in the other messages, text from
    /// users and programs is fenced.
    pub messages: Vec<ChatMessage>,
    /// The tools that the model may call.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolSpec>,
    /// Whether the model may, must or must not call a tool. Without tools it has no effect.
    pub choice: ToolChoice,
    /// The required form of a reply without tool calls. Not every model complies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub form: Option<ReplyForm>,
    /// Maximum number of tokens of the reply; if absent, the settings decide. It follows from what is left of a budget, so it
    /// is not part of a recorded call.
    #[serde(skip)]
    pub completion_max: Option<u32>,
}

impl Chat {
    /// Makes a conversation of one system message and one user message, without tools.
    pub fn new(role: ModelRole, system: &str, user: String) -> Chat {
        let system = ChatMessage::System {
            text: system.to_owned(),
        };
        let user = ChatMessage::User {
            text: user,
            pictures: Vec::new(),
        };
        Chat {
            role,
            messages: vec![system, user],
            tools: Vec::new(),
            choice: ToolChoice::Forbidden,
            form: None,
            completion_max: None,
        }
    }

    /// Appends a remark to the last user message, because some models refuse two user messages in a row.
    #[must_use]
    pub fn with_remark(mut self, remark: &str) -> Chat {
        match self.messages.last_mut() {
            Some(ChatMessage::User { text, .. }) => *text = format!("{text}\n\n{remark}"),
            _ => self.messages.push(ChatMessage::User {
                text: remark.to_owned(),
                pictures: Vec::new(),
            }),
        }
        self
    }

    /// Attaches a picture to the last user message.
    #[must_use]
    pub fn with_picture(mut self, picture: Picture) -> Chat {
        match self.messages.last_mut() {
            Some(ChatMessage::User { pictures, .. }) => pictures.push(picture),
            _ => self.messages.push(ChatMessage::User {
                text: String::new(),
                pictures: vec![picture],
            }),
        }
        self
    }

    /// Returns the attached pictures, in order.
    pub fn pictures(&self) -> impl Iterator<Item = &Picture> {
        self.messages.iter().flat_map(|it| match it {
            ChatMessage::User { pictures, .. } => pictures.as_slice(),
            ChatMessage::System { .. } | ChatMessage::Assistant { .. } | ChatMessage::Tool { .. } => &[],
        })
    }
}

/// A message of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum ChatMessage {
    /// The instructions for the model.
    System {
        /// The text.
        text: String,
    },
    /// The request, or data that the model needs.
    User {
        /// The text.
        text: String,
        /// Pictures, shown after the text.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pictures: Vec<Picture>,
    },
    /// The model's reply.
    Assistant {
        /// The text of the reply; empty if it has only calls.
        text: String,
        /// The tool calls of the reply.
        calls: Vec<RequestedToolCall>,
    },
    /// The result of a tool call.
    Tool {
        /// Id of the call, as the model gave it.
        call: String,
        /// The result, fenced.
        text: String,
    },
}

/// A tool that the model may call.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolSpec {
    /// Name of the tool: letters, digits and `_`.
    pub name: String,
    /// Description for the model: what the tool does and when to call it.
    pub description: String,
    /// JSON schema of its arguments.
    pub parameters: Value,
}

/// A tool call that the model requests. Name and arguments are unchecked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RequestedToolCall {
    /// Unique among the calls of the conversation.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// The arguments; a JSON string if the model wrote invalid JSON.
    pub arguments: Value,
}

/// Whether the model calls a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// The model decides.
    Allowed,
    /// At least one call.
    Required,
    /// No call.
    Forbidden,
}

/// A required form of a reply.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReplyForm {
    /// Name of the form: letters, digits and `_`.
    pub name: &'static str,
    /// JSON schema of the reply.
    pub schema: Value,
}

/// A reply of a language model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Completion {
    /// The text, as received.
    pub text: String,
    /// The tool calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<RequestedToolCall>,
    /// Whether the reply was cut off at the token limit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// The tokens used.
    pub usage: Usage,
}

/// The budget of a request for language models.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelAllowance {
    /// Maximum number of calls.
    #[serde(rename = "model_calls", default, skip_serializing_if = "is_zero")]
    pub calls: u32,
    /// Maximum number of tokens that the calls may read and write together; absent means no limit.
    #[serde(rename = "model_tokens", default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u32>,
}

impl ModelAllowance {
    /// Subtracts a cost, down to 0.
    pub fn subtract_cost(&mut self, cost: ModelCost) {
        self.calls = self.calls.saturating_sub(cost.calls);
        self.tokens = self.tokens.map(|it| it.saturating_sub(cost.usage.total_tokens()));
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn is_zero(calls: &u32) -> bool {
    *calls == 0
}

/// A language model. It replies to one conversation at a time and keeps no state between calls.
#[async_trait]
pub trait LanguageModel: Send + Sync + 'static {
    /// Returns the model's reply.
    ///
    /// # Errors
    ///
    /// `Unavailable` if the model cannot be reached; the error has no source if no call was sent. `Timeout` if the
    /// model is too slow. `Invalid` if it refuses the conversation.
    async fn complete(&self, chat: &Chat) -> Result<Completion>;

    /// Returns the name of the model for a role, or `None` if there is no model for it or its name is unknown.
    fn name(&self, _role: ModelRole) -> Option<&str> {
        None
    }

    /// Returns the time for which background work should make no call in a role, because the endpoint is unreachable or
    /// refuses every call; none if it may call now.
    fn pause_before_background_calls(&self, _role: ModelRole) -> Option<Duration> {
        None
    }
}
