//! The way of a request for an answer or a plan: read by rule, then by a language model if there is one and it may be asked;
//! and of a request to choose candidates or to decide what to look up, which only a language model can do.

use std::sync::Arc;

use domain::message::{AnswerV1, AnsweredV1, PlanV1, PlannedV1, RankV1, RankedV1, TurnV1, TurnedV1};
use domain::port::ModelCost;
use host::Asker;
use tokio::sync::{Semaphore, SemaphorePermit};
use tracing::{Instrument, info_span};

use crate::{Config, Error, Reader, check, model, plan};

/// Said where a question allows calls of a language model and there is none.
const NO_MODEL: &str = "no answer of a language model: none is set up ([language_model] url); answered without one";
const NONE: &str = "none is set up ([language_model] url)";
/// Said where as many questions as may wait for it do so.
const BUSY: &str = "no answer of the language model: too many questions wait for it; answered without it";
const WAITED_FOR: &str = "too many questions wait for it";

/// What answers.
pub(crate) struct Answering {
    config: Config,
    reader: Arc<Reader>,
    asker: Option<Asker>,
    /// Those who are read at once.
    reading: Semaphore,
    /// Those who wait for the language model at once.
    waiting: Semaphore,
}

impl Answering {
    pub(crate) fn new(ctx: &host::Context, config: Config) -> Result<Answering, Error> {
        let asker = Asker::new(ctx);
        let waiting = if asker.is_some() { config.model_in_flight_max } else { 0 };
        Ok(Answering {
            reader: Arc::new(Reader::new(&config)?),
            reading: Semaphore::new(config.in_flight_max.max(1)),
            waiting: Semaphore::new(waiting),
            asker,
            config,
        })
    }

    /// Returns how many may wait for a language model at once.
    pub(crate) fn waiting_max(&self) -> usize {
        self.waiting.available_permits()
    }

    /// Forgets the texts that were read.
    pub(crate) fn forget_texts(&self) {
        self.reader.forget_texts();
    }

    pub(crate) async fn answer(&self, mut request: AnswerV1) -> Result<AnsweredV1, Error> {
        check(&request.question, self.config.question_bytes_max)?;
        request.scenes.truncate(self.config.scenes_max);
        let request = Arc::new(request);
        let mut answered = self.read(&request).await?;
        if request.allow.calls == 0 || request.pack.items.is_empty() {
            return Ok(answered);
        }
        let degraded = match (&self.asker, self.waits()) {
            (None, _) => NO_MODEL,
            (Some(_), None) => BUSY,
            (Some(asker), Some(_permit)) => return Ok(model::answer(asker, &request, answered).await),
        };
        answered.degraded.push(degraded.to_owned());
        Ok(answered)
    }

    /// Returns which candidates a language model chooses.
    pub(crate) async fn rank(&self, request: RankV1) -> Result<RankedV1, Error> {
        check(&request.question, self.config.question_bytes_max)?;
        match self.model() {
            Ok((asker, _permit)) => Ok(model::rank(asker, &request).await),
            Err(why) => Ok(RankedV1 {
                units: Vec::new(),
                spent: ModelCost::default(),
                degraded: vec![why.to_owned()],
            }),
        }
    }

    /// Returns the parts of a question. By rule they take microseconds: they are found on the runtime.
    pub(crate) async fn plan(&self, request: PlanV1) -> Result<PlannedV1, Error> {
        check(&request.question, self.config.question_bytes_max)?;
        let mut planned = info_span!("plan", space = %request.space).in_scope(|| plan(&request));
        if request.allow.calls == 0 {
            return Ok(planned);
        }
        match self.model() {
            Ok((asker, _permit)) => planned = model::plan(asker, &request, planned).await,
            Err(why) => planned.degraded.push(why.to_owned()),
        }
        Ok(planned)
    }

    /// Returns what a language model looks up next, or ends with.
    pub(crate) async fn decide(&self, request: TurnV1) -> Result<TurnedV1, Error> {
        check(&request.question, self.config.question_bytes_max)?;
        match self.model() {
            Ok((asker, _permit)) => Ok(model::decide(asker, &request).await),
            Err(why) => Ok(TurnedV1 {
                degraded: vec![why.to_owned()],
                ..TurnedV1::default()
            }),
        }
    }

    /// Returns the language model with a place among those who wait for it, or why it cannot be asked.
    fn model(&self) -> Result<(&Asker, SemaphorePermit<'_>), &'static str> {
        let asker = self.asker.as_ref().ok_or(NONE)?;
        Ok((asker, self.waits().ok_or(WAITED_FOR)?))
    }

    fn waits(&self) -> Option<SemaphorePermit<'_>> {
        self.waiting.try_acquire().ok()
    }

    async fn read(&self, request: &Arc<AnswerV1>) -> Result<AnsweredV1, Error> {
        // Never closed, so it is only waited for.
        let _permit = self.reading.acquire().await.ok();
        let span = info_span!("read", space = %request.space, scenes = request.scenes.len());
        let work = {
            let (span, reader, request) = (span.clone(), Arc::clone(&self.reader), Arc::clone(request));
            move || span.in_scope(|| reader.read(&request))
        };
        let answered = tokio::task::spawn_blocking(work).instrument(span).await?;
        tracing::debug!(status = ?answered.verdict.status, answered = answered.answer.is_some(), "read");
        Ok(answered)
    }
}
