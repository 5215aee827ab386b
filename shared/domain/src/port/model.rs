use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Picture, Result};

/// What a call of a language model is for. The settings may name a model for each, and metrics and traces carry it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ModelRole {
    /// Splits a question into what has to be found out.
    Plan,
    /// Decides what to look up next, and which of what was found holds the answer.
    Decide,
    /// Chooses and orders the candidates that hold the answer to a question.
    Rank,
    /// Answers a question from evidence.
    Answer,
    /// Decides whether a message makes anything in the memory worth saying unasked.
    Recall,
    /// Reads records: what happened, what follows from what, and what is so.
    Write,
    /// Says what a picture shows.
    See,
}

impl ModelRole {
    /// All of them.
    pub const ALL: [ModelRole; 7] = [
        ModelRole::Plan,
        ModelRole::Decide,
        ModelRole::Rank,
        ModelRole::Answer,
        ModelRole::Recall,
        ModelRole::Write,
        ModelRole::See,
    ];

    /// Returns the name, as settings, metrics and JSON have it.
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

/// A conversation with a language model, which writes its next message.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Chat {
    /// What the call is for.
    pub role: ModelRole,
    /// What was said so far, in order. Nothing in the system messages comes from users; what users and programs said is fenced
    /// in the others.
    pub messages: Vec<ChatMessage>,
    /// The tools that the model may call.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolSpec>,
    /// Whether it may, must or must not call one. Without tools it means nothing.
    pub choice: ToolChoice,
    /// The form of a reply that calls no tool. Not every model keeps to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub form: Option<ReplyForm>,
    /// Most tokens of the reply; left out, as many as the settings allow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_max: Option<u32>,
}

impl Chat {
    /// Makes a conversation of one system and one user message, without tools.
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

    /// Adds a remark to the end of the last user message, as some models refuse two of them in a row.
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

    /// Shows a picture with the last user message.
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

    /// Returns the pictures that are shown, in order.
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
    /// What the model is there for.
    System {
        /// The text.
        text: String,
    },
    /// What it is asked or shown.
    User {
        /// The text.
        text: String,
        /// Pictures that are shown behind the text.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pictures: Vec<Picture>,
    },
    /// What it replied.
    Assistant {
        /// The text beside the calls; may be empty.
        text: String,
        /// The tools it called.
        calls: Vec<ToolCall>,
    },
    /// What came of a tool call.
    Tool {
        /// Id of the call, as the model gave it.
        call: String,
        /// The result, fenced.
        text: String,
    },
}

/// A tool on offer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolSpec {
    /// Its name: letters, digits and `_`.
    pub name: String,
    /// What it does and when to call it.
    pub description: String,
    /// JSON schema of its arguments.
    pub parameters: Value,
}

/// A call of a tool that the model wants. Its name and its arguments are unchecked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Tells it from the other calls of the conversation.
    pub id: String,
    /// The tool.
    pub name: String,
    /// What it is called with; a text where the model wrote something that is not JSON.
    pub arguments: Value,
}

/// Whether a model calls a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// As it sees fit.
    Allowed,
    /// It has to call one at least.
    Required,
    /// It has to reply without.
    Forbidden,
}

/// The form of a reply.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReplyForm {
    /// Its name: letters, digits and `_`.
    pub name: &'static str,
    /// JSON schema of the reply.
    pub schema: Value,
}

/// What a language model replied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Completion {
    /// The reply, as it came.
    pub text: String,
    /// The tools it calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    /// Whether it ends where the model was not allowed to go on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
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

    /// Returns what was read and written together.
    pub fn total(self) -> u32 {
        self.prompt_tokens.saturating_add(self.completion_tokens)
    }

    /// Adds what another call cost.
    pub fn add(&mut self, other: Usage) {
        self.prompt_tokens = self.prompt_tokens.saturating_add(other.prompt_tokens);
        self.completion_tokens = self.completion_tokens.saturating_add(other.completion_tokens);
    }
}

/// What a request may spend on language models.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelAllowance {
    /// Calls.
    #[serde(rename = "model_calls", default, skip_serializing_if = "is_zero")]
    pub calls: u32,
    /// Tokens that they may read and write together; left out, as many as the calls take.
    #[serde(rename = "model_tokens", default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u32>,
}

impl ModelAllowance {
    /// Takes off what was spent.
    pub fn spend(&mut self, cost: ModelCost) {
        self.calls = self.calls.saturating_sub(cost.calls);
        self.tokens = self.tokens.map(|it| it.saturating_sub(cost.usage.total()));
    }
}

/// What was spent on language models.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelCost {
    /// Calls made.
    #[serde(rename = "model_calls")]
    pub calls: u32,
    /// Tokens that they read and wrote; estimated where the model does not say.
    #[serde(default, skip_serializing_if = "Usage::is_none")]
    pub usage: Usage,
    /// Milliseconds that they took, waiting for a turn included.
    #[serde(rename = "model_ms", default, skip_serializing_if = "is_no_time")]
    pub ms: f32,
}

impl ModelCost {
    /// Adds what something else cost.
    pub fn add(&mut self, other: ModelCost) {
        self.calls = self.calls.saturating_add(other.calls);
        self.usage.add(other.usage);
        self.ms += other.ms;
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn is_zero(calls: &u32) -> bool {
    *calls == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn is_no_time(ms: &f32) -> bool {
    *ms == 0.0
}

/// A language model, which replies to one conversation at a time and remembers nothing.
#[async_trait]
pub trait LanguageModel: Send + Sync + 'static {
    /// Returns what it replies.
    ///
    /// # Errors
    /// `Unavailable` if it is away, and without a source if it was not asked; `Timeout` if it is slow; `Invalid` if it refuses
    /// the conversation.
    async fn complete(&self, chat: &Chat) -> Result<Completion>;

    /// Returns the name of the model that replies in a role; none if there is none for it, or its name is not known.
    fn name(&self, _role: ModelRole) -> Option<&str> {
        None
    }

    /// Returns how long work that can wait should ask nothing in a role, because the endpoint is away or refuses whatever it is
    /// asked; none if it may ask now.
    fn rest(&self, _role: ModelRole) -> Option<Duration> {
        None
    }
}
