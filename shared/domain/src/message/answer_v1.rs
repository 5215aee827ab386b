use serde::{Deserialize, Serialize};

use super::Request;
use crate::anchor::Anchors;
use crate::evidence::{Answer, AnswerStyle, EvidencePack, Scene, Verdict, WordWeight};
use crate::id::SpaceId;
use crate::model_cost::ModelCost;
use crate::port::ModelAllowance;
use crate::question::Question;

/// The gateway asks the reader to judge the evidence and to answer from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AnswerV1 {
    /// For traces only; the reader looks nothing up.
    pub space: SpaceId,
    /// The question, as asked.
    pub question: String,
    /// The anchors that the router read from the question.
    pub anchors: Anchors,
    /// How the router read the question. Absent if an older release sent the request; the reader then reads the
    /// question itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading: Option<Question>,
    /// Speakers of the space.
    pub speakers: Vec<String>,
    /// Weights of the stems of the bare question.
    pub words: Vec<WordWeight>,
    /// The evidence.
    pub pack: EvidencePack,
    /// Strong candidates with their surroundings.
    pub scenes: Vec<Scene>,
    /// How a language model words the answer. A reader of an older release knows only the default.
    #[serde(default, skip_serializing_if = "AnswerStyle::is_default")]
    pub style: AnswerStyle,
    /// Budget for calls of a language model.
    #[serde(flatten)]
    pub allow: ModelAllowance,
}

/// The reader's verdict and answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AnsweredV1 {
    /// Whether the evidence supports an answer.
    pub verdict: Verdict,
    /// The answer; absent if it is refused.
    pub answer: Option<Answer>,
    /// Cost of the calls of a language model.
    #[serde(flatten)]
    pub spent: ModelCost,
    /// Components that could not be used, with the reasons.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub degraded: Vec<String>,
}

impl AnsweredV1 {
    /// Makes a reply for which no language model was called and nothing was degraded.
    pub fn new(verdict: Verdict, answer: Option<Answer>) -> AnsweredV1 {
        AnsweredV1 {
            verdict,
            answer,
            spent: ModelCost::default(),
            degraded: Vec::new(),
        }
    }
}

impl Request for AnswerV1 {
    const SUBJECT: &'static str = "answer.v1";
    type Reply = AnsweredV1;
}
