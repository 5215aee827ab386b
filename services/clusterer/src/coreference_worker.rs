//! Asks a language model about the pairs of events and of names of which the rules are unsure, about topics and about pages, next to
//! the follower and never inside the fold.
//!
//! There is no queue: what is to be asked is what the fold of a space says is open, also after a restart, when every space is
//! counted once for that. A reply is stored as readings before anything is derived of it; then the space is caught up with, and
//! the fold finds them. While the model is away or the budget of a space is spent, its questions stay open.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chrono::{DateTime, NaiveTime, TimeDelta, Utc};
use domain::id::{ReadingId, SpaceId};
use domain::port::{ModelAllowance, ModelRole};
use domain::{Classify, ErrorKind, PortError};
use host::{Asker, Context, clock};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::sleep;
use tracing::{Instrument, debug, info_span, warn};

use crate::Error;
use crate::follow::{Follower, OpenQuestion};

/// Calls for one question: a reply that cannot be read is asked for once more.
const CALLS: u32 = 2;
/// Pause between looks for a question.
const LOOK: Duration = Duration::from_secs(1);
/// Wait before a space is tried again whose model or store is away,
pub(crate) const AWAY: TimeDelta = TimeDelta::seconds(30);
/// and one of whose events a record went while the model was asked.
pub(crate) const ERASING: TimeDelta = TimeDelta::minutes(10);
/// Times that the model may take too long for a question.
const LATE_MAX: u32 = 3;
/// Questions of which it is known how often the model took too long; beyond, counting begins again.
const KNOWN_MAX: usize = 10_000;
/// Spaces that are listed in one step, and attempts to count one.
const SPACES_AT_ONCE: usize = 100;
const COUNT_ATTEMPTS: usize = 3;

/// Settings in `[clusterer.readings]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReadingConfig {
    /// Whether a language model judges pairs of events and of names of which the rules are unsure, labels topics and sums up
    /// pages, if one is set up for the role `write`.
    pub enabled: bool,
    /// Calls for one space and day (UTC) beyond which no more is asked. All readings of the space count, those of the writer too.
    pub calls_a_day: u32,
    /// Tokens read and written by the model for one space and day; beyond, as with the calls.
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

/// Has a language model judge pairs of events and of names, label topics and sum up pages.
pub(crate) struct CoreferenceWorker {
    pub(crate) context: Context,
    follower: Arc<Follower>,
    model: Model,
    config: ReadingConfig,
    /// How often the model took too long for a question, by the reading of its first pair.
    late: Mutex<BTreeMap<ReadingId, u32>>,
}

/// Who judges.
pub(crate) struct Model {
    pub(crate) asker: Asker,
    pub(crate) name: String,
}

/// How a question came out.
pub(crate) enum Answered {
    Done,
    /// Not now: not before that moment.
    Later(DateTime<Utc>),
}

impl Model {
    /// Returns the model of the role `write`, if there is one and it is wanted.
    pub(crate) fn of(context: &Context, config: &ReadingConfig) -> Option<Model> {
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
            late: Mutex::default(),
        }
    }

    /// Asks until shutdown.
    pub(crate) async fn run(&self) {
        tokio::join!(self.count_spaces(), self.work());
    }

    /// Counts every space once, one after another, so that what was open before the start is known to be.
    async fn count_spaces(&self) {
        let mut after: Option<SpaceId> = None;
        loop {
            let records = &self.context.backends.records;
            let found = match records.spaces(after.as_ref(), SPACES_AT_ONCE).await {
                Ok(found) if found.is_empty() => return,
                Ok(found) => found,
                Err(error) => {
                    debug!(error = &error as &dyn std::error::Error, "cannot list the spaces");
                    if !self.pause(AWAY).await {
                        return;
                    }
                    continue;
                }
            };
            for info in found {
                if self.context.shutdown.is_cancelled() {
                    return;
                }
                self.count_space(&info.space).await;
                after = Some(info.space);
            }
        }
    }

    async fn count_space(&self, space: &SpaceId) {
        for _ in 0..COUNT_ATTEMPTS {
            let Err(error) = self.follower.count(space).await else {
                return;
            };
            debug!(error = &error as &dyn std::error::Error, %space, "cannot count a space");
            if !self.pause(AWAY).await {
                return;
            }
        }
    }

    async fn work(&self) {
        let mut paused: BTreeMap<SpaceId, DateTime<Utc>> = BTreeMap::new();
        let mut last: Option<SpaceId> = None;
        while !self.context.shutdown.is_cancelled() {
            let now = clock::now();
            paused.retain(|_, until| *until > now);
            let next = self
                .follower
                .questions(last.as_ref(), |space| !paused.contains_key(space));
            let Some((space, questions)) = next else {
                self.pause(TimeDelta::from_std(LOOK).unwrap_or_default()).await;
                continue;
            };
            let span = info_span!("ask_model", %space, trace_id = tracing::field::Empty);
            if let Some(until) = self.turn(&space, &questions).instrument(span).await {
                paused.insert(space.clone(), until);
            }
            last = Some(space);
        }
    }

    /// Asks some questions of a space and has what came of them taken in. Returns until when the space has to wait, if it has.
    async fn turn(&self, space: &SpaceId, questions: &[OpenQuestion]) -> Option<DateTime<Utc>> {
        let mut until = None;
        for question in questions {
            if self.context.shutdown.is_cancelled() {
                break;
            }
            let answered = match question {
                OpenQuestion::Events(question) => self.answer(&self.model, space, question).await,
                OpenQuestion::People(question) => self.judge_names(&self.model, space, question).await,
                OpenQuestion::Label(question) => self.label(&self.model, space, question).await,
                OpenQuestion::Summary(question) => self.sum_up(&self.model, space, question).await,
            };
            match answered {
                Ok(Answered::Done) => {}
                Ok(Answered::Later(at)) => until = Some(at),
                Err(error) => until = Some(self.failed(space, &error)),
            }
            if until.is_some() {
                break;
            }
        }
        match self.follower.look_for_open(space).await {
            // Whatever keeps them open: they are not asked again at once.
            Ok(()) if self.follower.asks_all_of(space, questions) => until.or(Some(clock::now() + AWAY)),
            Ok(()) => until,
            Err(error) => until.or(Some(self.failed(space, &error))),
        }
    }

    /// Notes a failure, and returns when the space may be tried again.
    fn failed(&self, space: &SpaceId, error: &Error) -> DateTime<Utc> {
        if error.kind() != ErrorKind::NotFound {
            warn!(error = error as &dyn std::error::Error, %space, "a language model cannot be asked about events, names, topics and pages, will try again");
        }
        clock::now() + AWAY
    }

    /// Waits; false if the service is to stop.
    async fn pause(&self, time: TimeDelta) -> bool {
        tokio::select! {
            () = self.context.shutdown.cancelled() => false,
            () = sleep(time.to_std().unwrap_or_default()) => true,
        }
    }

    /// Returns what is left of the budget of a space for today, if it is enough for a call.
    pub(crate) async fn allowance(&self, space: &SpaceId) -> Result<Option<ModelAllowance>, PortError> {
        let midnight = clock::now().date_naive().and_time(NaiveTime::MIN).and_utc();
        let today = self.context.backends.readings.tally(space, Some(midnight)).await?;
        let calls = self.config.calls_a_day.saturating_sub(today.spent.calls);
        let tokens = self.config.tokens_a_day.saturating_sub(today.spent.usage.total());
        let allow = ModelAllowance {
            calls: calls.min(CALLS),
            tokens: Some(tokens),
        };
        Ok((calls > 0 && tokens > 0).then_some(allow))
    }

    /// Notes that the model took too long for a question, and says whether that was once too often.
    pub(crate) fn is_too_late(&self, first: ReadingId) -> bool {
        let mut late = self.late.lock().unwrap_or_else(PoisonError::into_inner);
        if late.len() >= KNOWN_MAX {
            late.clear();
        }
        let times = late.entry(first).or_default();
        *times += 1;
        *times >= LATE_MAX
    }
}
