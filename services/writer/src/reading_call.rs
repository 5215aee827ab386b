//! One passage, read with one call.

use std::collections::BTreeSet;

use chrono::{NaiveTime, Utc};
use domain::id::{ReadingId, RecordId, SpaceId, UnitId};
use domain::message::UnitsOrganisedV1;
use domain::port::{ModelAllowance, Position, Search};
use domain::reading::{GistRef, Reading, ReadingKind, ReadingOutcome};
use domain::record::Record;
use domain::unit::{Grain, Status, Unit};
use domain::{ErrorKind, PortError};
use host::{Backends, clock};
use tracing::{debug, info};

use crate::reading::derive::{Derived, GISTS_MAX};
use crate::reading::prompt::{EarlierGist, PROMPT, Shown, digest, prompt};
use crate::reading::reply::parse;
use crate::reading_worker::{AWAY, Model, Read, ReadingWorker};
use crate::{Error, reading_store};

/// Calls for one passage: a reply that cannot be read is asked for once more.
const CALLS: u32 = 2;
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

impl ReadingWorker {
    /// Has the model read a passage, stores what it said and what follows from that, and tells the clusterer.
    pub(crate) async fn passage(&self, model: &Model, open: &OpenPassage<'_>) -> Result<Read, Error> {
        let backends = &self.context.backends;
        let Some(allow) = self.allowance(open.space).await? else {
            debug!(space = %open.space, "the budget of the day is spent, reading waits");
            return Ok(Read::Later(tomorrow()));
        };
        let id = ReadingId::derive(open.records[0].id);
        let most = self.config.earlier_gists.min(EARLIER_MAX);
        let earlier = match most {
            0 => Vec::new(),
            _ => earlier_gists(backends, open, most).await?,
        };
        let shown: Vec<EarlierGist> = earlier.iter().map(earlier_gist).collect();
        let chat = prompt(&Shown {
            before: &open.before,
            records: &open.records,
            earlier: &shown,
        });
        let readable = |text: &str| parse(text).map(|_| text.to_owned());
        let asked = model.asker.ask(&chat, allow, |it| readable(&it.text)).await;
        let (output, failure) = match (asked.outcome, asked.failure) {
            (Ok(text), _) => (text, None),
            (Err(why), Some(kind)) if is_away(kind) && !(kind == ErrorKind::Timeout && self.is_too_late(id)) => {
                debug!(why, space = %open.space, "the language model is away, reading waits");
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
            beside: beside(open, &earlier),
            earlier: earlier.iter().map(|it| it.place).collect(),
            digest: digest(&[], &open.records),
            prompt: PROMPT.to_owned(),
            model: model.name.clone(),
            at: clock::now(),
            output,
            failure,
            outcome: ReadingOutcome::default(),
            spent,
        };
        reading.outcome = outcome(reading_store::derived(backends, open.space, &reading).await?);
        self.store(open.space, reading).await?;
        Ok(Read::Done)
    }

    async fn store(&self, space: &SpaceId, reading: Reading) -> Result<(), Error> {
        let backends = &self.context.backends;
        if let Some(why) = &reading.failure {
            info!(why, %space, reading = %reading.id, "nothing was read of a passage");
        }
        if backends
            .readings
            .put(space, std::slice::from_ref(&reading))
            .await?
            .is_empty()
        {
            debug!(%space, "a record was erased while it was read; what was said of it is dropped");
            return Ok(());
        }
        reading_store::put_gists(backends, space, &reading).await?;
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

fn outcome(derived: Derived) -> ReadingOutcome {
    let Derived {
        units,
        relations,
        left_out,
    } = derived;
    let count = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
    ReadingOutcome {
        gists: count(units.len()),
        facts: count(units.iter().map(|it| it.stated.len()).sum()),
        relations: count(relations.len()),
        left_out,
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
