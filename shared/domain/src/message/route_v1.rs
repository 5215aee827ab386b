use chrono::{DateTime, FixedOffset, Utc};
use serde::{Deserialize, Serialize};

use super::Request;
use crate::anchor::Anchors;
use crate::code::DegradedCode;
use crate::evidence::{EvidencePack, RankedUnit, Scene, UnitExplanation, WordWeight};
use crate::filter::Filter;
use crate::id::{SpaceId, UnitId};
use crate::question::Question;
use crate::record::Modality;

/// Restricts which units may be evidence. Empty fields restrict nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct QueryFilter {
    /// Only units of these actors, in any case.
    pub actors: Vec<String>,
    /// Only units of these sessions, by the callers' names or Mnemic's ids.
    pub sessions: Vec<String>,
    /// Only units of these modalities.
    pub modalities: Vec<Modality>,
    /// Only units observed at or after.
    pub from: Option<DateTime<FixedOffset>>,
    /// Only units observed before.
    pub until: Option<DateTime<FixedOffset>>,
    /// Only units of records with these tags and this metadata. A unit of several records needs all of them to have it.
    #[serde(skip_serializing_if = "Filter::is_empty")]
    pub labels: Filter,
}

/// The gateway asks the router for evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RouteV1 {
    /// Where to look.
    pub space: SpaceId,
    /// The question, as asked.
    pub question: String,
    /// o200k tokens the pack may cost.
    pub tokens: u32,
    /// Only what was observed until then, that moment included.
    pub as_of: Option<DateTime<FixedOffset>>,
    /// When the question is asked: the "now" of relative times in it. Left out: at `as_of`, else at `clock`, else when the
    /// latest record was observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_at: Option<DateTime<FixedOffset>>,
    /// The time of day. It counts in the zone of the latest record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<DateTime<Utc>>,
    /// What may be evidence.
    pub filter: QueryFilter,
    /// Number of units to explain, 0 for none.
    pub explain: u32,
    /// Number of ranked units to return, 0 for none.
    pub ranked: u32,
    /// Number of scenes to return for the reader, 0 for none.
    pub scenes: u32,
    /// Units that a strategy gathered on its way, best first: candidates whatever the channels propose, before their equals. A
    /// gist stands for its turns where gists are not used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub focus: Vec<UnitId>,
    /// Units that were chosen to hold the answer, the one needed most first: they are packed before all others. A gist stands for
    /// its turns where gists are not used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub selected: Vec<UnitId>,
    /// Whether standing instructions are packed too, whatever is asked: a language model is to follow them in its answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub instructions: bool,
    /// Whether lines that a language model wrote (gists) may stand for the turns that they were read in, for their price. Without
    /// it the pack has turns alone, which is what an answer has to be taken from word for word.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gists: bool,
    /// Share of the evidence that is enough, 0 to 1: packing stops when the units packed hold this much of the probability.
    #[serde(default = "all", skip_serializing_if = "is_all")]
    pub enough: f32,
}

impl RouteV1 {
    /// Makes a request for a pack of so many tokens, and nothing else.
    pub fn new(space: SpaceId, question: String, tokens: u32) -> RouteV1 {
        RouteV1 {
            space,
            question,
            tokens,
            as_of: None,
            asked_at: None,
            clock: None,
            filter: QueryFilter::default(),
            explain: 0,
            ranked: 0,
            scenes: 0,
            focus: Vec::new(),
            selected: Vec::new(),
            instructions: false,
            gists: false,
            enough: all(),
        }
    }
}

/// Nothing is enough before the tokens are spent.
fn all() -> f32 {
    1.0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn is_all(enough: &f32) -> bool {
    *enough >= all()
}

/// What the router found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoutedV1 {
    /// What the question fixes.
    pub anchors: Anchors,
    /// How the question is read; none from a router of an older release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading: Option<Question>,
    /// The evidence.
    pub pack: EvidencePack,
    /// Speakers of the space, most talkative first, ties by name; at most 32.
    pub speakers: Vec<String>,
    /// Weights of the stems of the bare question, in order of appearance.
    pub words: Vec<WordWeight>,
    /// Strong candidates with surroundings, best first; turns always.
    pub scenes: Vec<Scene>,
    /// Best units, best first. Where gists are used, the best of both: neither a turn behind a gist that was read in it, nor a
    /// gist behind all of its turns.
    pub ranked: Vec<RankedUnit>,
    /// Why units are in or out, by rank.
    pub explained: Vec<UnitExplanation>,
    /// Number of units in the space that may be evidence, gists too where they are used.
    pub units: u64,
    /// Number of candidates proposed.
    pub candidates: u32,
    /// Version of the weights.
    pub weights: String,
    /// Milliseconds by step.
    pub steps: Vec<(String, f32)>,
    /// What could not be used, and why; empty when all is well.
    pub degraded: Vec<String>,
    /// The codes of the entries of `degraded`, in their order; an entry beyond their end has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub degraded_codes: Vec<DegradedCode>,
}

impl Request for RouteV1 {
    const SUBJECT: &'static str = "route.v1";
    type Reply = RoutedV1;
}
