use chrono::{DateTime, FixedOffset};
use serde::{Deserialize, Serialize};

use super::Request;
use crate::id::SpaceId;
use crate::model_cost::ModelCost;
use crate::port::ModelAllowance;

/// The gateway asks the reader for the parts of a question (CompassMem's planner).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanV1 {
    /// For traces only.
    pub space: SpaceId,
    /// The question, as asked.
    pub question: String,
    /// Time at which the question is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_at: Option<DateTime<FixedOffset>>,
    /// Budget for calls of a language model. Without calls, the parts are found by rule.
    #[serde(flatten)]
    pub allow: ModelAllowance,
}

/// The parts of a question, each of which can be answered on its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedV1 {
    /// One to five questions or checkable statements; the whole question first.
    pub subgoals: Vec<String>,
    /// Names and keywords of the question that can activate units, in order of appearance (MRAgent's cues).
    pub cues: Vec<String>,
    /// Cost of the calls of a language model.
    #[serde(flatten)]
    pub spent: ModelCost,
    /// Why no language model made the plan, although one was allowed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub degraded: Vec<String>,
}

impl Request for PlanV1 {
    const SUBJECT: &'static str = "plan.v1";
    type Reply = PlannedV1;
}
