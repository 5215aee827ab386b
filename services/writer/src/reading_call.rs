//! Reads one passage with one call.

use std::collections::BTreeSet;

use chrono::{DateTime, NaiveTime, Utc};
use domain::id::{ReadingId, RecordId, SpaceId};
use domain::message::UnitsOrganisedV1;
use domain::port::{Chat, Completion, ModelAllowance, ModelCost, Position};
use domain::reading::{LeftOut, Reading, ReadingKind, ReadingOutcome};
use domain::record::Record;
use domain::{ErrorKind, PortError};
use host::{Asked, clock};
use tracing::{Instrument, debug, info, info_span};

use crate::earlier_gists::{EarlierGists, PlacedGist};
use crate::reading::again::{PROMPT_AGAIN, prompt_again};
use crate::reading::derive::Derived;
use crate::reading::output;
use crate::reading::prompt::{PROMPT, Shown, digest, prompt};
use crate::reading::reply::is_usable;
use crate::reading_worker::{AWAY, Model, Read, ReadingWorker};
use crate::{Error, reading_store};

/// Maximum number of calls for one passage: an unreadable reply is requested once more.
const CALLS: u32 = 2;
/// Maximum number of calls for the second look at a passage.
const CALLS_AGAIN: u32 = 1;
/// Entry in the rejected parts of a reading if the second look failed, and its reason while it has not been taken.
const SECOND_LOOK: &str = "the second look at the passage";
const WAITS: &str = "it has not been taken yet";

/// A passage to be read.
pub(crate) struct OpenPassage<'a> {
    pub(crate) space: &'a SpaceId,
    /// The records before it, which the model needs as context.
    pub(crate) before: Vec<Record>,
    /// The records of the passage.
    pub(crate) records: Vec<Record>,
    /// The reading that this one replaces; it was made of other records or with another prompt.
    pub(crate) former: Option<&'a Reading>,
}

/// The outcome of the first look at a passage.
enum First {
    /// A reading without its outcome, and the cost of its calls.
    Reading { reading: Box<Reading>, spent: ModelCost },
    /// Nothing was read; try again at that moment.
    Later(DateTime<Utc>),
}

impl ReadingWorker {
    /// Asks the model to read a passage, stores its reply and the data derived from it, and notifies the clusterer.
    pub(crate) async fn passage(&self, model: &Model, open: &OpenPassage<'_>) -> Result<Read, Error> {
        let Some(mut allow) = self.allowance(open.space).await? else {
            debug!(space = %open.space, "the budget of the day is spent, reading waits");
            return Ok(Read::Later(tomorrow()));
        };
        let waiting = open.former.filter(|it| waits_for_second_look(it));
        let waiting = waiting.filter(|it| it.records == ids(&open.records) && it.prompt == PROMPT);
        let (mut reading, earlier) = match waiting {
            Some(former) => {
                let at = clock::now();
                (
                    Reading { at, ..former.clone() },
                    EarlierGists::of(&self.context.backends, open.space, former).await?,
                )
            }
            None => {
                let most = self.config.earlier_gists;
                let earlier = EarlierGists::find(&self.context.backends, open, most).await?;
                match self.first_look(model, open, &earlier, allow).await? {
                    First::Reading { reading, spent } => {
                        allow.spend(spent);
                        (*reading, Some(earlier))
                    }
                    First::Later(at) => return Ok(Read::Later(at)),
                }
            }
        };
        let mut derived = reading_store::derived(&self.context.backends, open.space, &reading).await?;
        reading.outcome = outcome(&derived);
        if let Some(earlier) = earlier.filter(|_| self.config.thorough && !derived.units.is_empty()) {
            let first_outcome = reading.outcome.clone();
            reading.outcome.left_out.push(second_look(WAITS));
            // Stored before the second call, so that the result of the first one is kept if the process ends.
            if !self.put(open.space, &reading).await? {
                return Ok(Read::Done);
            }
            let chat = prompt_again(&shown(open, &earlier), &derived);
            let asked = self.look_again(model, &chat, allow).await;
            if let Some(at) = self.second_look_at(&asked, reading.id) {
                debug!(space = %open.space, "the second look at a passage waits");
                reading.spent.add(asked.spent);
                self.store(open.space, &reading, derived).await?;
                return Ok(Read::Later(at));
            }
            reading.outcome = first_outcome;
            derived = self.with_second(open.space, &mut reading, derived, asked).await?;
        }
        self.store(open.space, &reading, derived).await?;
        Ok(Read::Done)
    }

    /// Asks the model to read a passage for the first time.
    async fn first_look(
        &self,
        model: &Model,
        open: &OpenPassage<'_>,
        earlier: &EarlierGists,
        allow: ModelAllowance,
    ) -> Result<First, Error> {
        let id = ReadingId::derive(open.records[0].id);
        let chat = prompt(&shown(open, earlier));
        let stored = |it: &Completion| is_usable(it).then(|| output::stored(&it.text));
        let asked = model.asker.ask(&chat, calls_at_most(allow, CALLS), stored).await;
        let (output, failure) = match (asked.outcome, asked.failure) {
            (Ok(text), _) => (text, None),
            (Err(why), Some(kind)) if is_away(kind) && !(kind == ErrorKind::Timeout && self.is_too_late(id)) => {
                debug!(why, space = %open.space, "the language model is away, reading waits");
                self.unstored.add_failed(open.space, asked.spent, kind, clock::now());
                return Ok(First::Later(clock::now() + AWAY));
            }
            (Err(_), None) if asked.spent.calls == 0 => return Ok(First::Later(tomorrow())),
            (Err(why), _) => (String::new(), Some(why)),
        };
        let mut spent = asked.spent;
        spent.add(open.former.map(|it| it.spent).unwrap_or_default());
        let reading = Box::new(Reading {
            id,
            kind: ReadingKind::Passage,
            session: open.records[0].session,
            records: ids(&open.records),
            beside: beside(open, &earlier.gists),
            earlier: earlier.gists.iter().map(|it| it.place).collect(),
            digest: digest(&[], &open.records),
            prompt: PROMPT.to_owned(),
            model: model.name.clone(),
            at: clock::now(),
            output,
            failure,
            outcome: ReadingOutcome::default(),
            spent,
        });
        Ok(First::Reading {
            reading,
            spent: asked.spent,
        })
    }

    /// Returns when a second look is to be tried again, or none if it was answered or is given up. It waits while the
    /// endpoint is away, as the first one does, and until the next day if the budget is spent.
    fn second_look_at(&self, asked: &Asked<String>, id: ReadingId) -> Option<DateTime<Utc>> {
        match (&asked.outcome, asked.failure) {
            (Err(_), Some(kind)) if is_away(kind) && !(kind == ErrorKind::Timeout && self.is_too_late(id)) => {
                Some(clock::now() + AWAY)
            }
            (Err(_), None) if asked.spent.calls == 0 => Some(tomorrow()),
            (Ok(_) | Err(_), _) => None,
        }
    }

    /// Asks about a passage once more, if the budget allows it.
    async fn look_again(&self, model: &Model, chat: &Chat, allow: ModelAllowance) -> Asked<String> {
        let said = |it: &Completion| is_usable(it).then(|| it.text.clone());
        model.asker.ask(chat, calls_at_most(allow, CALLS_AGAIN), said).await
    }

    /// Adds a second reply and its cost to a reading, and returns the data derived from both replies. If the second
    /// reply is missing or unreadable, the first one counts, and the reading states the reason.
    async fn with_second(
        &self,
        space: &SpaceId,
        reading: &mut Reading,
        derived: Derived,
        asked: Asked<String>,
    ) -> Result<Derived, Error> {
        reading.spent.add(asked.spent);
        match asked.outcome {
            Ok(text) => {
                reading.output = output::with_second(&reading.output, PROMPT_AGAIN, &text);
                let derived = reading_store::derived(&self.context.backends, space, reading).await?;
                reading.outcome = outcome(&derived);
                Ok(derived)
            }
            Err(why) => {
                debug!(why, %space, reading = %reading.id, "nothing came of a second look at a passage");
                reading.outcome.left_out.push(second_look(&why));
                Ok(derived)
            }
        }
    }

    /// Stores a reading. Returns false, and stores nothing, if one of its records was erased in the meantime.
    async fn put(&self, space: &SpaceId, reading: &Reading) -> Result<bool, PortError> {
        let readings = std::slice::from_ref(reading);
        let stored = self.context.backends.readings.put(space, readings).await?;
        if stored.is_empty() {
            debug!(%space, "a record was erased while it was read; what was said of it is dropped");
            self.unstored.add(space, reading.spent, clock::now());
        }
        Ok(!stored.is_empty())
    }

    /// Stores a reading and the data derived from it, counts it, and notifies the clusterer.
    async fn store(&self, space: &SpaceId, reading: &Reading, derived: Derived) -> Result<(), Error> {
        if let Some(why) = &reading.failure {
            info!(why, %space, reading = %reading.id, "nothing was read of a passage");
        }
        if !self.put(space, reading).await? {
            return Ok(());
        }
        self.context.metrics.reading(reading);
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
        self.context.publish(&organised).await?;
        Ok(())
    }

    /// Returns what is left today of the budget of a space, or none if it does not suffice for a call.
    pub(crate) async fn allowance(&self, space: &SpaceId) -> Result<Option<ModelAllowance>, PortError> {
        let now = clock::now();
        let midnight = now.date_naive().and_time(NaiveTime::MIN).and_utc();
        let mut today = self.context.backends.readings.tally(space, Some(midnight)).await?.spent;
        today.add(self.unstored.today(space, now));
        let calls = self.config.calls_a_day.saturating_sub(today.calls);
        let tokens = self.config.tokens_a_day.saturating_sub(today.usage.total());
        let allow = ModelAllowance {
            calls,
            tokens: Some(tokens),
        };
        Ok((calls > 0 && tokens > 0).then_some(allow))
    }
}

/// Returns true if the second look at the passage of a reading has not been taken yet.
pub(crate) fn waits_for_second_look(reading: &Reading) -> bool {
    reading.outcome.left_out.contains(&second_look(WAITS))
}

fn second_look(why: &str) -> LeftOut {
    LeftOut {
        what: SECOND_LOOK.to_owned(),
        why: why.to_owned(),
    }
}

fn calls_at_most(allow: ModelAllowance, calls: u32) -> ModelAllowance {
    ModelAllowance {
        calls: allow.calls.min(calls),
        ..allow
    }
}

fn shown<'a>(open: &'a OpenPassage<'_>, earlier: &'a EarlierGists) -> Shown<'a> {
    Shown {
        before: &open.before,
        records: &open.records,
        earlier: &earlier.shown,
    }
}

/// Returns true if the failure is caused by the endpoint and not by the passage.
pub(crate) fn is_away(kind: ErrorKind) -> bool {
    match kind {
        ErrorKind::Unavailable | ErrorKind::Timeout | ErrorKind::Exhausted => true,
        ErrorKind::NotFound | ErrorKind::Invalid | ErrorKind::Conflict | ErrorKind::Damaged | ErrorKind::Internal => {
            false
        }
    }
}

/// Returns the start of the next day in UTC.
pub(crate) fn tomorrow() -> DateTime<Utc> {
    let today = clock::now().date_naive();
    let next = today.succ_opt().unwrap_or(today);
    next.and_time(NaiveTime::MIN).and_utc()
}

fn ids(records: &[Record]) -> Vec<RecordId> {
    records.iter().map(|it| it.id).collect()
}

/// Returns the other records whose words the model is shown.
fn beside(open: &OpenPassage<'_>, earlier: &[PlacedGist]) -> Vec<RecordId> {
    let own: BTreeSet<RecordId> = open.records.iter().map(|it| it.id).collect();
    let mut met = BTreeSet::new();
    let of_gists = earlier.iter().flat_map(|it| it.unit.records.iter().copied());
    let all = open.before.iter().map(|it| it.id).chain(of_gists);
    all.filter(|it| !own.contains(it) && met.insert(*it)).collect()
}

fn outcome(derived: &Derived) -> ReadingOutcome {
    let Derived {
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
    }
}
