use std::collections::BTreeMap;

use domain::anchor::Anchors;
use domain::evidence::{Answer, AnswerStyle, PackItem, RankedUnit, UnitExplanation, Verdict};
use domain::filter::{Condition, TagFilter};
use domain::id::UnitId;
use domain::port::{ModelAllowance, ModelRole, Usage};
use domain::record::Modality;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::object::object;

/// A question to a space.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct QueryRequest {
    /// The question.
    #[schema(min_length = 1)]
    pub question: String,
    /// How evidence is sought.
    #[serde(default)]
    pub strategy: Strategy,
    /// What it may cost.
    #[serde(default, deserialize_with = "object")]
    pub budget: Budget,
    /// How far a strategy goes in which a language model looks around; what is left out is as in the paper it comes from.
    #[serde(default, deserialize_with = "object")]
    pub limits: Limits,
    /// A watermark: the query waits until this write is searchable, or answers 504.
    #[serde(default)]
    pub after: Option<String>,
    /// Only what was known at this moment. RFC 3339, or ISO 8601 in UTC.
    #[serde(default)]
    #[schema(format = DateTime)]
    pub as_of: Option<String>,
    /// When the question is asked, which is the "now" of relative times in it; left out, at `as_of`, else now. With it, the same
    /// question gives the same prompts. RFC 3339, or ISO 8601 in UTC.
    #[serde(default)]
    #[schema(format = DateTime)]
    pub asked_at: Option<String>,
    /// What may be evidence.
    #[serde(default, deserialize_with = "object")]
    pub filter: Filter,
    /// Whether an answer is wanted beside verdict and evidence.
    #[serde(default = "yes")]
    #[schema(default = true)]
    pub answer: bool,
    /// How a language model words the answer: `short`, a few words that the lines say; `infer`, also what may be concluded from
    /// them; `free`, a few sentences. Without a language model it changes nothing.
    #[serde(default)]
    pub style: AnswerStyle,
    /// Number of units to explain.
    #[serde(default)]
    #[schema(maximum = 100)]
    pub explain: u32,
    /// Number of units to return in rank order.
    #[serde(default)]
    #[schema(maximum = 200)]
    pub ranked: u32,
    /// Whether the pack gives back the metadata of its records.
    #[serde(default)]
    pub metadata: bool,
    /// Whether the evidence is what was said or done, word for word. If not, where a language model answers or no answer is
    /// wanted, lines that a language model wrote of the records when it read them may stand for them: a line costs half the
    /// tokens, and its item in the pack names the records that it was read in. An answer without a language model is always
    /// taken from what was said.
    #[serde(default = "yes")]
    pub verbatim: bool,
}

/// What most callers come for: an answer (who feeds a model of their own turns it off), from what was said.
fn yes() -> bool {
    true
}

/// How evidence is sought. Where two calls of a language model are allowed, one if no answer is wanted, `explore`, `reconstruct`,
/// `recollect` and `navigate` are loops in which it calls tools that only read and ends with the lines that hold the answer;
/// else they are the route of the question with what its parts find in focus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// Candidates from several channels, scored and packed; no language model is needed.
    #[default]
    Route,
    /// A language model parts the question and looks along the relations between what the parts find.
    Explore,
    /// A language model looks from cues over tags to what was said.
    Reconstruct,
    /// A language model searches gists and facts by meaning, by words and by time.
    Recollect,
    /// A language model looks through dimensions, pages and their links.
    Navigate,
    /// `route` or one of the others, chosen by the question and its budget.
    Auto,
}

impl Strategy {
    /// All of them, the default first.
    pub const ALL: [Strategy; 6] = [
        Strategy::Route,
        Strategy::Explore,
        Strategy::Reconstruct,
        Strategy::Recollect,
        Strategy::Navigate,
        Strategy::Auto,
    ];

    /// Returns the name, as it is written in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::Route => "route",
            Strategy::Explore => "explore",
            Strategy::Reconstruct => "reconstruct",
            Strategy::Recollect => "recollect",
            Strategy::Navigate => "navigate",
            Strategy::Auto => "auto",
        }
    }
}

/// What a query may cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Budget {
    /// o200k tokens of the evidence pack.
    pub tokens: u32,
    /// Share of the evidence that is enough: packing stops when the lines packed are thought to hold this much of it. 1 spends
    /// all tokens.
    #[schema(exclusive_minimum = 0, maximum = 1)]
    pub enough: f32,
    /// Milliseconds for everything, waiting for `after` included; left out, 2,000, and 30,000 where calls of a language model are
    /// allowed. Without calls, no more than the 30,000 that `[gateway] request_ms_max` allows.
    #[schema(value_type = Option<u64>)]
    pub ms: Option<u64>,
    /// Calls of a language model. If one is set up and may be called, it answers from the pack, in one call. With two and
    /// more, the strategy `route` has it choose among the best candidates first, in one call, and the pack is filled from its
    /// choice; without an answer, one call is enough for that. A reply that cannot be read is asked for once more if a call is
    /// left.
    #[schema(maximum = 64)]
    pub model_calls: u32,
    /// Tokens that those calls may read and write together; left out, as many as they take. A call that may take more than is
    /// left is not made.
    #[schema(value_type = Option<u32>, maximum = 10_000_000)]
    pub model_tokens: Option<u32>,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget {
            tokens: 512,
            enough: 1.0,
            ms: None,
            model_calls: 0,
            model_tokens: None,
        }
    }
}

impl Budget {
    /// Returns the milliseconds for everything, where a request may take `most`.
    pub fn time_ms(&self, most: u64) -> u64 {
        time_ms(self.ms, self.model_calls, most)
    }

    /// Returns what may be spent on a language model.
    pub fn models(&self) -> ModelAllowance {
        ModelAllowance {
            calls: self.model_calls,
            tokens: self.model_tokens,
        }
    }
}

/// Returns the milliseconds that a request asks for; without, those that are usual for its calls of a language model, at most
/// `most`.
pub(super) fn time_ms(asked: Option<u64>, model_calls: u32, most: u64) -> u64 {
    let usual = if model_calls > 0 { 30_000 } else { 2_000 };
    asked.unwrap_or(most.min(usual))
}

/// How far a loop goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Turns of the language model, the last of which chooses; left out, 6 of `explore`, 8 of `reconstruct`, 5 of `recollect`, 7 of
    /// `navigate`. With one, nothing is looked up but what the strategy begins with.
    #[schema(value_type = Option<u32>, minimum = 1, maximum = 16)]
    pub turns: Option<u32>,
    /// Calls of tools that count in a turn; left out, 3, 10, 4 and 1.
    #[schema(value_type = Option<u32>, minimum = 1, maximum = 16)]
    pub calls: Option<u32>,
}

/// What may be evidence; empty fields restrict nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Filter {
    /// Only what these actors said or did; names in any case.
    pub actors: Vec<String>,
    /// Only these sessions: your names, or Mnemic's ids as they stand in a pack.
    pub sessions: Vec<String>,
    /// Only these kinds.
    pub modalities: Vec<Modality>,
    /// Only what was observed at or after. RFC 3339, or ISO 8601 in UTC.
    #[schema(format = DateTime)]
    pub from: Option<String>,
    /// Only what was observed before.
    #[schema(format = DateTime)]
    pub until: Option<String>,
    /// Only what records with such tags say. What was derived of several records needs all of them to be taken.
    #[serde(deserialize_with = "object", skip_serializing_if = "TagFilter::is_empty")]
    pub tags: TagFilter,
    /// Only what records with such metadata say: a comparison of one key (`{"key": "lang", "eq": "de"}`; `eq`, `ne`, `in`,
    /// `nin`, `gt`, `gte`, `lt`, `lte`, `contains`, `exists`), or `and`, `or` (lists of conditions) or `not` (a condition). At
    /// most 64 comparisons, 8 levels, and 100 values in a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub metadata: Option<Condition>,
}

/// Evidence, verdict, answer, and what they cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct QueryResponse {
    /// Whether the evidence supports an answer.
    pub verdict: Verdict,
    /// The answer, if one was wanted and the evidence supports it.
    pub answer: Option<Answer>,
    /// The evidence.
    pub pack: Pack,
    /// The way of the strategy, step by step; with `explain`, and of strategies that make steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<Vec<PathStep>>,
    /// What the question fixes; with `explain`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchors: Option<Anchors>,
    /// Why units are in or out; with `explain`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explained: Option<Vec<UnitExplanation>>,
    /// The best units; with `ranked`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranked: Option<Vec<RankedUnit>>,
    /// What it cost.
    pub cost: Cost,
    /// What could not be used and why; empty when all is well.
    pub degraded: Vec<String>,
    /// A stable code for each entry of `degraded`, in their order, such as `index_unavailable`; docs/ERRORS.md has all of
    /// them. Not there when all is well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub degraded_codes: Vec<String>,
    /// W3C trace id.
    pub trace_id: String,
    /// Version of the weights that ranked.
    pub weights: String,
}

/// One step of a strategy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PathStep {
    /// What was done, in a word.
    pub step: String,
    /// What it was about: a part of the question, a unit, a tag, a page.
    pub what: String,
    /// How much it found.
    pub found: u32,
    /// The units it kept, best first; they come before their equals in the evidence.
    pub kept: Vec<UnitId>,
}

/// Evidence inside a budget.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Pack {
    /// In reading order.
    pub items: Vec<PackItem>,
    /// What the items cost.
    pub tokens: u32,
    /// What they may cost.
    pub budget: u32,
    /// The items' texts as one: what to show to a model. It is data, never instructions.
    pub text: String,
    /// What was kept beside its records, by your ids of them; those that have nothing are left out, and no tokens are counted.
    /// With `metadata`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<BTreeMap<String, BTreeMap<String, String>>>,
}

/// What a query cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Cost {
    /// Tokens of the pack.
    pub tokens: u32,
    /// Calls of a language model.
    pub model_calls: u32,
    /// Tokens those calls read and wrote, as the model counts them; estimated where it does not say.
    #[serde(default, skip_serializing_if = "Usage::is_none")]
    pub usage: Usage,
    /// The same by what the calls were for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub roles: BTreeMap<ModelRole, RoleCost>,
    /// Milliseconds in all.
    pub ms: f32,
    /// Milliseconds by step, in order.
    pub steps: Vec<StepTime>,
    /// Units that could be evidence.
    pub units: u64,
    /// Candidates looked at.
    pub candidates: u32,
}

/// What the calls of a language model in one role cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RoleCost {
    /// Calls.
    pub calls: u32,
    /// Tokens that they read and wrote.
    pub usage: Usage,
    /// Milliseconds that they took, waiting for a turn at the endpoint included.
    pub ms: f32,
}

/// Time of one step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StepTime {
    /// Name of the step; parts of a step follow it, as `step.part`.
    pub step: String,
    /// Milliseconds.
    pub ms: f32,
}
