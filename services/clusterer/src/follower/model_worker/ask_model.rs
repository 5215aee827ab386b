//! Common parts of all calls to the language model: the budget, waiting while the model is unavailable, and storing
//! the reply.

use chrono::{DateTime, NaiveTime, Utc};
use domain::id::{ReadingId, SpaceId};
use domain::port::{Chat, ModelCost, ModelRole, Usage};
use domain::reading::Reading;
use host::clock;
use tracing::{debug, info};

use crate::Error;
use crate::follower::model_worker::coreference_worker::{AWAY, AskOutcome, CoreferenceWorker, ERASING, Model};

/// The result of a call.
pub(crate) enum Reply<T> {
    /// The reply of the model, or the reason why there is none, with the cost of the call.
    Content(Result<T, String>, ModelCost),
    /// No call was made or none succeeded; ask again at that moment.
    Later(DateTime<Utc>),
}

impl CoreferenceWorker {
    /// Calls the model within the budget of a space. `first` is the reading, or the first of the readings, that the
    /// reply goes to; `read` extracts from a reply the value to store. A question that waits after failed calls is not
    /// asked, and does not keep the other questions of its space waiting for longer than [`AWAY`].
    pub(crate) async fn ask_within_budget<T>(
        &self,
        model: &Model,
        space: &SpaceId,
        first: ReadingId,
        chat: &Chat,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<Reply<T>, Error> {
        if self.unstored.end_of_wait(first, clock::now()).is_some() {
            return Ok(Reply::Later(clock::now() + AWAY));
        }
        let Some(allow) = self.remaining_allowance(space).await? else {
            debug!(%space, "the budget of the day is spent, questions wait");
            return Ok(Reply::Later(start_of_next_day()));
        };
        let result = model.asker.ask_model(chat, allow, |it| read(&it.text)).await;
        let (spent, is_down) = (result.spent, self.is_model_down(model));
        Ok(match (result.outcome, result.failure) {
            (Ok(content), _) => Reply::Content(Ok(content), spent),
            (Err(why), Some(kind)) if !self.unstored.count_failed_call(first, kind, spent, is_down) => {
                debug!(why, %space, "the language model cannot be asked a question, which waits");
                self.unstored.add_failed(space, spent, is_down, clock::now());
                self.unstored.postpone_question(first, spent, is_down, clock::now());
                Reply::Later(clock::now() + AWAY)
            }
            (Err(_), None) if spent.calls == 0 => Reply::Later(start_of_next_day()),
            (Err(why), _) => {
                info!(why, %space, reading = %first, "the language model did not answer a question");
                Reply::Content(Err(why), spent)
            }
        })
    }

    /// Returns true if a call that failed just now says nothing about its question: the endpoint cannot be reached or
    /// refuses every call, or the service is stopping.
    pub(crate) fn is_model_down(&self, model: &Model) -> bool {
        let pause = model.asker.pause_before_background_calls(ModelRole::Write);
        pause.is_some() || self.context.shutdown.is_cancelled()
    }

    /// Stores the readings of one question, which share the cost `spent` of its call as [`split_cost`] divides it. If a
    /// record of one of them was erased in the meantime, its result is dropped and the question is asked again later. The
    /// shares of readings that are not stored count for the budget too. The cost that a reading takes over from its former
    /// one does not: the store counts it.
    pub(crate) async fn store_readings(
        &self,
        space: &SpaceId,
        readings: &[Reading],
        spent: ModelCost,
    ) -> Result<AskOutcome, Error> {
        let mut pending = self.unstored.open_pending(space);
        pending.add_cost(spent);
        let stored = self.context.backends.readings.put(space, readings).await?;
        pending.settle();
        if stored.len() < readings.len() {
            debug!(%space, "a record was erased while a model was asked about it; the reply is dropped");
            let shares = readings.iter().zip(split_cost(spent, readings.len()));
            let dropped = shares.filter(|(reading, _)| !stored.contains(&reading.id));
            dropped.for_each(|(_, share)| pending.add_cost(share));
            return Ok(AskOutcome::Later(clock::now() + ERASING));
        }
        if let Some(first) = readings.first() {
            self.unstored.forget_attempts(first.id);
        }
        readings.iter().for_each(|it| self.context.metrics.count_reading(it));
        Ok(AskOutcome::Done)
    }
}

/// Returns the start of the next day in UTC.
fn start_of_next_day() -> DateTime<Utc> {
    let today = clock::now().date_naive();
    let next = today.succ_opt().unwrap_or(today);
    next.and_time(NaiveTime::MIN).and_utc()
}

/// Divides the cost of a call among `count` pairs. The first share gets the remainder, so that the sum is unchanged.
pub(crate) fn split_cost(spent: ModelCost, count: usize) -> Vec<ModelCost> {
    let parts = u32::try_from(count).unwrap_or(u32::MAX).max(1);
    let Usage {
        prompt_tokens,
        completion_tokens,
    } = spent.usage;
    let share = |is_first: bool| {
        let tokens = |all: u32| all / parts + if is_first { all % parts } else { 0 };
        ModelCost {
            calls: if is_first { spent.calls } else { 0 },
            usage: Usage {
                prompt_tokens: tokens(prompt_tokens),
                completion_tokens: tokens(completion_tokens),
            },
            ms: if is_first { spent.ms } else { 0.0 },
        }
    };
    (0..count).map(|at| share(at == 0)).collect()
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};
    use std::sync::Arc;

    use fixtures::{ChatEndpoint, sample_reading, sample_record};
    use host::{Context, Settings};

    use super::*;
    use crate::follower::Follower;
    use crate::follower::model_worker::coreference_worker::ReadingConfig;

    /// Returns a context with a language model and a space.
    async fn context_with_model(dir: &Path, endpoint: &ChatEndpoint, space: &SpaceId) -> Context {
        let settings = Settings::from_toml(&endpoint.settings(), "the test").unwrap();
        let context = Context::embedded_with(dir, settings).await.unwrap();
        let records = &context.backends.records;
        records.create_space(space, DateTime::UNIX_EPOCH).await.unwrap();
        context
    }

    fn model_of(context: &Context) -> Model {
        Model::from_context(context, &ReadingConfig::default()).unwrap()
    }

    fn worker_of(context: &Context) -> CoreferenceWorker {
        let follower = Arc::new(Follower::new(context.backends.clone(), 1, 1 << 20, true));
        CoreferenceWorker::new(context, &follower, model_of(context), &ReadingConfig::default())
    }

    fn temporary_folder(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("mnemic-{name}-{}", std::process::id()))
    }

    #[tokio::test]
    async fn only_the_shares_of_a_call_whose_readings_are_not_stored_count_for_the_budget() {
        let endpoint = ChatEndpoint::scripted(&[], "401 Unauthorized");
        let (dir, space) = (temporary_folder("shares"), "home".parse().unwrap());
        let context = context_with_model(&dir, &endpoint, &space).await;
        let worker = worker_of(&context);
        let (known, erased) = (sample_record(&space, "known"), sample_record(&space, "erased"));
        let records = &context.backends.records;
        records.put(&space, std::slice::from_ref(&known)).await.unwrap();
        let cost = |calls: u32, prompt_tokens: u32| ModelCost {
            calls,
            usage: Usage {
                prompt_tokens,
                completion_tokens: 0,
            },
            ms: 0.0,
        };
        // Each of them includes the cost of a former reading.
        let [stored, dropped] = [&known, &erased].map(|it| Reading {
            spent: cost(7, 700),
            ..sample_reading(&space, it.id)
        });
        let not_stored = || worker.unstored.cost_of_today(&space, clock::now());
        let both: &[Reading] = &[stored.clone(), dropped];
        let store = async |readings: &[Reading]| worker.store_readings(&space, readings, cost(1, 100)).await;
        let first = store(std::slice::from_ref(&stored)).await;
        assert!(matches!(first, Ok(AskOutcome::Done)));
        assert_eq!(not_stored(), ModelCost::default());
        assert!(matches!(store(both).await, Ok(AskOutcome::Later(_))));
        assert_eq!(not_stored(), cost(0, 50), "half of the tokens");
        records.delete_space(&space).await.unwrap();
        assert!(store(both).await.is_err());
        assert_eq!(not_stored(), cost(1, 150));
        std::fs::remove_dir_all(&dir).ok();
    }

    #[tokio::test]
    async fn a_question_that_failed_while_the_model_is_down_is_not_asked_before_its_wait_ends() {
        let endpoint = ChatEndpoint::scripted(&["It is."], "401 Unauthorized");
        let (dir, space) = (temporary_folder("waits"), "home".parse().unwrap());
        let context = context_with_model(&dir, &endpoint, &space).await;
        let (worker, model) = (worker_of(&context), model_of(&context));
        let chat = Chat::new(ModelRole::Write, "Answer.", "Is it the same Ann?".to_owned());
        let is_answered = async |question: ReadingId| {
            let read = |it: &str| Some(it.to_owned());
            let reply = worker.ask_within_budget(&model, &space, question, &chat, read).await;
            matches!(reply.unwrap(), Reply::Content(Ok(_), _))
        };
        let [answered, failed] = ["Ann", "Ben"].map(|it| ReadingId::of_people(&space, it));
        assert!(is_answered(answered).await);
        assert!(!is_answered(failed).await);
        assert_eq!(endpoint.requests().len(), 2, "each was asked once");
        assert!(!is_answered(failed).await);
        assert_eq!(endpoint.requests().len(), 2, "the second one waits");
        worker.unstored.forget_attempts(failed);
        assert!(!is_answered(failed).await);
        assert_eq!(endpoint.requests().len(), 3, "it does not wait any more");
        std::fs::remove_dir_all(&dir).ok();
    }

    #[test]
    fn the_shares_of_a_call_add_up_to_it() {
        let spent = ModelCost {
            calls: 2,
            usage: Usage {
                prompt_tokens: 1_000,
                completion_tokens: 101,
            },
            ms: 12.5,
        };
        for count in 1..=3 {
            let shares = split_cost(spent, count);
            assert_eq!(shares.len(), count);
            let mut sum = ModelCost::default();
            shares.iter().for_each(|it| sum.add_cost(*it));
            assert_eq!(sum, spent, "{count}");
        }
    }
}
