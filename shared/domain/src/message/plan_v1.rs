use serde::{Deserialize, Serialize};

use super::Request;
use crate::id::SpaceId;

/// The gateway asks the reader for the parts of a question (CompassMem's planner).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanV1 {
    /// For traces only.
    pub space: SpaceId,
    /// The question, as asked.
    pub question: String,
}

/// What has to be found out, each on its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedV1 {
    /// One to five, each a question or a statement that can be checked; the whole question first.
    pub subgoals: Vec<String>,
    /// Names and keywords of the question that can wake units, in order of appearance (MRAgent's cues).
    pub cues: Vec<String>,
    /// Calls of a language model made.
    pub model_calls: u32,
}

impl Request for PlanV1 {
    const SUBJECT: &'static str = "plan.v1";
    type Reply = PlannedV1;
}
