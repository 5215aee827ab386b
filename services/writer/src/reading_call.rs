//! One passage, read with one call.

use std::collections::BTreeSet;

use chrono::{NaiveTime, Utc};
use domain::id::{ReadingId, RecordId, SpaceId, UnitId};
use domain::message::UnitsOrganisedV1;
use domain::port::{Chat, Completion, ModelAllowance, Position, Search};
use domain::reading::{GistRef, LeftOut, Reading, ReadingKind, ReadingOutcome};
use domain::record::Record;
use domain::unit::{Grain, Status, Unit};
use domain::{ErrorKind, PortError};
use host::{Asked, Backends, clock};
use tracing::{Instrument, debug, info, info_span};

use crate::reading::again::{PROMPT_AGAIN, prompt_again};
use crate::reading::derive::{Derived, GISTS_MAX};
use crate::reading::output;
use crate::reading::prompt::{EarlierGist, PROMPT, Shown, digest, prompt};
use crate::reading::reply::is_usable;
use crate::reading_worker::{AWAY, Model, Read, ReadingWorker};
use crate::{Error, reading_store};

/// Calls for one passage: a reply that cannot be read is asked for once more.
const CALLS: u32 = 2;
/// Calls for a second look at it.
const CALLS_AGAIN: u32 = 1;
/// What a reading says was left out of it if nothing came of the second look.
const SECOND_LOOK: &str = "the second look at the passage";
/// Most earlier gists that the model is shown, whatever the settings say.
const EARLIER_MAX: usize = 20;
/// Hits among which they are looked for, and bytes of the passage that are searched with.
const HITS: usize = 60;
const SEARCHED_BYTES: usize = 4_000;

/// A passage that is to be read.
pub(crate) struct OpenPassage<'a> {
    pub(crate) space: &'a SpaceId,
    /// Records before it, which the model needs to understand it.
    pub(crate) before: Vec<Record>,
    /// Its records.
    pub(crate) records: Vec<Record>,
    /// What was read of it when it had other records, or with another prompt.
    pub(crate) former: Option<&'a Reading>,
}

/// A gist with its place in a reading.
struct Placed {
    place: GistRef,
    unit: Unit,
}

/// What the model is shown of a passage, with where its earlier gists stand.
struct Prepared {
    earlier: Vec<Placed>,
    shown: Vec<EarlierGist>,
}

impl ReadingWorker {
    /// Has the model read a passage, stores what it said and what follows from that, and tells the clusterer.
    pub(crate) async fn passage(&self, model: &Model, open: &OpenPassage<'_>) -> Result<Read, Error> {
        let Some(mut allow) = self.allowance(open.space).await? else {
            debug!(space = %open.space, "the budget of the day is spent, reading waits");
            return Ok(Read::Later(tomorrow()));
        };
        let id = ReadingId::derive(open.records[0].id);
        let prepared = self.prepared(open).await?;
        let chat = prompt(&shown(open, &prepared));
        let stored = |it: &Completion| is_usable(it).then(|| output::stored(&it.text));
        let asked = model.asker.ask(&chat, calls_at_most(allow, CALLS), stored).await;
        allow.spend(asked.spent);
        let (output, failure) = match (asked.outcome, asked.failure) {
            (Ok(text), _) => (text, None),
            (Err(why), Some(kind)) if is_away(kind) && !(kind == ErrorKind::Timeout && self.is_too_late(id)) => {
                debug!(why, space = %open.space, "the language model is away, reading waits");
                self.unstored.add_failed(open.space, asked.spent, kind, clock::now());
                return Ok(Read::Later(clock::now() + AWAY));
            }
            (Err(_), None) if asked.spent.calls == 0 => return Ok(Read::Later(tomorrow())),
            (Err(why), _) => (String::new(), Some(why)),
        };
        let mut spent = asked.spent;
        spent.add(open.former.map(|it| it.spent).unwrap_or_default());
        let mut reading = Reading {
            id,
            kind: ReadingKind::Passage,
            session: open.records[0].session,
            records: ids(&open.records),
            beside: beside(open, &prepared.earlier),
            earlier: prepared.earlier.iter().map(|it| it.place).collect(),
            digest: digest(&[], &open.records),
            prompt: PROMPT.to_owned(),
            model: model.name.clone(),
            at: clock::now(),
            output,
            failure,
            outcome: ReadingOutcome::default(),
            spent,
        };
        let mut derived = reading_store::derived(&self.context.backends, open.space, &reading).await?;
        reading.outcome = outcome(&derived);
        if self.config.thorough && !derived.units.is_empty() {
            // Stored before the second call: a process that ends meanwhile leaves what the first one gave.
            if !self.put(open.space, &reading).await? {
                return Ok(Read::Done);
            }
            let chat = prompt_again(&shown(open, &prepared), &derived);
            let asked = self.look_again(model, &chat, allow).await;
            derived = self.with_second(open.space, &mut reading, derived, asked).await?;
        }
        self.store(open.space, &reading, derived).await?;
        Ok(Read::Done)
    }

    /// Finds the gists that the model is shown with a passage.
    async fn prepared(&self, open: &OpenPassage<'_>) -> Result<Prepared, PortError> {
        let most = self.config.earlier_gists.min(EARLIER_MAX);
        let earlier = match most {
            0 => Vec::new(),
            _ => earlier_gists(&self.context.backends, open, most).await?,
        };
        let shown = earlier.iter().map(earlier_gist).collect();
        Ok(Prepared { earlier, shown })
    }

    /// Asks once more about a passage, if the budget allows it.
    async fn look_again(&self, model: &Model, chat: &Chat, allow: ModelAllowance) -> Asked<String> {
        let said = |it: &Completion| is_usable(it).then(|| it.text.clone());
        model.asker.ask(chat, calls_at_most(allow, CALLS_AGAIN), said).await
    }

    /// Adds a second reply and its cost to a reading, and returns what follows from both replies. Without one that can be read
    /// the first one counts, and the reading says why.
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
                let what = SECOND_LOOK.to_owned();
                reading.outcome.left_out.push(LeftOut { what, why });
                Ok(derived)
            }
        }
    }

    /// Stores a reading; false if a record was erased while it was read, and nothing is stored.
    async fn put(&self, space: &SpaceId, reading: &Reading) -> Result<bool, PortError> {
        let readings = std::slice::from_ref(reading);
        let stored = self.context.backends.readings.put(space, readings).await?;
        if stored.is_empty() {
            debug!(%space, "a record was erased while it was read; what was said of it is dropped");
            self.unstored.add(space, reading.spent, clock::now());
        }
        Ok(!stored.is_empty())
    }

    /// Stores a reading and what follows from it, counts both, and tells the clusterer.
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

    /// Returns what is left of the budget of a space for today, if it is enough for a call.
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

fn calls_at_most(allow: ModelAllowance, calls: u32) -> ModelAllowance {
    ModelAllowance {
        calls: allow.calls.min(calls),
        ..allow
    }
}

fn shown<'a>(open: &'a OpenPassage<'_>, prepared: &'a Prepared) -> Shown<'a> {
    Shown {
        before: &open.before,
        records: &open.records,
        earlier: &prepared.shown,
    }
}

/// Says whether a failure is the endpoint's and not the passage's.
pub(crate) fn is_away(kind: ErrorKind) -> bool {
    match kind {
        ErrorKind::Unavailable | ErrorKind::Timeout | ErrorKind::Exhausted => true,
        ErrorKind::NotFound | ErrorKind::Invalid | ErrorKind::Conflict | ErrorKind::Damaged | ErrorKind::Internal => {
            false
        }
    }
}

/// Returns when the next day begins.
pub(crate) fn tomorrow() -> chrono::DateTime<Utc> {
    let today = clock::now().date_naive();
    let next = today.succ_opt().unwrap_or(today);
    next.and_time(NaiveTime::MIN).and_utc()
}

fn ids(records: &[Record]) -> Vec<RecordId> {
    records.iter().map(|it| it.id).collect()
}

/// Returns the other records whose words the model is shown.
fn beside(open: &OpenPassage<'_>, earlier: &[Placed]) -> Vec<RecordId> {
    let own: BTreeSet<RecordId> = open.records.iter().map(|it| it.id).collect();
    let mut met = BTreeSet::new();
    let of_gists = earlier.iter().flat_map(|it| it.unit.records.iter().copied());
    let all = open.before.iter().map(|it| it.id).chain(of_gists);
    all.filter(|it| !own.contains(it) && met.insert(*it)).collect()
}

fn earlier_gist(placed: &Placed) -> EarlierGist {
    EarlierGist {
        at: placed.unit.observed_at,
        text: placed.unit.text.clone(),
    }
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

/// Returns the gists of before that are most like the passage, best first. Without any, or while the index is away, none.
async fn earlier_gists(backends: &Backends, open: &OpenPassage<'_>, most: usize) -> Result<Vec<Placed>, PortError> {
    let texts: Vec<&str> = open.records.iter().map(|it| it.text.as_str()).collect();
    let text = texts.join("\n");
    let text = &text[..text.floor_char_boundary(SEARCHED_BYTES)];
    let Some(dense) = backends.embedder.embed(&[text.to_owned()]).await?.pop() else {
        return Ok(Vec::new());
    };
    let search = Search {
        dense: Some(dense),
        words: Some(text::sparse::words(text)),
        limit: HITS,
        until: Some(open.records[0].observed_at.timestamp()),
        units: None,
        ..Search::default()
    };
    let found = backends.index.search(open.space, &search).await?;
    let mut met = BTreeSet::new();
    // In turns, so that both count.
    let longest = found.dense.len().max(found.words.len());
    let in_turns = (0..longest).flat_map(|at| [found.dense.get(at), found.words.get(at)]);
    let hits = in_turns.flatten().map(|it| it.unit).filter(|it| met.insert(*it));
    let hits: Vec<UnitId> = hits.collect();
    let own: BTreeSet<RecordId> = open.records.iter().map(|it| it.id).collect();
    let mut gists = backends.graph.units(open.space, &hits).await?;
    gists.retain(|it| it.grain == Grain::Gist && it.status == Status::Active);
    gists.retain(|it| !it.records.iter().any(|record| own.contains(record)));
    let mut placed = Vec::new();
    for unit in gists.into_iter().take(most) {
        if let Some(place) = place_of(backends, open.space, &unit).await? {
            placed.push(Placed { place, unit });
        }
    }
    Ok(placed)
}

/// Returns in which reading a gist stands, and where.
async fn place_of(backends: &Backends, space: &SpaceId, gist: &Unit) -> Result<Option<GistRef>, PortError> {
    let first: Vec<RecordId> = gist.records.iter().take(1).copied().collect();
    let readings = backends.readings.of_records(space, &first).await?;
    let numbers = |it: &Reading| (0..GISTS_MAX).find(|number| UnitId::gist(it.id, *number) == gist.id);
    Ok(readings.iter().filter(|it| it.kind.is_passage()).find_map(|it| {
        Some(GistRef {
            first: *it.records.first()?,
            number: numbers(it)?,
        })
    }))
}
