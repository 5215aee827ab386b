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

use crate::Error;
use crate::erasure::erase;
use crate::intake::long_texts;
use crate::segments::segment::{Segments, concerns_units, derive_segments, plan_segments, relation_key};
use crate::segments::stretch::Stretch;
use crate::store_access::window::{self, RecordOrder};

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
    pub(crate) async fn organise_message(self: Arc<Organiser>, message: UnitsWrittenV1) -> Result<(), Error> {
        let space = message.space;
        let ticket = self.tickets.fetch_add(1, Ordering::Relaxed);
        self.put_back(&space, vec![(ticket, message.units.clone())]);
        let _gate = self.gates[gate_index(&space)].lock().await;
        while self.is_waiting(&space, ticket) {
            let taken = TakenWork {
                organiser: &self,
                space: &space,
                work: self.take_oldest_work(&space),
            };
            let units: BTreeSet<UnitId> = taken.work.iter().flat_map(|(_, units)| units).copied().collect();
            let units: Vec<UnitId> = units.into_iter().collect();
            match self.organise_if_space_exists(&space, &units).await {
                Ok(()) => taken.mark_done(),
                Err(error) if error.kind().is_retryable() => {
                    // The bus delivers this message again; the others are still waiting.
                    drop(taken);
                    self.remove_ticket(&space, ticket);
                    return Err(error);
                }
                Err(error) => {
                    // One of the messages cannot be organised. Each is now tried alone, so that it does not affect
                    // the others.
                    debug!(error = &error as &dyn std::error::Error, %space, "not together");
                    drop(taken);
                    self.remove_ticket(&space, ticket);
                    return self.organise_if_space_exists(&space, &message.units).await;
                }
            }
        }
        Ok(())
    }

    async fn organise_if_space_exists(&self, space: &SpaceId, units: &[UnitId]) -> Result<(), Error> {
        let span = info_span!("organise", %space, units = units.len());
        match self.organise_units(space, units).instrument(span).await {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                debug!(%space, "the space was deleted, nothing to organise");
                Ok(())
            }
            outcome => outcome,
        }
    }

    async fn organise_units(&self, space: &SpaceId, units: &[UnitId]) -> Result<(), Error> {
        let mut sessions: BTreeMap<SessionId, BTreeSet<RecordOrder>> = BTreeMap::new();
        for unit in self.backends.graph.units(space, units).await? {
            let places = unit.records.iter().map(|it| (unit.observed_at, unit.ordinal, *it));
            sessions.entry(unit.session).or_default().extend(places);
        }
        for (session, fresh) in sessions {
            self.organise_session(space, session, &fresh).await?;
        }
        Ok(())
    }

    /// Organises a session, again if it changes meanwhile: another writer may have derived from fewer records and
    /// stored later, or a record may have been erased.
    async fn organise_session(
        &self,
        space: &SpaceId,
        session: SessionId,
        places: &BTreeSet<RecordOrder>,
    ) -> Result<(), Error> {
        let fresh: BTreeSet<RecordId> = places.iter().map(|it| it.2).collect();
        let mut stretches = window::read_stretches(&self.backends, space, session, places).await?;
        for _ in 0..ROUNDS_MAX {
            for stretch in &stretches {
                self.organise_stretch(space, stretch.clone(), &fresh).await?;
            }
            let later = window::read_stretches(&self.backends, space, session, places).await?;
            if later == stretches {
                break;
            }
            self.retract_missing_units(space, &stretches, &later).await?;
            stretches = later;
        }
        Ok(())
    }

    /// Retires units of records that are in `stretches` but not in `later` because they were erased.
    async fn retract_missing_units(
        &self,
        space: &SpaceId,
        stretches: &[Stretch],
        later: &[Stretch],
    ) -> Result<(), Error> {
        let ids = |all: &[Stretch]| -> BTreeSet<RecordId> {
            let records = all.iter().flat_map(|it| &it.records);
            records.map(|it| it.id).collect()
        };
        let missing: Vec<RecordId> = ids(stretches).difference(&ids(later)).copied().collect();
        if missing.is_empty() {
            return Ok(());
        }
        erase::retract_orphaned_units(&self.backends, space, &missing).await?;
        let records = stretches.iter().flat_map(|it| &it.records);
        let missing = records.filter(|it| missing.contains(&it.id));
        Ok(long_texts::retire_orphaned(&self.backends, space, missing).await?)
    }

    async fn organise_stretch(
        &self,
        space: &SpaceId,
        stretch: Stretch,
        fresh: &BTreeSet<RecordId>,
    ) -> Result<(), Error> {
        let graph = &self.backends.graph;
        let own = fresh.clone();
        let (stretch, plan, ids) = host::spawn_background(move || {
            let plan = plan_segments(&stretch, &own);
            let ids = plan.unit_ids(&stretch);
            (stretch, plan, ids)
        })
        .await?;
        let stored: BTreeMap<UnitId, Unit> = graph
            .units(space, &ids)
            .await?
            .into_iter()
            .map(|it| (it.id, it))
            .collect();
        let segments = host::spawn_background(move || derive_segments(&stretch, &plan, &stored)).await?;
        let (withdrawn, changed) = self.compare_relations(space, &segments).await?;
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
    async fn compare_relations(
        &self,
        space: &SpaceId,
        segments: &Segments,
    ) -> Result<(Vec<Relation>, Vec<Relation>), Error> {
        let touched: BTreeSet<UnitId> = segments.touched.iter().chain(&segments.retired).copied().collect();
        let ids: Vec<UnitId> = touched.iter().copied().collect();
        let limit = ids.len() * RELATIONS_A_UNIT;
        let mut stored = self.backends.graph.relations(space, &ids, limit).await?;
        stored.retain(|it| concerns_units(it, &touched));
        let stored: BTreeMap<_, Relation> = stored.into_iter().map(|it| (relation_key(&it), it)).collect();
        let derived: BTreeSet<_> = segments.relations.iter().map(relation_key).collect();
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
            .filter(|it| stored.get(&relation_key(it)) != Some(it))
            .cloned()
            .collect();
        Ok((withdrawn, changed))
    }

    fn lock_waiting(&self) -> MutexGuard<'_, BTreeMap<SpaceId, BTreeMap<u64, Vec<UnitId>>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put_back(&self, space: &SpaceId, work: Work) {
        self.lock_waiting().entry(space.clone()).or_default().extend(work);
    }

    fn is_waiting(&self, space: &SpaceId, ticket: u64) -> bool {
        self.lock_waiting()
            .get(space)
            .is_some_and(|it| it.contains_key(&ticket))
    }

    fn remove_ticket(&self, space: &SpaceId, ticket: u64) {
        let mut waiting = self.lock_waiting();
        let Some(work) = waiting.get_mut(space) else { return };
        work.remove(&ticket);
        if work.is_empty() {
            waiting.remove(space);
        }
    }

    /// Takes the messages that have waited longest, at least one, up to the limit of units.
    fn take_oldest_work(&self, space: &SpaceId) -> Work {
        let mut waiting = self.lock_waiting();
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
struct TakenWork<'a> {
    organiser: &'a Organiser,
    space: &'a SpaceId,
    work: Work,
}

impl TakenWork<'_> {
    fn mark_done(mut self) {
        self.work.clear();
    }
}

impl Drop for TakenWork<'_> {
    fn drop(&mut self) {
        if !self.work.is_empty() {
            self.organiser.put_back(self.space, std::mem::take(&mut self.work));
        }
    }
}

fn gate_index(space: &SpaceId) -> usize {
    let mut hasher = DefaultHasher::new();
    space.hash(&mut hasher);
    usize::try_from(hasher.finish() % GATES as u64).unwrap_or_default()
}
