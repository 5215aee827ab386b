//! Asks a language model about undecided pairs of events and of names, about topics and about pages. It runs next to
//! the follower; computing derived data never calls the model.
//!
//! There is no queue: the open questions are computed from the state of each space. After a restart, each space is
//! therefore computed once. A reply is first stored as readings; then the space is brought up to date and finds them.
//! While the model is unavailable or the budget of a space is spent, its questions stay open.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, NaiveTime, TimeDelta, Utc};
use domain::id::SpaceId;
use domain::port::{ModelAllowance, ModelRole};
use domain::{Classify, ErrorKind, PortError};
use host::{Asker, Context, UnstoredCosts, clock};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::sleep;
use tracing::{Instrument, debug, info_span, warn};

use crate::Error;
use crate::follower::model_worker::spaces_to_count::SpacesToCount;
use crate::follower::{Follower, OpenQuestion, QuestionKey};

/// Maximum number of calls for one question: an unreadable reply is requested once more.
const CALLS: u32 = 2;
/// Pause between two checks for an open question.
const LOOK: Duration = Duration::from_secs(1);
/// Delay before a space is tried again if the model or a store was unavailable.
pub(crate) const AWAY: TimeDelta = TimeDelta::seconds(30);
/// Delay before a space is tried again if a record of its events was erased while the model was asked.
pub(crate) const ERASING: TimeDelta = TimeDelta::minutes(10);
/// Number of spaces listed in one request.
const SPACES_AT_ONCE: usize = 100;

/// Settings in `[clusterer.readings]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReadingConfig {
    /// Whether a language model judges undecided pairs of events and of names, labels topics and summarises pages, if
    /// one is configured for the role `write`.
    pub enabled: bool,
    /// Maximum number of calls per space and day (UTC). All readings of the space count, including those of the
    /// writer.
    pub calls_a_day: u32,
    /// Maximum number of prompt and completion tokens per space and day (UTC), counted like the calls.
    pub tokens_a_day: u32,
}

impl Default for ReadingConfig {
    fn default() -> ReadingConfig {
        ReadingConfig {
            enabled: true,
            calls_a_day: 2_000,
            tokens_a_day: 10_000_000,
        }
    }
}

/// Asks a language model to judge pairs of events and of names, to label topics and to summarise pages.
pub(crate) struct CoreferenceWorker {
    pub(crate) context: Context,
    follower: Arc<Follower>,
    model: Model,
    config: ReadingConfig,
    /// Cost of the calls from which nothing was stored, and the failed calls of each question, by the reading of its
    /// first pair.
    pub(crate) unstored: UnstoredCosts,
}

/// The language model and its name.
pub(crate) struct Model {
    pub(crate) asker: Asker,
    pub(crate) name: String,
}

/// The outcome of a question.
pub(crate) enum AskOutcome {
    Done,
    /// Not answered; ask again at that moment.
    Later(DateTime<Utc>),
}

/// The outcome of the questions of one space.
#[derive(Default)]
struct Round {
    /// The moment until which the space has to wait, if it has to.
    until: Option<DateTime<Utc>>,
    /// The last question that was not answered, if there is one.
    unanswered: Option<QuestionKey>,
}

impl Model {
    /// Returns the model of the role `write`, or none if there is none or it is disabled.
    pub(crate) fn from_context(context: &Context, config: &ReadingConfig) -> Option<Model> {
        let asker = Asker::new(context).filter(|_| config.enabled)?;
        let name = asker.model_name(ModelRole::Write)?.to_owned();
        Some(Model { asker, name })
    }
}

impl CoreferenceWorker {
    pub(crate) fn new(
        context: &Context,
        follower: &Arc<Follower>,
        model: Model,
        config: &ReadingConfig,
    ) -> CoreferenceWorker {
        CoreferenceWorker {
            context: context.clone(),
            follower: Arc::clone(follower),
            model,
            config: config.clone(),
            unstored: UnstoredCosts::default(),
        }
    }

    /// Asks questions until shutdown.
    pub(crate) async fn run(&self) {
        tokio::join!(self.count_spaces(), self.ask_open_questions());
    }

    /// Brings each space up to date once, one after another, so that questions that were open before the start are
    /// found again.
    async fn count_spaces(&self) {
        let mut spaces = SpacesToCount::default();
        while !self.context.shutdown.is_cancelled() {
            if spaces.needs_page() {
                let records = &self.context.backends.records;
                let page = records.spaces(spaces.last_listed(), SPACES_AT_ONCE).await;
                match page {
                    Ok(found) => spaces.add_page(found.into_iter().map(|it| it.space)),
                    Err(error) => {
                        debug!(error = &error as &dyn std::error::Error, "cannot list the spaces");
                        self.wait_unless_shutdown(AWAY).await;
                    }
                }
                continue;
            }
            let Some(next) = spaces.take_next() else { return };
            let Err(error) = self.follower.bring_up_to_date(&next.space).await else {
                continue;
            };
            debug!(error = &error as &dyn std::error::Error, space = %next.space, "cannot count a space");
            spaces.put_back(next, error.kind());
            self.wait_unless_shutdown(AWAY).await;
        }
    }

    async fn ask_open_questions(&self) {
        let mut paused: BTreeMap<SpaceId, DateTime<Utc>> = BTreeMap::new();
        let mut last: Option<SpaceId> = None;
        // For each space, the last question that was not answered; the next round begins with the question after it.
        // After a pause of the endpoint, only one call is made. If it were always about the same question, a question
        // that always fails would block all others.
        let mut unanswered: BTreeMap<SpaceId, QuestionKey> = BTreeMap::new();
        while !self.context.shutdown.is_cancelled() {
            // The model would refuse each question of each space; they stay open meanwhile.
            if let Some(rest) = self.model.asker.pause_before_background_calls(ModelRole::Write) {
                self.wait_unless_shutdown(TimeDelta::from_std(rest).unwrap_or(AWAY))
                    .await;
                continue;
            }
            let now = clock::now();
            paused.retain(|_, until| *until > now);
            let next = self
                .follower
                .next_open_questions(last.as_ref(), |space| !paused.contains_key(space));
            let Some((space, questions)) = next else {
                self.wait_unless_shutdown(TimeDelta::from_std(LOOK).unwrap_or_default())
                    .await;
                continue;
            };
            let questions = begin_after(questions, unanswered.remove(&space));
            let span = info_span!("ask_model", %space, trace_id = tracing::field::Empty);
            let round = self.ask_questions_of_space(&space, &questions).instrument(span).await;
            if let Some(until) = round.until {
                paused.insert(space.clone(), until);
            }
            if let Some(question) = round.unanswered {
                unanswered.retain(|space, _| self.follower.has_open_questions(space));
                unanswered.insert(space.clone(), question);
            }
            last = Some(space);
        }
    }

    /// Asks some questions of a space and has the readings applied. A question that is not answered does not keep the
    /// others waiting, unless the endpoint is down.
    async fn ask_questions_of_space(&self, space: &SpaceId, questions: &[OpenQuestion]) -> Round {
        let mut round = Round::default();
        for question in questions {
            if self.is_model_down(&self.model) {
                break;
            }
            // A user may have asked to forget one of its units meanwhile.
            if !self.follower.asks_all_of(space, std::slice::from_ref(question)) {
                continue;
            }
            let answered = match question {
                OpenQuestion::Events(question) => self.compare_events(&self.model, space, question).await,
                OpenQuestion::People(question) => self.judge_names(&self.model, space, question).await,
                OpenQuestion::Label(question) => self.label_topic(&self.model, space, question).await,
                OpenQuestion::Summary(question) => self.sum_up(&self.model, space, question).await,
            };
            match answered {
                Ok(AskOutcome::Done) => {}
                Ok(AskOutcome::Later(at)) => {
                    round.until = round.until.max(Some(at));
                    round.unanswered = question.key();
                }
                Err(error) => {
                    round.until = Some(self.retry_time_after_failure(space, &error));
                    round.unanswered = question.key();
                    break;
                }
            }
        }
        let marked = self.follower.mark_open_questions(space).await;
        let pause = match marked {
            // If nothing changed, whatever the reason, wait before asking again.
            Ok(()) if self.follower.asks_all_of(space, questions) => Some(clock::now() + AWAY),
            Ok(()) => None,
            Err(error) => Some(self.retry_time_after_failure(space, &error)),
        };
        round.until = round.until.or(pause);
        round
    }

    /// Logs a failure and returns the moment at which the space may be tried again.
    fn retry_time_after_failure(&self, space: &SpaceId, error: &Error) -> DateTime<Utc> {
        if error.kind() != ErrorKind::NotFound {
            warn!(error = error as &dyn std::error::Error, %space, "a language model cannot be asked about events, names, topics and pages, will try again");
        }
        clock::now() + AWAY
    }

    /// Waits; returns false at shutdown.
    async fn wait_unless_shutdown(&self, time: TimeDelta) -> bool {
        tokio::select! {
            () = self.context.shutdown.cancelled() => false,
            () = sleep(time.to_std().unwrap_or_default()) => true,
        }
    }

    /// Returns the rest of today's budget of a space, or none if it does not suffice for a call.
    pub(crate) async fn remaining_allowance(&self, space: &SpaceId) -> Result<Option<ModelAllowance>, PortError> {
        let now = clock::now();
        let midnight = now.date_naive().and_time(NaiveTime::MIN).and_utc();
        let mut today = self.context.backends.readings.tally(space, Some(midnight)).await?.spent;
        today.add_cost(self.unstored.cost_of_today(space, now));
        let calls = self.config.calls_a_day.saturating_sub(today.calls);
        let tokens = self.config.tokens_a_day.saturating_sub(today.usage.total_tokens());
        let allow = ModelAllowance {
            calls: calls.min(CALLS),
            tokens: Some(tokens),
        };
        Ok((calls > 0 && tokens > 0).then_some(allow))
    }
}

/// Returns the questions in the same order, but beginning after `last` if that is one of them.
fn begin_after(mut questions: Vec<OpenQuestion>, last: Option<QuestionKey>) -> Vec<OpenQuestion> {
    let place = last.and_then(|last| questions.iter().position(|it| it.key() == Some(last)));
    questions.rotate_left(place.map_or(0, |it| it + 1));
    questions
}
