//! Looks at a session passage by passage, beginning after the passages that are known to be read.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use chrono::{DateTime, Utc};
use domain::PortError;
use domain::id::{ReadingId, RecordId, SessionId, SpaceId};
use domain::port::{Room, Selection};
use domain::reading::Reading;
use domain::record::Record;
use host::Backends;

use crate::reading::passage::{Brief, Passage, divide_session};
use crate::reading::prompts::prompt::PROMPT;
use crate::reading::session_marks::{Mark, Order};
use crate::session_reading::passages::second_look::waits_for_second_look;
use crate::session_reading::reading_store;

/// Number of records read in one step in session order. It exceeds the maximum of a passage, so that at least one
/// passage ends in each step, and is about the number of records read in a turn.
const AT_ONCE: usize = 128;
/// Number of records listed in one step in insertion order. At most this many are listed again at the next look.
const LISTED_AT_ONCE: usize = 64;
/// Number of records before a passage that the model is shown as context.
const BEFORE: usize = 4;

#[cfg(test)]
mod tests;

/// A look at a session.
pub(crate) struct SessionLook<'a> {
    backends: &'a Backends,
    space: &'a SpaceId,
    session: SessionId,
    is_over: bool,
    /// The read part of the session.
    mark: Mark,
    /// The readings of the session when the look began, with the time each was made.
    versions: BTreeMap<ReadingId, DateTime<Utc>>,
    /// The start of the next step.
    from: Option<Start>,
    window: Window,
    /// The readings of the passages of the window whose model was shown the current captions.
    stored: BTreeMap<ReadingId, Reading>,
    /// The readings of these passages whose model was shown other captions.
    outdated: BTreeMap<ReadingId, Reading>,
    /// Ids of the readings of the passages so far, stored or not.
    met: BTreeSet<ReadingId>,
    /// The passage that was returned last, if it may be marked as read.
    pending: Option<Pending>,
    /// True if all passages so far are marked as read.
    is_contiguous: bool,
    records_read: usize,
}

/// The first record of a step.
#[derive(Clone, Copy)]
enum Start {
    /// This record.
    At(RecordId),
    /// The record after this one.
    Behind(RecordId),
}

/// Records that were read in one step. Some of them precede its passages.
#[derive(Default)]
struct Window {
    briefs: Vec<Brief>,
    passages: VecDeque<Passage>,
    /// True if the session ends with it.
    is_last: bool,
}

struct Pending {
    end: Order,
    reading: ReadingId,
    at: DateTime<Utc>,
}

/// The next part of a session.
#[derive(Debug, PartialEq)]
pub(crate) enum Step {
    /// A passage that was read with the current prompt.
    Known(Box<Reading>),
    /// A closed passage that was not read in its current form.
    Unread(Box<UnreadPassage>),
    /// The end of the session; its last passage may be open.
    End { is_open: bool },
    /// A record was erased in the meantime; a new look is needed.
    Lost,
}

/// A passage to be read.
#[derive(Debug, PartialEq)]
pub(crate) struct UnreadPassage {
    /// The records before it, which the model needs as context.
    pub(crate) before: Vec<RecordId>,
    /// The records of the passage.
    pub(crate) records: Vec<RecordId>,
    /// Former reading of the passage, made of other records or with another prompt.
    pub(crate) former: Option<Reading>,
}

impl<'a> SessionLook<'a> {
    /// Starts to examine a session, after its mark if the mark is still valid. `is_over` means that nothing more will be
    /// written to the session. Returns `None` if the space was deleted.
    pub(crate) async fn begin_after_mark(
        backends: &'a Backends,
        space: &'a SpaceId,
        session: SessionId,
        mark: Option<Mark>,
        is_over: bool,
    ) -> Result<Option<SessionLook<'a>>, PortError> {
        let Some(info) = backends.records.space(space).await? else {
            return Ok(None);
        };
        let versions = backends.readings.versions(space, session).await?;
        let versions: BTreeMap<ReadingId, DateTime<Utc>> = versions.iter().map(|it| (it.id, it.at)).collect();
        let is_stored = |mark: &Mark| mark.readings.iter().all(|(id, at)| versions.get(id) == Some(at));
        let mark = mark.filter(|it| it.created_at == info.created_at && is_stored(it));
        let mut look = SessionLook {
            backends,
            space,
            session,
            is_over,
            mark: mark.unwrap_or_else(|| Mark::at_start(info.created_at)),
            versions,
            from: None,
            window: Window::default(),
            stored: BTreeMap::new(),
            outdated: BTreeMap::new(),
            met: BTreeSet::new(),
            pending: None,
            is_contiguous: true,
            records_read: 0,
        };
        if !look.list_new().await? {
            look.mark = Mark::at_start(info.created_at);
            look.list_new().await?;
        }
        look.from = match (look.mark.end, look.mark.first) {
            (Some((_, _, end)), _) => Some(Start::Behind(end)),
            (None, Some((_, _, first))) => Some(Start::At(first)),
            (None, None) => None,
        };
        Ok(Some(look))
    }

    /// Returns the next part. The caller has processed the part before it.
    ///
    /// Removes readings of passages that no longer exist: those that begin inside a current passage when that passage
    /// is reached, and all others at the end of the session.
    pub(crate) async fn next_step(&mut self) -> Result<Step, PortError> {
        self.mark_pending();
        loop {
            if let Some(passage) = self.window.passages.pop_front() {
                if passage.is_closed {
                    return Ok(self.step_of_passage(&passage));
                }
                self.remove_leftovers().await?;
                return Ok(Step::End { is_open: true });
            }
            let Some(from) = self.from.filter(|_| !self.window.is_last) else {
                self.remove_leftovers().await?;
                return Ok(Step::End { is_open: false });
            };
            if !self.load_step(from).await? {
                self.mark = Mark::at_start(self.mark.created_at);
                return Ok(Step::Lost);
            }
        }
    }

    /// Ends the look. Returns the mark for the next one and the number of records read; records read twice count
    /// twice.
    pub(crate) fn into_mark(self) -> (Mark, usize) {
        (self.mark, self.records_read)
    }

    fn step_of_passage(&mut self, passage: &Passage) -> Step {
        let briefs = &self.window.briefs;
        let own = &briefs[passage.places.clone()];
        let id = ReadingId::of_passage(own[0].id);
        let records = record_ids(own);
        let former = self.stored.remove(&id);
        if let Some(reading) = former
            .as_ref()
            .filter(|it| it.records == records && it.prompt == PROMPT && !waits_for_second_look(it))
        {
            // The last passage may still grow, even if the session counts as over.
            let may_grow = self.window.is_last && passage.places.end == briefs.len();
            let at = self.versions.get(&id).copied();
            self.pending = own
                .last()
                .zip(at)
                .filter(|_| self.is_contiguous && !may_grow)
                .map(|(last, at)| Pending {
                    end: last.order,
                    reading: id,
                    at,
                });
            return Step::Known(Box::new(reading.clone()));
        }
        self.is_contiguous = false;
        let from = passage.places.start.saturating_sub(BEFORE);
        Step::Unread(Box::new(UnreadPassage {
            before: record_ids(&briefs[from..passage.places.start]),
            records,
            former: former.or_else(|| self.outdated.remove(&id)),
        }))
    }

    fn mark_pending(&mut self) {
        if let Some(Pending { end, reading, at }) = self.pending.take() {
            self.mark.end = Some(end);
            self.mark.readings.insert(reading, at);
        }
    }

    /// Removes readings of passages that do not exist, for example imported ones of a session that was divided
    /// differently.
    async fn remove_leftovers(&mut self) -> Result<(), PortError> {
        let Mark { readings, others, .. } = &mut self.mark;
        let is_known = |it: &ReadingId| readings.contains_key(it) || others.contains(it) || self.met.contains(it);
        let unknown: Vec<ReadingId> = self.versions.keys().filter(|it| !is_known(it)).copied().collect();
        if unknown.is_empty() {
            return Ok(());
        }
        let found = self.backends.readings.get(self.space, &unknown).await?;
        let (passages, of_others): (Vec<Reading>, Vec<Reading>) =
            found.into_iter().partition(|it| it.kind.is_passage());
        others.extend(of_others.iter().map(|it| it.id));
        let stale: Vec<ReadingId> = passages.iter().map(|it| it.id).collect();
        reading_store::remove_readings(self.backends, self.space, &stale).await
    }

    /// Lists the records that were stored since the mark was made. Returns false if one of them lies before its end.
    async fn list_new(&mut self) -> Result<bool, PortError> {
        let of = Selection {
            session: Some(self.session),
            ..Selection::default()
        };
        loop {
            let (records, room) = (&self.backends.records, Room::of_items(LISTED_AT_ONCE));
            let (page, next) = records.select(self.space, &of, self.mark.cursor, room).await?;
            self.records_read += page.len();
            let new = page.iter().filter(|it| !self.mark.listed.contains(&it.id));
            let new: Vec<Order> = new.map(Record::session_order_key).collect();
            if self.mark.end.is_some_and(|end| new.iter().any(|it| *it <= end)) {
                return Ok(false);
            }
            self.mark.first = new.into_iter().chain(self.mark.first).min();
            let Some(next) = next else {
                self.mark.listed = page.iter().map(|it| it.id).collect();
                return Ok(true);
            };
            self.mark.cursor = next;
        }
    }

    /// Reads the records of a step and the readings of its passages. Returns false if the first record of the step is
    /// gone.
    async fn load_step(&mut self, from: Start) -> Result<bool, PortError> {
        let Backends { records, readings, .. } = self.backends;
        let (around, before) = match from {
            Start::At(record) => (record, 1),
            Start::Behind(record) => (record, BEFORE),
        };
        let page = records
            .session(self.space, self.session, around, before, AT_ONCE)
            .await?;
        self.records_read += page.len();
        let briefs: Vec<Brief> = page.iter().map(Brief::from_record).collect();
        let Some(place) = briefs.iter().position(|it| it.id == around) else {
            return Ok(false);
        };
        let start = match from {
            Start::At(_) => place,
            Start::Behind(_) => place + 1,
        };
        let is_last = briefs.len() - (place + 1) < AT_ONCE;
        let mut found = divide_session(&briefs[start..], is_last && self.is_over);
        for passage in &mut found {
            passage.places = passage.places.start + start..passage.places.end + start;
        }
        // A passage that is open only because later records were not loaded is loaded again together with them.
        found.retain(|it| it.is_closed || is_last);
        self.from = found.last().map(|it| Start::Behind(briefs[it.places.end - 1].id));
        let firsts: Vec<ReadingId> = found
            .iter()
            .map(|it| ReadingId::of_passage(briefs[it.places.start].id))
            .collect();
        self.met.extend(firsts.iter().copied());
        let stored: Vec<ReadingId> = firsts.into_iter().filter(|it| self.versions.contains_key(it)).collect();
        let inner = found.iter().flat_map(|it| &briefs[it.places.start + 1..it.places.end]);
        let inner = inner.map(|it| ReadingId::of_passage(it.id));
        let stale: Vec<ReadingId> = inner.filter(|it| self.versions.contains_key(it)).collect();
        reading_store::remove_readings(self.backends, self.space, &stale).await?;
        let stored = readings.get(self.space, &stored).await?;
        let pictured = |it: &&Passage| briefs[it.places.clone()].iter().any(|it| it.has_uncaptioned_picture);
        let pictured: BTreeSet<ReadingId> = found
            .iter()
            .filter(pictured)
            .map(|it| ReadingId::of_passage(briefs[it.places.start].id))
            .collect();
        (self.stored, self.outdated) = (BTreeMap::new(), BTreeMap::new());
        for reading in stored {
            let is_current = !pictured.contains(&reading.id)
                || reading_store::is_as_shown(self.backends, self.space, &reading).await?;
            let readings = if is_current {
                &mut self.stored
            } else {
                &mut self.outdated
            };
            readings.insert(reading.id, reading);
        }
        self.window = Window {
            briefs,
            passages: found.into(),
            is_last,
        };
        Ok(true)
    }
}

fn record_ids(briefs: &[Brief]) -> Vec<RecordId> {
    briefs.iter().map(|it| it.id).collect()
}
