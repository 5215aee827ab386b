//! Serves requests. Answers and plans are made by rule first, and then by a language model if one is configured and the
//! request allows calls. Only a language model can choose among candidates or decide the next lookup.

use std::sync::Arc;

use domain::message::{AnswerV1, AnsweredV1, PlanV1, PlannedV1, RankV1, RankedV1, TurnV1, TurnedV1};
use domain::port::ModelCost;
use host::Asker;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};
use tokio::task::JoinError;
use tracing::{Instrument, info_span};

use crate::{Config, Error, Reader, check_question_length, model, plan_question};

/// Reported if a question allows calls of a language model and none is configured.
const NO_MODEL: &str = "no answer of a language model: none is set up ([language_model] url); answered without one";
const NONE: &str = "none is set up ([language_model] url)";
/// Reported if the largest number of questions already waits for the language model.
const BUSY: &str = "no answer of the language model: too many questions wait for it; answered without it";
const WAITED_FOR: &str = "too many questions wait for it";

/// Handles the requests of the service.
pub(crate) struct Answering {
    config: Config,
    reader: Arc<Reader>,
    asker: Option<Asker>,
    /// Permits for questions that are read at the same time.
    reading: Arc<Semaphore>,
    /// Permits for questions that wait for the language model at the same time.
    waiting: Semaphore,
}

impl Answering {
    pub(crate) fn new(ctx: &host::Context, config: Config) -> Result<Answering, Error> {
        let asker = Asker::new(ctx);
        let waiting = if asker.is_some() { config.model_in_flight_max } else { 0 };
        Ok(Answering {
            reader: Arc::new(Reader::new(&config)?),
            reading: Arc::new(Semaphore::new(config.in_flight_max.max(1))),
            waiting: Semaphore::new(waiting),
            asker,
            config,
        })
    }

    /// Returns the number of free places for waiting for a language model; called before the first request, this is
    /// their total.
    pub(crate) fn waiting_max(&self) -> usize {
        self.waiting.available_permits()
    }

    /// Removes cached texts.
    pub(crate) fn forget_texts(&self) {
        self.reader.forget_texts();
    }

    pub(crate) async fn answer_question(&self, mut request: AnswerV1) -> Result<AnsweredV1, Error> {
        check_question_length(&request.question, self.config.question_bytes_max)?;
        request.scenes.truncate(self.config.scenes_max);
        let request = Arc::new(request);
        let mut answered = self.read_evidence(&request).await?;
        if request.allow.calls == 0 || request.pack.items.is_empty() {
            return Ok(answered);
        }
        let degraded = match (&self.asker, self.acquire_waiting_permit()) {
            (None, _) => NO_MODEL,
            (Some(_), None) => BUSY,
            (Some(asker), Some(_permit)) => return Ok(model::answer_with_model(asker, &request, answered).await),
        };
        answered.degraded.push(degraded.to_owned());
        Ok(answered)
    }

    /// Returns the candidates that a language model chooses; no units and a reason if it cannot be called.
    pub(crate) async fn rank_candidates(&self, request: RankV1) -> Result<RankedV1, Error> {
        check_question_length(&request.question, self.config.question_bytes_max)?;
        match self.acquire_model() {
            Ok((asker, _permit)) => Ok(model::rank_candidates(asker, &request).await),
            Err(why) => Ok(RankedV1 {
                units: Vec::new(),
                spent: ModelCost::default(),
                degraded: vec![why.to_owned()],
            }),
        }
    }

    /// Returns the parts of a question. The rules take microseconds, so they run on the async runtime.
    pub(crate) async fn plan_question(&self, request: PlanV1) -> Result<PlannedV1, Error> {
        check_question_length(&request.question, self.config.question_bytes_max)?;
        let mut planned = info_span!("plan", space = %request.space).in_scope(|| plan_question(&request));
        if request.allow.calls == 0 {
            return Ok(planned);
        }
        match self.acquire_model() {
            Ok((asker, _permit)) => planned = model::plan_question(asker, &request, planned).await,
            Err(why) => planned.degraded.push(why.to_owned()),
        }
        Ok(planned)
    }

    /// Returns the next calls of a language model, or the lines with which it ends.
    pub(crate) async fn decide_lookup(&self, request: TurnV1) -> Result<TurnedV1, Error> {
        check_question_length(&request.question, self.config.question_bytes_max)?;
        match self.acquire_model() {
            Ok((asker, _permit)) => Ok(model::decide_lookup(asker, &request).await),
            Err(why) => Ok(TurnedV1 {
                degraded: vec![why.to_owned()],
                ..TurnedV1::default()
            }),
        }
    }

    /// Returns the language model and a waiting place, or the reason why it cannot be called.
    fn acquire_model(&self) -> Result<(&Asker, SemaphorePermit<'_>), &'static str> {
        let asker = self.asker.as_ref().ok_or(NONE)?;
        Ok((asker, self.acquire_waiting_permit().ok_or(WAITED_FOR)?))
    }

    fn acquire_waiting_permit(&self) -> Option<SemaphorePermit<'_>> {
        self.waiting.try_acquire().ok()
    }

    async fn read_evidence(&self, request: &Arc<AnswerV1>) -> Result<AnsweredV1, Error> {
        // The semaphore is never closed, so waiting for a permit cannot fail.
        let permit = Arc::clone(&self.reading).acquire_owned().await.ok();
        let span = info_span!("read", space = %request.space, scenes = request.scenes.len());
        let work = {
            let (span, reader, request) = (span.clone(), Arc::clone(&self.reader), Arc::clone(request));
            move || span.in_scope(|| reader.answer_request(&request))
        };
        let answered = run_with_permit(permit, work).instrument(span).await?;
        tracing::debug!(status = ?answered.verdict.status, answered = answered.answer.is_some(), "read");
        Ok(answered)
    }
}

/// Runs work on a thread for blocking work and returns its result. The permit is released when the work ends, and not
/// when the caller stops waiting: a caller that is cancelled does not stop the thread.
async fn run_with_permit<T: Send + 'static>(
    permit: Option<OwnedSemaphorePermit>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, JoinError> {
    let work = move || {
        let _permit = permit;
        work()
    };
    tokio::task::spawn_blocking(work).await
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use tokio::sync::oneshot;
    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn a_cancelled_caller_leaves_the_permit_to_the_running_work() {
        let permits = Arc::new(Semaphore::new(1));
        let permit = Arc::clone(&permits).acquire_owned().await.ok();
        let (begin, begun) = oneshot::channel();
        let (end, ended) = mpsc::channel::<()>();
        let caller = tokio::spawn(run_with_permit(permit, move || {
            let _ = begin.send(());
            let _ = ended.recv();
        }));
        begun.await.unwrap();
        caller.abort();
        assert!(caller.await.unwrap_err().is_cancelled());
        assert_eq!(permits.available_permits(), 0, "the work still runs");
        end.send(()).unwrap();
        let released = timeout(Duration::from_secs(60), permits.acquire()).await;
        assert!(released.is_ok_and(|it| it.is_ok()), "the work has ended");
    }
}
