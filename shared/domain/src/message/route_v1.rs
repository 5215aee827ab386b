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
    /// Only units of these actors; case-insensitive.
    pub actors: Vec<String>,
    /// Only units of these sessions, by the callers' names or by Mnemic's ids.
    pub sessions: Vec<String>,
    /// Only units of these modalities.
    pub modalities: Vec<Modality>,
    /// Only units observed at or after this time.
    pub from: Option<DateTime<FixedOffset>>,
    /// Only units observed before this time.
    pub until: Option<DateTime<FixedOffset>>,
    /// Only units of records with these tags and this metadata. A unit of several records passes only if all of its
    /// records do.
    #[serde(skip_serializing_if = "Filter::is_empty")]
    pub labels: Filter,
}

impl QueryFilter {
    /// Returns true if the filter restricts nothing.
    pub fn is_empty(&self) -> bool {
        *self == QueryFilter::default()
    }
}

/// The gateway asks the router for evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RouteV1 {
    /// The space to search.
    pub space: SpaceId,
    /// The question, as asked.
    pub question: String,
    /// Token budget of the pack, in o200k tokens.
    pub tokens: u32,
    /// Only units observed at or before this time.
    pub as_of: Option<DateTime<FixedOffset>>,
    /// The time at which the question is asked: the "now" of relative times in it. If absent, `as_of` is used,
    /// otherwise `clock`, otherwise the time of the latest record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_at: Option<DateTime<FixedOffset>>,
    /// The current time. It is read in the time zone of the latest record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<DateTime<Utc>>,
    /// Restricts the evidence.
    pub filter: QueryFilter,
    /// Number of units to explain, 0 for none.
    pub explain: u32,
    /// Number of ranked units to return, 0 for none.
    pub ranked: u32,
    /// Number of scenes to return for the reader, 0 for none.
    pub scenes: u32,
    /// Units that a strategy gathered, best first. They are candidates even if no channel proposes them, and they come
    /// before equals. If gists are not used, the turns of a gist take its place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub focus: Vec<UnitId>,
    /// Units that were chosen because they hold the answer, the most important one first. They are packed before all
    /// others. If gists are not used, the turns of a gist take its place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub selected: Vec<UnitId>,
    /// Whether standing instructions are packed too, whatever the question is. A language model has to follow them in
    /// its answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub instructions: bool,
    /// Whether lines written by a language model (gists) may replace the turns that they were read from, where that
    /// saves tokens. Otherwise the pack consists of turns only, as an answer that quotes word for word needs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gists: bool,
    /// Whether every stored write has to be read first, however long that takes. Otherwise a router that needs long to
    /// read the latest writes may answer without them, and says so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub current: bool,
    /// Share of the evidence that is enough, 0 to 1. Packing stops when the packed units hold this share of the total
    /// probability.
    #[serde(default = "default_enough", skip_serializing_if = "is_default_enough")]
    pub enough: f32,
}

impl RouteV1 {
    /// Makes a request for a pack of at most `tokens` tokens, with all other fields at their defaults.
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
            current: false,
            enough: default_enough(),
        }
    }
}

/// Returns the default of `enough`: packing stops only when the tokens are spent.
fn default_enough() -> f32 {
    1.0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn is_default_enough(enough: &f32) -> bool {
    *enough >= default_enough()
}

/// The router's result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoutedV1 {
    /// The constraints that the question sets.
    pub anchors: Anchors,
    /// The reading of the question. Absent from a router of an older release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading: Option<Question>,
    /// The evidence.
    pub pack: EvidencePack,
    /// Speakers of the space, most talkative first, ties by name; at most 32.
    pub speakers: Vec<String>,
    /// Weights of the stems of the bare question, in order of appearance.
    pub words: Vec<WordWeight>,
    /// Strong candidates with their surroundings, best first. The candidates are always turns.
    pub scenes: Vec<Scene>,
    /// The best units, best first. If gists are used, turns and gists share one list: a turn that comes after a gist
    /// read from it is left out, and so is a gist that comes after all of its turns.
    pub ranked: Vec<RankedUnit>,
    /// Why units are in the pack or not, by rank.
    pub explained: Vec<UnitExplanation>,
    /// Number of units in the space that may be evidence. Includes gists if they are used.
    pub units: u64,
    /// Number of candidates proposed.
    pub candidates: u32,
    /// Version of the weights.
    pub weights: String,
    /// Duration of each step, in milliseconds.
    pub steps: Vec<(String, f32)>,
    /// Components that could not be used, with the reasons; empty if nothing failed.
    pub degraded: Vec<String>,
    /// The codes of the entries of `degraded`, in their order; an entry beyond their end has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub degraded_codes: Vec<DegradedCode>,
}

impl Request for RouteV1 {
    const SUBJECT: &'static str = "route.v1";
    type Reply = RoutedV1;
}
