//! Turn units to event units and relations, beside the intake and behind it.
//!
//! Many messages may wait at once; whoever gets the gate of the space does the work of all that wait. Work that fails goes
//! back before the gate opens, so a message is settled only when its records have been organised.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use domain::id::{RecordId, SessionId, SpaceId, UnitId};
use domain::message::UnitsWrittenV1;
use domain::relation::Relation;
use domain::unit::Unit;
use domain::{Classify, ErrorKind};
use host::Backends;
use tracing::{Instrument, debug, info_span};

use crate::segment::{Segments, Stretch, concerns, key, plan, segment};
use crate::window::Place;
use crate::{Error, window};

/// Spaces that can be organised at once at most; two spaces share a gate now and then.
const GATES: usize = 32;
/// Most units whose records are read in one step.
const UNITS_AT_ONCE: usize = 500;
/// Most relations read for one unit, on average.
const RELATIONS_A_UNIT: usize = 64;
/// How often a stretch that grew while it was organised is done again before its next message has to do it.
const ROUNDS_MAX: usize = 3;

/// The work that waits, and the gates before it.
pub(crate) struct Organiser {
    backends: Backends,
    /// Units by message, so that those of one session stay together.
    waiting: Mutex<BTreeMap<SpaceId, VecDeque<Vec<UnitId>>>>,
    gates: Vec<tokio::sync::Mutex<()>>,
}

impl Organiser {
    pub(crate) fn new(backends: Backends) -> Organiser {
        let gates = (0..GATES).map(|_| tokio::sync::Mutex::new(())).collect();
        Organiser {
            backends,
            waiting: Mutex::default(),
            gates,
        }
    }

    /// Organises the sessions of the units written, together with all that waits for the space.
    pub(crate) async fn organise(self: Arc<Organiser>, message: UnitsWrittenV1) -> Result<(), Error> {
        let space = message.space;
        self.put_back(&space, vec![message.units]);
        let _gate = self.gates[gate(&space)].lock().await;
        loop {
            let taken = Taken {
                organiser: &self,
                space: &space,
                messages: self.take(&space),
            };
            let units: BTreeSet<UnitId> = taken.messages.iter().flatten().copied().collect();
            if units.is_empty() {
                return Ok(());
            }
            let units: Vec<UnitId> = units.into_iter().collect();
            let span = info_span!("organise", %space, units = units.len());
            match self.units(&space, &units).instrument(span).await {
                Ok(()) => taken.done(),
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    debug!(%space, "space is gone, nothing to organise");
                    taken.done();
                }
                Err(error) => return Err(error),
            }
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

    /// Does it again while the session grows: another writer may have derived from fewer records and stored later.
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
            stretches = later;
        }
        Ok(())
    }

    async fn stretch(&self, space: &SpaceId, stretch: Stretch, fresh: &BTreeSet<RecordId>) -> Result<(), Error> {
        let graph = &self.backends.graph;
        let own = fresh.clone();
        let (stretch, plan, ids) = tokio::task::spawn_blocking(move || {
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
        let segments = tokio::task::spawn_blocking(move || segment(&stretch, &plan, &stored)).await?;
        let (withdrawn, changed) = self.compared(space, &segments).await?;
        // Before their units go: the store shows no relations of units that are gone, and they would come back with them.
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

    /// Returns the stored relations that are none any more, with weight 0, and those that are not stored as they are.
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

    fn put_back(&self, space: &SpaceId, messages: Vec<Vec<UnitId>>) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let messages = messages.into_iter().filter(|it| !it.is_empty());
        waiting.entry(space.clone()).or_default().extend(messages);
    }

    /// Takes the messages that wait longest, at least one and as many as fit.
    fn take(&self, space: &SpaceId) -> Vec<Vec<UnitId>> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(messages) = waiting.get_mut(space) else {
            return Vec::new();
        };
        let (mut out, mut units) = (Vec::new(), 0);
        while let Some(message) = messages.pop_front_if(|it| units == 0 || units + it.len() <= UNITS_AT_ONCE) {
            units += message.len();
            out.push(message);
        }
        if messages.is_empty() {
            waiting.remove(space);
        }
        out
    }
}

/// Work taken out of the queue. It goes back unless it was done, also when the task is dropped on the way.
struct Taken<'a> {
    organiser: &'a Organiser,
    space: &'a SpaceId,
    messages: Vec<Vec<UnitId>>,
}

impl Taken<'_> {
    fn done(mut self) {
        self.messages.clear();
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        if !self.messages.is_empty() {
            self.organiser.put_back(self.space, std::mem::take(&mut self.messages));
        }
    }
}

fn gate(space: &SpaceId) -> usize {
    let mut hasher = DefaultHasher::new();
    space.hash(&mut hasher);
    usize::try_from(hasher.finish() % GATES as u64).unwrap_or_default()
}
