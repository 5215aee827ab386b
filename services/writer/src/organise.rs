//! Derives event units and relations from turn units, independently of the intake and after it.
//!
//! Many messages may wait at once; the task that gets the lock of the space does the work of all of them. Failed work
//! is put back before the lock is released, so a message is settled only after its records were organised.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::id::{RecordId, SessionId, SpaceId, UnitId};
use domain::message::UnitsWrittenV1;
use domain::relation::Relation;
use domain::unit::Unit;
use domain::{Classify, ErrorKind};
use host::Backends;
use tracing::{Instrument, debug, info_span};

use crate::segment::{Segments, Stretch, concerns, key, plan, segment};
use crate::window::Place;
use crate::{Error, erase, long_texts, window};

/// Number of locks that serialise work on a space. Two spaces sometimes share a lock.
const GATES: usize = 32;
/// Maximum number of units whose records are read in one step.
const UNITS_AT_ONCE: usize = 500;
/// Maximum number of relations read per unit, on average.
const RELATIONS_A_UNIT: usize = 64;
/// Number of times a stretch is organised again because it grew in the meantime, before that is left to the next
/// message.
const ROUNDS_MAX: usize = 3;

/// The queue of waiting work, and the locks of spaces.
pub(crate) struct Organiser {
    backends: Backends,
    /// Units by message, in order of arrival, so that the units of one session stay together.
    waiting: Mutex<BTreeMap<SpaceId, BTreeMap<u64, Vec<UnitId>>>>,
    tickets: AtomicU64,
    gates: Vec<tokio::sync::Mutex<()>>,
}

impl Organiser {
    pub(crate) fn new(backends: Backends) -> Organiser {
        let gates = (0..GATES).map(|_| tokio::sync::Mutex::new(())).collect();
        Organiser {
            backends,
            waiting: Mutex::default(),
            tickets: AtomicU64::new(0),
            gates,
        }
    }

    /// Organises the sessions of the written units, together with all work that waits for the same space.
    pub(crate) async fn organise(self: Arc<Organiser>, message: UnitsWrittenV1) -> Result<(), Error> {
        let space = message.space;
        let ticket = self.tickets.fetch_add(1, Ordering::Relaxed);
        self.put_back(&space, vec![(ticket, message.units.clone())]);
        let _gate = self.gates[gate(&space)].lock().await;
        while self.waits(&space, ticket) {
            let taken = Taken {
                organiser: &self,
                space: &space,
                work: self.take(&space),
            };
            let units: BTreeSet<UnitId> = taken.work.iter().flat_map(|(_, units)| units).copied().collect();
            let units: Vec<UnitId> = units.into_iter().collect();
            match self.settled(&space, &units).await {
                Ok(()) => taken.done(),
                Err(error) if error.kind().may_pass() => {
                    // The bus delivers this message again; the others are still waiting.
                    drop(taken);
                    self.forget(&space, ticket);
                    return Err(error);
                }
                Err(error) => {
                    // One of the messages cannot be organised. Each is now tried alone, so that it does not affect
                    // the others.
                    debug!(error = &error as &dyn std::error::Error, %space, "not together");
                    drop(taken);
                    self.forget(&space, ticket);
                    return self.settled(&space, &message.units).await;
                }
            }
        }
        Ok(())
    }

    async fn settled(&self, space: &SpaceId, units: &[UnitId]) -> Result<(), Error> {
        let span = info_span!("organise", %space, units = units.len());
        match self.units(space, units).instrument(span).await {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                debug!(%space, "space is gone, nothing to organise");
                Ok(())
            }
            outcome => outcome,
        }
    }

    async fn units(&self, space: &SpaceId, units: &[UnitId]) -> Result<(), Error> {
        let mut sessions: BTreeMap<SessionId, BTreeSet<Place>> = BTreeMap::new();
        for unit in self.backends.graph.units(space, units).await? {
            let places = unit.records.iter().map(|it| (unit.observed_at, unit.ordinal, *it));
            sessions.entry(unit.session).or_default().extend(places);
        }
        for (session, fresh) in sessions {
            self.session(space, session, &fresh).await?;
        }
        Ok(())
    }

    /// Organises a session, again if it changes meanwhile: another writer may have derived from fewer records and
    /// stored later, or a record may have been erased.
    async fn session(&self, space: &SpaceId, session: SessionId, places: &BTreeSet<Place>) -> Result<(), Error> {
        let fresh: BTreeSet<RecordId> = places.iter().map(|it| it.2).collect();
        let mut stretches = window::around(&self.backends, space, session, places).await?;
        for _ in 0..ROUNDS_MAX {
            for stretch in &stretches {
                self.stretch(space, stretch.clone(), &fresh).await?;
            }
            let later = window::around(&self.backends, space, session, places).await?;
            if later == stretches {
                break;
            }
            self.recalled(space, &stretches, &later).await?;
            stretches = later;
        }
        Ok(())
    }

    /// Retires units of records that are in `stretches` but not in `later` because they were erased.
    async fn recalled(&self, space: &SpaceId, stretches: &[Stretch], later: &[Stretch]) -> Result<(), Error> {
        let ids = |all: &[Stretch]| -> BTreeSet<RecordId> {
            let records = all.iter().flat_map(|it| &it.records);
            records.map(|it| it.id).collect()
        };
        let missing: Vec<RecordId> = ids(stretches).difference(&ids(later)).copied().collect();
        if missing.is_empty() {
            return Ok(());
        }
        erase::recalled(&self.backends, space, &missing).await?;
        let records = stretches.iter().flat_map(|it| &it.records);
        let missing = records.filter(|it| missing.contains(&it.id));
        Ok(long_texts::retire_orphaned(&self.backends, space, missing).await?)
    }

    async fn stretch(&self, space: &SpaceId, stretch: Stretch, fresh: &BTreeSet<RecordId>) -> Result<(), Error> {
        let graph = &self.backends.graph;
        let own = fresh.clone();
        let (stretch, plan, ids) = host::background(move || {
            let plan = plan(&stretch, &own);
            let ids = plan.units(&stretch);
            (stretch, plan, ids)
        })
        .await?;
        let stored: BTreeMap<UnitId, Unit> = graph
            .units(space, &ids)
            .await?
            .into_iter()
            .map(|it| (it.id, it))
            .collect();
        let segments = host::background(move || segment(&stretch, &plan, &stored)).await?;
        let (withdrawn, changed) = self.compared(space, &segments).await?;
        // Relations are withdrawn first: the store does not list relations of retired units, and they would reappear
        // if the units did.
        if !withdrawn.is_empty() {
            graph.put_relations(space, &withdrawn).await?;
        }
        if !segments.units.is_empty() || !segments.retired.is_empty() {
            graph.put_units(space, &segments.units, &segments.retired).await?;
        }
        if !changed.is_empty() {
            graph.put_relations(space, &changed).await?;
        }
        Ok(())
    }

    /// Returns the stored relations that are no longer derived, with weight 0, and the derived relations that differ
    /// from the stored ones.
    async fn compared(&self, space: &SpaceId, segments: &Segments) -> Result<(Vec<Relation>, Vec<Relation>), Error> {
        let touched: BTreeSet<UnitId> = segments.touched.iter().chain(&segments.retired).copied().collect();
        let ids: Vec<UnitId> = touched.iter().copied().collect();
        let limit = ids.len() * RELATIONS_A_UNIT;
        let mut stored = self.backends.graph.relations(space, &ids, limit).await?;
        stored.retain(|it| concerns(it, &touched));
        let stored: BTreeMap<_, Relation> = stored.into_iter().map(|it| (key(&it), it)).collect();
        let derived: BTreeSet<_> = segments.relations.iter().map(key).collect();
        let withdrawn = stored
            .iter()
            .filter(|(key, _)| !derived.contains(key))
            .map(|(_, it)| it);
        let withdrawn = withdrawn
            .map(|it| Relation {
                weight: 0.0,
                ..it.clone()
            })
            .collect();
        let changed = segments
            .relations
            .iter()
            .filter(|it| stored.get(&key(it)) != Some(it))
            .cloned()
            .collect();
        Ok((withdrawn, changed))
    }

    fn waiting(&self) -> MutexGuard<'_, BTreeMap<SpaceId, BTreeMap<u64, Vec<UnitId>>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put_back(&self, space: &SpaceId, work: Work) {
        self.waiting().entry(space.clone()).or_default().extend(work);
    }

    fn waits(&self, space: &SpaceId, ticket: u64) -> bool {
        self.waiting().get(space).is_some_and(|it| it.contains_key(&ticket))
    }

    fn forget(&self, space: &SpaceId, ticket: u64) {
        let mut waiting = self.waiting();
        let Some(work) = waiting.get_mut(space) else { return };
        work.remove(&ticket);
        if work.is_empty() {
            waiting.remove(space);
        }
    }

    /// Takes the messages that have waited longest, at least one, up to the limit of units.
    fn take(&self, space: &SpaceId) -> Work {
        let mut waiting = self.waiting();
        let Some(work) = waiting.get_mut(space) else {
            return Vec::new();
        };
        let (mut out, mut units) = (Vec::new(), 0);
        while let Some(first) = work.first_entry() {
            units += first.get().len();
            if !out.is_empty() && units > UNITS_AT_ONCE {
                break;
            }
            out.push(first.remove_entry());
        }
        if work.is_empty() {
            waiting.remove(space);
        }
        out
    }
}

/// Units of messages, by ticket.
type Work = Vec<(u64, Vec<UnitId>)>;

/// Work taken from the queue. It is put back unless it was done, even if the task is dropped meanwhile.
struct Taken<'a> {
    organiser: &'a Organiser,
    space: &'a SpaceId,
    work: Work,
}

impl Taken<'_> {
    fn done(mut self) {
        self.work.clear();
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        if !self.work.is_empty() {
            self.organiser.put_back(self.space, std::mem::take(&mut self.work));
        }
    }
}

fn gate(space: &SpaceId) -> usize {
    let mut hasher = DefaultHasher::new();
    space.hash(&mut hasher);
    usize::try_from(hasher.finish() % GATES as u64).unwrap_or_default()
}
