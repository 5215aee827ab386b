use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::{DateTime, FixedOffset, Utc};
use domain::id::{RecordId, SessionId, UnitId};
use domain::time::TimeSpan;
use domain::unit::Unit;

use super::MemoryAsOf;
use super::posting_lists::Posts;

/// The stored fields of an event unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The id of the unit.
    pub id: UnitId,
    /// The session the event belongs to.
    pub session: SessionId,
    /// The records that the event came from, in session order.
    pub records: Vec<RecordId>,
    /// The callers' ids of `records`.
    pub external_ids: Vec<String>,
    /// Time at which the first record of the event was observed.
    pub observed_at: DateTime<FixedOffset>,
    /// Position inside the session, after `observed_at`.
    pub ordinal: u64,
    /// The person who acted; empty if there were several.
    pub actor: String,
    /// A summary in which names and times are resolved.
    pub summary: String,
    /// Times named in the event.
    pub times: Vec<TimeSpan>,
    /// The speakers, then other people who are named.
    pub participants: Vec<String>,
    /// The place or source, if it was stated.
    pub location: String,
    /// At most two words that name the subject of the event.
    pub tag: String,
    /// Lower-case keywords that lead to the event.
    pub cues: Vec<String>,
}

/// Event units, and the turns that they hold.
#[derive(Clone, Default)]
pub(super) struct Events {
    all: BTreeMap<UnitId, Arc<Event>>,
    by_time: BTreeSet<(DateTime<Utc>, UnitId)>,
    holding: Posts<UnitId, UnitId>,
    /// The first turn unit of a record, by each further turn unit of it. An event that holds a record holds all its
    /// turn units.
    first: BTreeMap<UnitId, UnitId>,
    bytes: usize,
}

impl Events {
    pub(super) fn put_event(&mut self, unit: &Unit) {
        self.remove_event(unit.id);
        let event = Event {
            id: unit.id,
            session: unit.session,
            records: unit.records.clone(),
            external_ids: unit.external_ids.clone(),
            observed_at: unit.observed_at,
            ordinal: unit.ordinal,
            actor: unit.actor.clone(),
            summary: unit.summary.clone(),
            times: unit.times.clone(),
            participants: unit.participants.clone(),
            location: unit.location.clone(),
            tag: unit.tag.clone(),
            cues: unit.cues.clone(),
        };
        self.update_index(&event, true);
        self.all.insert(event.id, Arc::new(event));
    }

    pub(super) fn remove_event(&mut self, id: UnitId) {
        if let Some(old) = self.all.remove(&id) {
            self.update_index(&old, false);
        }
    }

    pub(super) fn get(&self, id: UnitId) -> Option<&Arc<Event>> {
        self.all.get(&id)
    }

    pub(super) fn has_event(&self, id: UnitId) -> bool {
        self.all.contains_key(&id)
    }

    /// Returns the events that hold a turn, by id; usually there is one.
    pub(super) fn holders_of_turn(&self, turn: UnitId) -> impl Iterator<Item = UnitId> + '_ {
        self.holding.values_of_key(&self.first_of_record(turn))
    }

    /// Returns the first turn unit of the record that a turn unit belongs to. Only further parts of a long record have
    /// another one than themselves.
    pub(super) fn first_of_record(&self, turn: UnitId) -> UnitId {
        self.first.get(&turn).copied().unwrap_or(turn)
    }

    /// Returns the turn units of a record, in order: the first one, whether it exists or not, and all further ones that
    /// are active.
    pub(super) fn turns_of_record(&self, record: RecordId) -> impl Iterator<Item = UnitId> + '_ {
        let first = UnitId::of_turn(record);
        let further = self.first.range(first..=first.last_part()).map(|it| *it.0);
        std::iter::once(first).chain(further)
    }

    /// Remembers which record an active turn unit belongs to, or forgets a turn unit that is not active any more.
    pub(super) fn note_turn(&mut self, unit: &Unit, used: bool) {
        let first = unit.records.first().map(|it| UnitId::of_turn(*it));
        match first.filter(|it| used && *it != unit.id) {
            Some(first) => self.first.insert(unit.id, first),
            None => self.first.remove(&unit.id),
        };
    }

    pub(super) fn size_in_bytes(&self) -> usize {
        self.bytes + self.by_time.len() * 32 + self.holding.size_in_bytes() + self.first.len() * 48
    }

    fn update_index(&mut self, event: &Event, add: bool) {
        let key = (event.observed_at.to_utc(), event.id);
        if add {
            self.by_time.insert(key);
        } else {
            self.by_time.remove(&key);
        }
        for record in &event.records {
            self.holding.add_or_remove(UnitId::of_turn(*record), event.id, add);
        }
        let words = [&event.external_ids, &event.participants, &event.cues];
        let words: usize = words.into_iter().flatten().map(|it| 24 + it.len()).sum();
        let size = 320 + event.summary.len() + 16 * event.records.len() + 80 * event.times.len() + words;
        self.bytes = if add { self.bytes + size } else { self.bytes - size };
    }
}

impl<'a> MemoryAsOf<'a> {
    /// Returns an event unit, merged or not. It becomes known when all its turns are known. It is not returned if it or
    /// one of its turns is forgotten.
    pub fn find_event(self, id: UnitId) -> Option<&'a Event> {
        let MemoryAsOf { memory, .. } = self;
        let event = memory.events.get(id)?;
        let mut turns = event.records.iter().map(|it| UnitId::of_turn(*it));
        let later = |it: UnitId| {
            memory
                .cues
                .observation_time(it)
                .is_some_and(|at| !self.covers_moment(at))
        };
        let known = self.as_of.is_none() || self.covers_moment(event.observed_at.to_utc()) && !turns.any(later);
        (known && self.may_show_unit(id)).then_some(&**event)
    }

    /// Returns the event units by when they were observed, ties by id. Events that were merged into another one are
    /// left out.
    pub fn all_events(self) -> impl DoubleEndedIterator<Item = &'a Event> {
        let ids = self.memory.events.by_time.iter().map(|it| it.1);
        let unmerged = ids.filter(move |it| self.merge_target_of_unit(*it) == *it);
        unmerged.filter_map(move |it| self.find_event(it))
    }

    /// Returns the event that holds a turn. If the event was merged into another one, returns that one.
    pub fn event_of(self, turn: UnitId) -> Option<UnitId> {
        let event = self.memory.events.holders_of_turn(turn).next()?;
        let merge_target = self.merge_target_of_unit(event);
        [merge_target, event]
            .into_iter()
            .find(|it| self.find_event(*it).is_some())
    }
}
