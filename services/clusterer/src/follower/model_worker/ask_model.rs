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
    /// reply goes to; `read` extracts from a reply the value to store.
    pub(crate) async fn ask_within_budget<T>(
        &self,
        model: &Model,
        space: &SpaceId,
        first: ReadingId,
        chat: &Chat,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<Reply<T>, Error> {
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

    /// Stores the readings of one question. If a record of one of them was erased in the meantime, its result is dropped
    /// and the question is asked again later. The cost of readings that are not stored counts for the budget too.
    pub(crate) async fn store_readings(&self, space: &SpaceId, readings: &[Reading]) -> Result<AskOutcome, Error> {
        let stored = self.context.backends.readings.put(space, readings).await;
        let count_cost = |it: &Reading| self.unstored.add_cost(space, it.spent, clock::now());
        let stored = stored.inspect_err(|_| readings.iter().for_each(count_cost))?;
        if stored.len() < readings.len() {
            debug!(%space, "a record was erased while a model was asked about it; the reply is dropped");
            let dropped = readings.iter().filter(|it| !stored.contains(&it.id));
            dropped.for_each(count_cost);
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
    use super::*;

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
