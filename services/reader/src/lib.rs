//! The reader judges whether evidence supports an answer, takes a short answer from it, and plans what a question asks for,
//! without a model. Where a language model is set up and a question allows calls of it, `model` has it plan and answer instead,
//! choose among candidates, and decide what to look up next.
//!
//! [`plan()`] splits a question into subgoals and cues. For answers start at [`Reader::read`]: pure, from [`AnswerV1`] to its reply. `question` has the reading of the router, `pool` cuts the turns
//! of the scenes into sentences and says how well each covers the question and whom it speaks of, `judge` decides whether
//! the evidence is the subject's own, `answer` extracts by kind of question, `stated` takes what a turn states outright.
//! What is weighed against each other is fitted:
//! [`weights`] of turns, candidates and times, and a check whether to refuse. It looks nothing up: what it may
//! use is in the request. `readings` keeps for some minutes what texts say whatever is asked, so that the next question need
//! not read them again; no answer depends on it.

mod amend;
mod answer;
mod answering;
pub mod certainty;
pub mod check;
mod checks;
pub mod choices;
mod error;
pub mod features;
mod implied;
mod judge;
mod lists;
mod measure;
mod model;
mod plan;
mod pool;
mod question;
mod rank;
mod read;
mod readings;
mod stated;
pub mod weights;
mod words;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use domain::message::{AnswerV1, PlanV1, RankV1, TurnV1};
use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use answering::Answering;

pub use error::Error;
pub use plan::plan;
pub use read::{Assessed, Reader, features};

/// How long what texts say is kept in memory at most.
const TEXTS_KEPT: Duration = Duration::from_mins(5);

/// Settings in `[reader]`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Questions read at once; each takes a few milliseconds of one core.
    pub in_flight_max: usize,
    /// Questions that a language model answers at once; each waits for it mostly.
    pub model_in_flight_max: usize,
    /// Scenes read of one request; the rest, the weakest, is left out.
    pub scenes_max: usize,
    /// Longest question in bytes.
    pub question_bytes_max: usize,
    /// File with the weights of the check whether to refuse, as `mnemic-train refusal` writes it; empty: those that are built
    /// in.
    pub refusal: PathBuf,
    /// Least probability, above 0 and at most 1, that a short answer made without a language model is right; one that is less
    /// certain is not given.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub precision: f32,
    /// File with the weights that say how certain an answer is, as `mnemic-train certainty` writes it; empty: those that are
    /// built in.
    pub certainty: PathBuf,
    /// File with the weights that choose an answer, as `mnemic-train answers` writes it; empty: those that are built in.
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
/// A section `[reader]` that is not understood, weights that do not fit this build, or a bus that stays away.
pub fn run(ctx: host::Context) -> BoxFuture<'static, anyhow::Result<()>> {
    // Boxed: an opaque future would be compiled by every crate that polls it.
    Box::pin(read_all(ctx))
}

async fn read_all(ctx: host::Context) -> anyhow::Result<()> {
    let config: Config = ctx.section("reader")?;
    let in_flight_max = config.in_flight_max;
    let answering = Arc::new(Answering::new(&ctx, config)?);
    // Who waits for a language model keeps nobody else from being read.
    let served_max = in_flight_max + answering.waiting_max();
    let (ranking, planning, deciding) = (Arc::clone(&answering), Arc::clone(&answering), Arc::clone(&answering));
    let forgetting = forget_texts(&ctx, Arc::clone(&answering));
    let answers = ctx.serve::<AnswerV1, Error, _, _>(served_max, move |request| {
        let answering = Arc::clone(&answering);
        async move { answering.answer(request).await }
    });
    let ranks = ctx.serve::<RankV1, Error, _, _>(served_max, move |request| {
        let ranking = Arc::clone(&ranking);
        async move { ranking.rank(request).await }
    });
    let plans = ctx.serve::<PlanV1, Error, _, _>(served_max, move |request| {
        let planning = Arc::clone(&planning);
        async move { planning.plan(request).await }
    });
    let turns = ctx.serve::<TurnV1, Error, _, _>(served_max, move |request| {
        let deciding = Arc::clone(&deciding);
        async move { deciding.decide(request).await }
    });
    tokio::try_join!(answers, ranks, plans, turns, forgetting)?;
    Ok(())
}

/// Forgets the texts that were read, again and again until shutdown: those that were erased leave memory with the others.
async fn forget_texts(ctx: &host::Context, answering: Arc<Answering>) -> anyhow::Result<()> {
    let mut interval = tokio::time::interval(TEXTS_KEPT);
    loop {
        tokio::select! {
            () = ctx.shutdown.cancelled() => return Ok(()),
            _ = interval.tick() => answering.forget_texts(),
        }
    }
}

fn check(question: &str, bytes_max: usize) -> Result<(), Error> {
    let bytes = question.len();
    if bytes > bytes_max {
        return Err(Error::QuestionTooLong { bytes });
    }
    Ok(())
}
