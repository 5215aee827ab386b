use chrono::{DateTime, FixedOffset};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Request, ToolSpecV1};
use crate::id::SpaceId;
use crate::port::{ModelAllowance, ModelCost, ModelRole};

/// A way to look around in a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Walk {
    /// CompassMem: from the parts of a question along the relations between units.
    Explore,
    /// MRAgent: from cues over tags to what was said.
    Reconstruct,
    /// REMem: gists and facts by meaning, by words and by time.
    Recollect,
    /// MemCog: through dimensions, pages and their links.
    Navigate,
    /// MemCog's proactive protocol: whether a message makes anything worth saying unasked.
    Recall,
}

impl Walk {
    /// Returns what the calls of a language model on this way are for.
    pub fn role(self) -> ModelRole {
        match self {
            Walk::Explore | Walk::Reconstruct | Walk::Recollect | Walk::Navigate => ModelRole::Decide,
            Walk::Recall => ModelRole::Recall,
        }
    }
}

/// The gateway asks the reader what to look up next, for a language model to decide. Everything that the model is to know is
/// in here: the reader remembers no turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TurnV1 {
    /// For traces only.
    pub space: SpaceId,
    /// The question, as asked; of [`Walk::Recall`] the message, behind who says it.
    pub question: String,
    /// When it is asked or said.
    pub asked_at: Option<DateTime<FixedOffset>>,
    /// How it is looked around.
    pub walk: Walk,
    /// What has to be found out, if that was planned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subgoals: Vec<String>,
    /// What was found so far, in the order of finding; the model knows the lines by their numbers, from 1.
    pub lines: Vec<String>,
    /// What was looked up so far, in order.
    pub lookups: Vec<LookupV1>,
    /// The tools that may be called; none in the last turn.
    pub tools: Vec<ToolSpecV1>,
    /// Calls of tools that count in this turn.
    pub calls_max: u32,
    /// Turns that may follow this one.
    pub turns_left: u32,
    /// Lines that may be chosen; left out, as many as are needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines_max: Option<u32>,
    /// What may be spent on a language model.
    #[serde(flatten)]
    pub allow: ModelAllowance,
}

/// A call of a tool, and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LookupV1 {
    /// The call.
    pub call: LookV1,
    /// Its result, as the model is told it.
    pub result: String,
}

/// A call of a tool that a language model wants. Name and arguments are unchecked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LookV1 {
    /// Name of the tool.
    pub name: String,
    /// Its arguments.
    pub arguments: Value,
}

/// What the model decided.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TurnedV1 {
    /// What to look up; nothing if it has seen enough.
    pub calls: Vec<LookV1>,
    /// Numbers of the lines that the answer needs, the one needed most first; empty while it looks on.
    pub lines: Vec<u32>,
    /// What was spent on the model.
    #[serde(flatten)]
    pub spent: ModelCost,
    /// Why the model could not be used.
    pub degraded: Vec<String>,
}

impl Request for TurnV1 {
    const SUBJECT: &'static str = "turn.v1";
    type Reply = TurnedV1;
}
