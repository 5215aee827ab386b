//! The reader judges whether evidence supports an answer, extracts a short answer, and plans a question in parts, all
//! without a model. If a language model is configured and a question allows calls, `model` lets it plan and answer
//! instead, choose among candidates, and decide the next lookup.
//!
//! [`plan_question`] splits a question into subgoals and cues. For answers, start at [`Reader::answer_request`], a pure function from
//! [`AnswerV1`] to its reply:
//!
//! - `evidence` holds the router's reading of the question, cuts the turns of the scenes into sentences, and measures
//!   how well each sentence covers the question and whom it is about.
//! - [`check`] decides whether the evidence is about the subject, and whether it supports an answer.
//! - [`answer`] extracts an answer by kind of question, and finds facts that a turn states outright.
//! - `model` has the prompts and replies of a language model.
//! - `service` joins these steps and serves requests.
//!
//! The [`weights`] of turns, candidates and times and the check whether to refuse are fitted. The reader looks nothing
//! up: it uses only the contents of the request. `evidence::text_readings` caches for some minutes the parts of reading
//! a text that do not depend on the question. No answer depends on that cache.

pub mod answer;
pub mod check;
mod error;
mod evidence;
mod feature_weights;
mod model;
mod plan;
mod service;
pub mod weights;
mod word_lists;

use std::path::PathBuf;
use std::time::Duration;

use domain::message::{AnswerV1, PlanV1, RankV1, TurnV1};
use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use service::request_handler::Answering;

pub use error::Error;
pub use plan::plan_question;
pub use service::evidence_reader::{Assessed, Reader, evidence_features_of_request};

/// Interval at which the cache of read texts is cleared, so that no text is kept longer.
const TEXTS_KEPT: Duration = Duration::from_mins(5);

/// Settings in `[reader]`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Largest number of questions that are read at the same time; each takes a few milliseconds of one core.
    pub in_flight_max: usize,
    /// Largest number of questions that a language model answers at the same time; each mostly waits for the model.
    pub model_in_flight_max: usize,
    /// Largest number of scenes that are read for one request; the weakest scenes beyond it are left out.
    pub scenes_max: usize,
    /// Largest length of a question in bytes.
    pub question_bytes_max: usize,
    /// File with the weights of the check whether to refuse, as `mnemic-train refusal` writes it; empty: the built-in
    /// weights.
    pub refusal: PathBuf,
    /// Minimum probability, above 0 and at most 1, that a short answer made without a language model is right. A less
    /// certain answer is not given.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub precision: f32,
    /// File with the weights that estimate how certain an answer is, as `mnemic-train certainty` writes it; empty: the
    /// built-in weights.
    pub certainty: PathBuf,
    /// File with the weights that choose an answer, as `mnemic-train answers` writes it; empty: the built-in weights.
    pub answers: PathBuf,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            in_flight_max: 8,
            model_in_flight_max: 32,
            scenes_max: 64,
            question_bytes_max: 16 * 1024,
            refusal: PathBuf::new(),
            precision: 0.85,
            certainty: PathBuf::new(),
            answers: PathBuf::new(),
        }
    }
}

/// Serves [`AnswerV1`], [`RankV1`], [`PlanV1`] and [`TurnV1`] until shutdown.
///
/// # Errors
/// If the section `[reader]` is invalid, if weights do not fit this build, or if the bus stays unavailable.
pub fn run(ctx: host::Context) -> BoxFuture<'static, anyhow::Result<()>> {
    // Boxed: every crate that polls an opaque future would compile it again.
    Box::pin(read_all(ctx))
}

async fn read_all(ctx: host::Context) -> anyhow::Result<()> {
    let config: Config = ctx.read_section("reader")?;
    let in_flight_max = config.in_flight_max;
    let answering = Answering::new(&ctx, config)?;
    // Requests that wait for a language model leave places for the others.
    let served_max = in_flight_max + answering.waiting_max();
    let answers = ctx.serve_requests::<AnswerV1, Error, _, _>(served_max, |request| answering.answer_question(request));
    let ranks = ctx.serve_requests::<RankV1, Error, _, _>(served_max, |request| answering.rank_candidates(request));
    let plans = ctx.serve_requests::<PlanV1, Error, _, _>(served_max, |request| answering.plan_question(request));
    let turns = ctx.serve_requests::<TurnV1, Error, _, _>(served_max, |request| answering.decide_lookup(request));
    tokio::try_join!(answers, ranks, plans, turns, forget_texts(&ctx, &answering))?;
    Ok(())
}

/// Clears the cache of read texts at intervals until shutdown. So erased texts leave memory together with the others.
async fn forget_texts(ctx: &host::Context, answering: &Answering) -> anyhow::Result<()> {
    let mut interval = tokio::time::interval(TEXTS_KEPT);
    loop {
        tokio::select! {
            () = ctx.shutdown.cancelled() => return Ok(()),
            _ = interval.tick() => answering.forget_texts(),
        }
    }
}

fn check_question_length(question: &str, bytes_max: usize) -> Result<(), Error> {
    let bytes = question.len();
    if bytes > bytes_max {
        return Err(Error::QuestionTooLong { bytes });
    }
    Ok(())
}
