//! Reads one passage with one call.

use std::collections::BTreeSet;

use chrono::{DateTime, NaiveTime, Utc};
use domain::PortError;
use domain::id::{ReadingId, RecordId, SpaceId};
use domain::message::UnitsOrganisedV1;
use domain::port::{Chat, Completion, ModelAllowance, ModelCost, ModelRole, Position};
use domain::reading::{Reading, ReadingKind, ReadingOutcome};
use domain::record::Record;
use host::{ModelResult, PendingCost, UnstoredCosts, clock};
use tracing::{Instrument, debug, info, info_span};

use crate::Error;
use crate::reading::derive::DerivedFromReading;
use crate::reading::prompts::prompt::{PROMPT, ShownPassage, build_prompt, shown_digest};
use crate::reading::prompts::second_prompt::{PROMPT_AGAIN, prompt_again};
use crate::reading::replies::output;
use crate::reading::replies::reply::is_usable;
use crate::session_reading::passages::earlier_gists::{EarlierGists, PlacedGist};
use crate::session_reading::passages::open_passage::OpenPassage;
use crate::session_reading::passages::second_look::{second_look, waits_for_second_look};
use crate::session_reading::reading_model::Model;
use crate::session_reading::reading_store;
use crate::session_reading::reading_worker::{ReadOutcome, ReadingWorker};
use crate::store_access::gist_points;

/// Maximum number of calls for one passage: an unreadable reply is requested once more.
const CALLS: u32 = 2;
/// Maximum number of calls for the second look at a passage.
const CALLS_AGAIN: u32 = 1;

/// The outcome of the first look at a passage.
enum First {
    /// A reading without its outcome, and the cost of its calls.
    Reading { reading: Box<Reading>, spent: ModelCost },
    /// Nothing was read; try again at that moment.
    Later(DateTime<Utc>),
}

impl ReadingWorker {
    /// Asks the model to read a passage, stores its reply and the data derived from it, and notifies the clusterer.
    pub(crate) async fn read_passage(&self, model: &Model, open: &OpenPassage<'_>) -> Result<ReadOutcome, Error> {
        let id = ReadingId::of_passage(open.records[0].id);
        if let Some(at) = self.unstored.end_of_wait(id, clock::now()) {
            return Ok(ReadOutcome::Later(at));
        }
        let Some(mut allow) = self.remaining_allowance(open.space).await? else {
            debug!(space = %open.space, "the budget of the day is spent, reading waits");
            return Ok(ReadOutcome::Later(start_of_tomorrow()));
        };
        let mut pending = self.unstored.open_pending(open.space);
        let waiting = open.former.filter(|it| waits_for_second_look(it));
        let waiting = waiting.filter(|it| it.records == record_ids(&open.records) && it.prompt == PROMPT);
        let (mut reading, earlier) = match waiting {
            Some(former) => {
                let at = clock::now();
                let spent = UnstoredCosts::cost_of_replaced_reading(Some(former), at);
                (
                    Reading {
                        at,
                        spent,
                        ..former.clone()
                    },
                    EarlierGists::from_reading(&self.context.backends, open.space, former).await?,
                )
            }
            None => {
                let most = self.config.earlier_gists;
                let earlier = EarlierGists::find_similar(&self.context.backends, open, most).await?;
                match self.first_look(model, open, &earlier, allow).await? {
                    First::Reading { reading, spent } => {
                        pending.add_cost(spent);
                        allow.subtract_cost(spent);
                        (*reading, Some(earlier))
                    }
                    First::Later(at) => return Ok(ReadOutcome::Later(at)),
                }
            }
        };
        let mut derived = gist_points::derive_from_stored_records(&self.context.backends, open.space, &reading).await?;
        reading.outcome = reading_outcome(&derived);
        if let Some(earlier) = earlier.filter(|_| self.config.thorough && !derived.units.is_empty()) {
            let first_outcome = reading.outcome.clone();
            reading.outcome.waits_for_second_look = true;
            // Stored before the second call, so that the result of the first one is kept if the process ends.
            if !self.put_reading(open.space, &reading, &mut pending).await? {
                return Ok(ReadOutcome::Done);
            }
            let chat = prompt_again(&shown_parts(open, &earlier), &derived);
            let second_result = self.look_again(model, &chat, allow).await;
            if let Some(at) = self.second_look_at(model, &second_result, reading.id) {
                debug!(space = %open.space, "the second look at a passage waits");
                // As in `UnstoredCosts::add_failed`: an outage must not use up the budget of the day.
                let is_down = self.is_model_down(model, ModelRole::Write);
                if !is_down || !second_result.spent.usage.is_none() {
                    pending.add_cost(second_result.spent);
                    reading.spent.add_cost(second_result.spent);
                }
                self.store_reading(open.space, &reading, derived, &mut pending).await?;
                return Ok(ReadOutcome::Later(at));
            }
            reading.outcome = first_outcome;
            pending.add_cost(second_result.spent);
            derived = self
                .with_second(open.space, &mut reading, derived, second_result)
                .await?;
        }
        self.store_reading(open.space, &reading, derived, &mut pending).await?;
        Ok(ReadOutcome::Done)
    }

    /// Asks the model to read a passage for the first time.
    async fn first_look(
        &self,
        model: &Model,
        open: &OpenPassage<'_>,
        earlier: &EarlierGists,
        allow: ModelAllowance,
    ) -> Result<First, Error> {
        let id = ReadingId::of_passage(open.records[0].id);
        let chat = build_prompt(&shown_parts(open, earlier));
        let stored = |it: &Completion| is_usable(it).then(|| output::to_stored_form(&it.text));
        let result = model.asker.ask_model(&chat, calls_at_most(allow, CALLS), stored).await;
        let is_down = self.is_model_down(model, ModelRole::Write);
        let mut spent = result.spent;
        let (output, failure) = match (result.outcome, result.failure) {
            (Ok(text), _) => (text, None),
            (Err(why), Some(kind)) if !self.unstored.count_failed_call(id, kind, spent, is_down) => {
                debug!(why, space = %open.space, "the language model cannot read a passage, reading waits");
                let now = clock::now();
                self.unstored.add_failed(open.space, spent, is_down, now);
                return Ok(First::Later(self.unstored.postpone_question(id, spent, is_down, now)));
            }
            (Err(_), None) if spent.calls == 0 => return Ok(First::Later(start_of_tomorrow())),
            (Err(why), _) => (String::new(), Some(why)),
        };
        self.unstored.forget_attempts(id);
        let now = clock::now();
        spent.add_cost(UnstoredCosts::cost_of_replaced_reading(open.former, now));
        let reading = Box::new(Reading {
            id,
            kind: ReadingKind::Passage,
            session: open.records[0].session,
            records: record_ids(&open.records),
            beside: other_shown_records(open, &earlier.gists),
            earlier: earlier.gists.iter().map(|it| it.place).collect(),
            digest: shown_digest(&[], &open.records),
            prompt: PROMPT.to_owned(),
            model: model.name.clone(),
            at: now,
            output,
            failure,
            outcome: ReadingOutcome::default(),
            spent,
        });
        Ok(First::Reading {
            reading,
            spent: result.spent,
        })
    }

    /// Returns the time of the next attempt at a second look, or none if it was answered or has failed too often. It
    /// waits while the endpoint is unreachable, like the first look, and until the next day if the budget is spent.
    fn second_look_at(
        &self,
        model: &Model,
        second_result: &ModelResult<String>,
        id: ReadingId,
    ) -> Option<DateTime<Utc>> {
        let (spent, is_down) = (second_result.spent, self.is_model_down(model, ModelRole::Write));
        match (&second_result.outcome, second_result.failure) {
            (Err(_), Some(kind)) if !self.unstored.count_failed_call(id, kind, spent, is_down) => {
                Some(self.unstored.postpone_question(id, spent, is_down, clock::now()))
            }
            (Err(_), None) if spent.calls == 0 => Some(start_of_tomorrow()),
            (Ok(_) | Err(_), _) => {
                self.unstored.forget_attempts(id);
                None
            }
        }
    }

    /// Asks about a passage once more, if the budget allows it.
    async fn look_again(&self, model: &Model, chat: &Chat, allow: ModelAllowance) -> ModelResult<String> {
        let usable_text = |it: &Completion| is_usable(it).then(|| it.text.clone());
        model
            .asker
            .ask_model(chat, calls_at_most(allow, CALLS_AGAIN), usable_text)
            .await
    }

    /// Adds a second reply and its cost to a reading, and returns the data derived from both replies. If the second
    /// reply is missing or unreadable, the first one counts, and the reading states the reason.
    async fn with_second(
        &self,
        space: &SpaceId,
        reading: &mut Reading,
        derived: DerivedFromReading,
        second_result: ModelResult<String>,
    ) -> Result<DerivedFromReading, Error> {
        reading.spent.add_cost(second_result.spent);
        match second_result.outcome {
            Ok(text) => {
                reading.output = output::with_second(&reading.output, PROMPT_AGAIN, &text);
                let derived = gist_points::derive_from_stored_records(&self.context.backends, space, reading).await?;
                reading.outcome = reading_outcome(&derived);
                Ok(derived)
            }
            Err(why) => {
                debug!(why, %space, reading = %reading.id, "the second look at a passage failed");
                reading.outcome.left_out.push(second_look(&why));
                Ok(derived)
            }
        }
    }

    /// Stores a reading, and settles the cost of its calls. Returns false, and stores nothing, if one of its records was
    /// erased in the meantime.
    async fn put_reading(
        &self,
        space: &SpaceId,
        reading: &Reading,
        pending: &mut PendingCost<'_>,
    ) -> Result<bool, PortError> {
        let readings = std::slice::from_ref(reading);
        let stored = self.context.backends.readings.put(space, readings).await?;
        if stored.is_empty() {
            debug!(%space, "a record was erased while it was read; the result is dropped");
            return Ok(false);
        }
        pending.settle();
        Ok(true)
    }

    /// Stores a reading and the data derived from it, counts it, and notifies the clusterer.
    async fn store_reading(
        &self,
        space: &SpaceId,
        reading: &Reading,
        derived: DerivedFromReading,
        pending: &mut PendingCost<'_>,
    ) -> Result<(), Error> {
        if let Some(why) = &reading.failure {
            info!(why, %space, reading = %reading.id, "a passage cannot be read");
        }
        if !self.put_reading(space, reading, pending).await? {
            return Ok(());
        }
        self.context.metrics.count_reading(reading);
        let put = info_span!("put_gists", gists = derived.units.len());
        reading_store::put_derived(&self.context.backends, space, reading.id, derived)
            .instrument(put)
            .await?;
        let organised = UnitsOrganisedV1 {
            space: space.clone(),
            position: Position(0),
            acts: false,
            reading: format!("{}/{}", reading.id, reading.at.timestamp_micros()),
        };
        self.context.publish_message(&organised).await?;
        Ok(())
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
            calls,
            tokens: Some(tokens),
        };
        Ok((calls > 0 && tokens > 0).then_some(allow))
    }
}

fn calls_at_most(allow: ModelAllowance, calls: u32) -> ModelAllowance {
    ModelAllowance {
        calls: allow.calls.min(calls),
        ..allow
    }
}

fn shown_parts<'a>(open: &'a OpenPassage<'_>, earlier: &'a EarlierGists) -> ShownPassage<'a> {
    ShownPassage {
        before: &open.before,
        records: &open.records,
        earlier: &earlier.shown,
    }
}

/// Returns the start of the next day in UTC.
pub(crate) fn start_of_tomorrow() -> DateTime<Utc> {
    let today = clock::now().date_naive();
    let next = today.succ_opt().unwrap_or(today);
    next.and_time(NaiveTime::MIN).and_utc()
}

fn record_ids(records: &[Record]) -> Vec<RecordId> {
    records.iter().map(|it| it.id).collect()
}

/// Returns the other records whose words the model is shown.
fn other_shown_records(open: &OpenPassage<'_>, earlier: &[PlacedGist]) -> Vec<RecordId> {
    let own: BTreeSet<RecordId> = open.records.iter().map(|it| it.id).collect();
    let mut met = BTreeSet::new();
    let of_gists = earlier.iter().flat_map(|it| it.unit.records.iter().copied());
    let all = open.before.iter().map(|it| it.id).chain(of_gists);
    all.filter(|it| !own.contains(it) && met.insert(*it)).collect()
}

fn reading_outcome(derived: &DerivedFromReading) -> ReadingOutcome {
    let DerivedFromReading {
        units,
        numbers: _,
        relations,
        left_out,
    } = derived;
    let count = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
    ReadingOutcome {
        gists: count(units.len()),
        facts: count(units.iter().map(|it| it.stated.len()).sum()),
        relations: count(relations.len()),
        events: 0,
        left_out: left_out.clone(),
        waits_for_second_look: false,
    }
}
