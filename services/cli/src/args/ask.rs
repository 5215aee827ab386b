use clap::builder::PossibleValuesParser;
use domain::evidence::AnswerStyle;
use domain::id::SpaceId;
use gateway::api::Strategy;

use super::Remote;

/// Ask a space a question.
///
/// Prints the evidence with dates, probabilities and costs, a verdict whether the evidence is sufficient, the reason,
/// and a short answer. The exit code is 3 if the evidence is insufficient: Mnemic reports that and does not guess.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mnemic ask \"When did Ann move to Oslo?\" --space ann
  mnemic ask \"What does Ann play?\" --space ann --budget 256 --explain 5
  mnemic ask \"What does Ann play?\" --space ann --enough 0.9
  mnemic ask \"Where does Ann live?\" --space ann --as-of 2026-03-01 --actor Ann --actor Ben
  mnemic ask \"What do Ann and Ben both play?\" --space ann --strategy explore --explain 1
  mnemic ask \"What does Ann play?\" --space ann --json | jq -r .pack.text")]
pub(crate) struct Ask {
    /// The question.
    pub(crate) question: String,
    /// The space.
    #[arg(long, short)]
    pub(crate) space: SpaceId,
    /// Maximum number of tokens (o200k) of the evidence.
    #[arg(long, default_value_t = 512)]
    pub(crate) budget: u32,
    /// Expected share of the relevant evidence at which packing stops, above 0 and at most 1; 1 uses the whole budget.
    #[arg(long, value_name = "SHARE", default_value_t = 1.0)]
    pub(crate) enough: f32,
    /// Maximum time of the response, in milliseconds [default: 2,000, or 30,000 with `--model-calls`].
    #[arg(long, value_name = "MS")]
    pub(crate) time_ms: Option<u64>,
    /// Maximum number of calls to the server's language model; with one or more, it answers from the evidence.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=64))]
    pub(crate) model_calls: u8,
    /// Strategy that finds the evidence. With two or more --model-calls, each strategy except `route` lets a model
    /// search first; `auto` chooses a strategy for the question.
    #[arg(long, default_value = "route", value_parser = PossibleValuesParser::new(Strategy::ALL.map(Strategy::name)))]
    pub(crate) strategy: String,
    /// Form of the answer that a language model writes: a few words, also conclusions, or a few sentences; needs
    /// `--model-calls`.
    #[arg(long, default_value = "short", value_parser = PossibleValuesParser::new(AnswerStyle::ALL.map(AnswerStyle::name)))]
    pub(crate) style: String,
    /// Use only records observed at or before this moment; RFC 3339, or ISO 8601 in UTC.
    #[arg(long, value_name = "TIME")]
    pub(crate) as_of: Option<String>,
    /// Time of the question, to which relative times in it refer [default: the time of `--as-of`, else now].
    #[arg(long, value_name = "TIME")]
    pub(crate) asked_at: Option<String>,
    /// Use only records observed at this moment or later.
    #[arg(long, value_name = "TIME")]
    pub(crate) from: Option<String>,
    /// Use only records observed before this moment.
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
    /// Use only statements and actions of this person or agent; the case of letters is ignored; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub(crate) actor: Vec<String>,
    /// Use only this session, by name or id; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub(crate) session: Vec<String>,
    /// Use only records with this tag; if repeated, records with all of the tags.
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Vec<String>,
    /// Explain this many of the best candidates (scores, features, reason for the selection) and show the steps of the strategy.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=100))]
    pub(crate) explain: u8,
    /// Print the response of the server unchanged.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) remote: Remote,
}
