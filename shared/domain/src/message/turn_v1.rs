use chrono::{DateTime, FixedOffset};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Request, ToolSpecV1};
use crate::id::SpaceId;
use crate::model_cost::ModelCost;
use crate::port::{ModelAllowance, ModelRole};

/// A strategy to explore a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExplorationStrategy {
    /// CompassMem: starts at the parts of a question and follows the relations between units.
    Explore,
    /// MRAgent: goes from cues to tags to the turns.
    Reconstruct,
    /// REMem: searches gists and facts by meaning, by words and by time.
    Recollect,
    /// MemCog: goes through dimensions, pages and their links.
    Navigate,
    /// MemCog's proactive protocol: decides whether a message brings up something worth saying unasked.
    Recall,
}

impl ExplorationStrategy {
    /// Returns the role of a language model's calls in this strategy.
    pub fn model_role(self) -> ModelRole {
        match self {
            ExplorationStrategy::Explore
            | ExplorationStrategy::Reconstruct
            | ExplorationStrategy::Recollect
            | ExplorationStrategy::Navigate => ModelRole::Decide,
            ExplorationStrategy::Recall => ModelRole::Recall,
        }
    }
}

/// The gateway asks the reader what to look up next; a language model decides. The request holds everything that the
/// model needs: the reader keeps no state between turns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TurnV1 {
    /// For traces only.
    pub space: SpaceId,
    /// The question, as asked. For [`ExplorationStrategy::Recall`], the speaker followed by the message.
    pub question: String,
    /// Time at which the question is asked or the message is said.
    pub asked_at: Option<DateTime<FixedOffset>>,
    /// The strategy.
    pub walk: ExplorationStrategy,
    /// The subgoals, if there is a plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subgoals: Vec<String>,
    /// The lines found so far, in the order of finding. The model refers to them by number, from 1.
    pub lines: Vec<String>,
    /// The lookups so far, in order.
    pub lookups: Vec<LookupV1>,
    /// The tools that may be called; empty in the last turn.
    pub tools: Vec<ToolSpecV1>,
    /// Maximum number of tool calls in this turn; further calls are ignored.
    pub calls_max: u32,
    /// Turns that may follow this one.
    pub turns_left: u32,
    /// Maximum number of lines that may be chosen; absent means no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines_max: Option<u32>,
    /// Budget for calls of a language model.
    #[serde(flatten)]
    pub allow: ModelAllowance,
}

/// A tool call with its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LookupV1 {
    /// The call.
    pub call: LookV1,
    /// The result, in the form that the model sees.
    pub result: String,
}

/// A tool call that a language model requests. Name and arguments are unchecked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LookV1 {
    /// Name of the tool.
    pub name: String,
    /// Arguments of the call.
    pub arguments: Value,
}

/// The model's decision.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TurnedV1 {
    /// The calls to make; empty if the model has seen enough.
    pub calls: Vec<LookV1>,
    /// Numbers of the lines that the answer needs, the most important one first. Empty as long as the model continues
    /// to search.
    pub lines: Vec<u32>,
    /// Cost of the calls of the model.
    #[serde(flatten)]
    pub spent: ModelCost,
    /// Why the model could not be used.
    pub degraded: Vec<String>,
}

impl Request for TurnV1 {
    const SUBJECT: &'static str = "turn.v1";
    type Reply = TurnedV1;
}
