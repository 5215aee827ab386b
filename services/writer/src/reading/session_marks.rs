//! Remembers how far sessions were read, so that a look at a session costs only as much as its new records.
//!
//! A mark is a hint that is checked at each look, not a guarantee. It is dropped if one of its readings was removed
//! or replaced (as after an erasure), or if a record appeared before its end. The whole session is then looked at.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, FixedOffset, Utc};
use domain::id::{ReadingId, RecordId, SessionId, SpaceId};

/// Maximum number of ids kept in the marks of all sessions; above it, all marks are dropped.
const IDS_MAX: usize = 200_000;

/// The key by which the records of a session are ordered.
pub(crate) type Order = (DateTime<FixedOffset>, u64, RecordId);

/// The end of the read part of a session, which starts at its first record.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    /// Creation time of the space, which distinguishes it from another space of the same name.
    pub(crate) created_at: DateTime<Utc>,
    /// Position up to which the records of the session were listed, in insertion order. `listed` are the records
    /// listed after it.
    pub(crate) cursor: u64,
    pub(crate) listed: BTreeSet<RecordId>,
    /// The first record of the session.
    pub(crate) first: Option<Order>,
    /// The last record of the last passage.
    pub(crate) end: Option<Order>,
    /// The readings of the passages, with the time each was made.
    pub(crate) readings: BTreeMap<ReadingId, DateTime<Utc>>,
    /// Readings of the session that do not belong to a passage.
    pub(crate) others: BTreeSet<ReadingId>,
}

impl Mark {
    /// Returns the mark of a session that was not read yet.
    pub(crate) fn at_start(created_at: DateTime<Utc>) -> Mark {
        Mark {
            created_at,
            cursor: 0,
            listed: BTreeSet::new(),
            first: None,
            end: None,
            readings: BTreeMap::new(),
            others: BTreeSet::new(),
        }
    }

    fn count_ids(&self) -> usize {
        1 + self.listed.len() + self.readings.len() + self.others.len()
    }
}

/// The marks of the sessions that this process has looked at.
#[derive(Debug, Default)]
pub(crate) struct SessionMarks(Mutex<StoredMarks>);

#[derive(Debug, Default)]
struct StoredMarks {
    marks: BTreeMap<(SpaceId, SessionId), Mark>,
    ids: usize,
}

impl SessionMarks {
    /// Removes and returns the mark of a session. After the look, the caller stores it again.
    pub(crate) fn take_mark(&self, space: &SpaceId, session: SessionId) -> Option<Mark> {
        let mut stored = self.lock_marks();
        let mark = stored.marks.remove(&(space.clone(), session))?;
        stored.ids = stored.ids.saturating_sub(mark.count_ids());
        Some(mark)
    }

    /// Stores the mark of a session.
    pub(crate) fn store_mark(&self, space: &SpaceId, session: SessionId, mark: Mark) {
        let mut stored = self.lock_marks();
        if stored.ids + mark.count_ids() > IDS_MAX {
            *stored = StoredMarks::default();
        }
        let ids = mark.count_ids();
        let former = stored.marks.insert((space.clone(), session), mark);
        stored.ids = (stored.ids + ids).saturating_sub(former.map_or(0, |it| it.count_ids()));
    }

    fn lock_marks(&self) -> MutexGuard<'_, StoredMarks> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_use_a_bounded_amount_of_memory() {
        let marks = SessionMarks::default();
        let space: SpaceId = "talk".parse().unwrap();
        let session = |number: usize| SessionId::from_name(&space, &number.to_string());
        let record = |number: usize| RecordId::from_external_id(&space, &number.to_string());
        let mut long = Mark::at_start(DateTime::UNIX_EPOCH);
        long.readings = (0..1_000)
            .map(|it| (ReadingId::of_passage(record(it)), DateTime::UNIX_EPOCH))
            .collect();
        for number in 0..300 {
            marks.store_mark(&space, session(number), long.clone());
            assert!(marks.lock_marks().ids <= IDS_MAX, "{number}");
        }
        assert!(marks.take_mark(&space, session(0)).is_none(), "all was forgotten once");
        assert!(marks.take_mark(&space, session(299)).is_some());
        assert!(marks.take_mark(&space, session(299)).is_none());
        marks.store_mark(&space, session(298), Mark::at_start(DateTime::UNIX_EPOCH));
        let counted: usize = marks.lock_marks().marks.values().map(Mark::count_ids).sum();
        assert_eq!(marks.lock_marks().ids, counted);
    }
}
