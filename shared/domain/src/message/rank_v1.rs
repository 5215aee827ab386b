use chrono::{DateTime, FixedOffset};
use serde::{Deserialize, Serialize};

use super::Request;
use crate::evidence::RankedUnit;
use crate::id::{SpaceId, UnitId};
use crate::model_cost::ModelCost;
use crate::port::ModelAllowance;

/// The gateway asks the reader which candidates hold the answer to a question; a language model chooses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankV1 {
    /// For traces only.
    pub space: SpaceId,
    /// The question, as asked.
    pub question: String,
    /// Time at which the question is asked.
    pub asked_at: Option<DateTime<FixedOffset>>,
    /// The candidates, best first.
    pub candidates: Vec<RankedUnit>,
    /// Budget for calls of a language model.
    #[serde(flatten)]
    pub allow: ModelAllowance,
}

/// The model's choice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankedV1 {
    /// Units that the answer needs, the most important one first. Empty if there are none, or if the model could not be
    /// used.
    pub units: Vec<UnitId>,
    /// Cost of the calls of the model.
    #[serde(flatten)]
    pub spent: ModelCost,
    /// Why the model could not be used.
    pub degraded: Vec<String>,
}

impl Request for RankV1 {
    const SUBJECT: &'static str = "rank.v1";
    type Reply = RankedV1;
}
