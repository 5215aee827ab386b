//! Polls one space, and compares it with its previous state.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use domain::PortError;
use domain::erasure::Receipt;
use domain::id::{ErasureId, SpaceId};
use domain::message::{Message, RecordsAcceptedV1};
use domain::port::{Position, SpaceInfo};

use super::space_event::{EventData, SpaceEvent};
use super::stream_position::StreamPosition;
use crate::app::state::App;
use crate::use_cases::administration::erasures;

/// Maximum difference between the clocks of the processes that complete erasures. A completed erasure is searched for
/// during this time.
const CLOCKS_APART: TimeDelta = TimeDelta::seconds(60);
/// Number of unsettled batches above which a space counts as not up to date, without a check of each batch.
const UNSETTLED_MAX: usize = 8;
/// Number of receipts read in one step.
const AT_ONCE: usize = 1_000;
/// Maximum number of unfinished deletions of one name; beyond it the oldest is removed.
const DELETED_MAX: usize = 16;

/// The state of one space at the last poll, and the reports so far.
pub(super) struct Watch {
    space: SpaceId,
    /// The space at the last poll; `None` if it is deleted.
    last_info: Option<SpaceInfo>,
    place: StreamPosition,
    /// Whether the state at the first poll is the starting point, which is not reported.
    begins_now: bool,
    /// Whether something changed or is pending: then the next poll reads more than the record of the space.
    busy: bool,
    /// Erasures that were reported, or were complete before the reports began, as far back as clocks may differ.
    reported: BTreeMap<ErasureId, DateTime<Utc>>,
    /// Whether `reported` was read.
    reported_read: bool,
    /// Creation times of spaces of this name whose deletion may be incomplete, oldest first.
    deleted: Vec<DateTime<Utc>>,
}

/// Progress of the work on a space.
struct Progress {
    /// Whether a batch before the greatest written one is not written.
    behind: bool,
    /// Whether all data from batches up to the greatest written one are derived.
    organised: bool,
    /// Whether no batch is pending.
    idle: bool,
}

impl Watch {
    /// Starts with the current state: only later events are reported.
    pub(super) fn from_now(info: &SpaceInfo, now: DateTime<Utc>) -> Watch {
        Watch {
            begins_now: true,
            ..Watch::from_place(&info.space, StreamPosition::before_first_event(info.created_at, now))
        }
    }

    /// Starts with a space that was created a moment ago: all its events are reported.
    pub(super) fn from_creation(info: &SpaceInfo) -> Watch {
        Watch::from_place(
            &info.space,
            StreamPosition::before_first_event(info.created_at, info.created_at),
        )
    }

    /// Continues from the place of a subscriber.
    pub(super) fn from_place(space: &SpaceId, place: StreamPosition) -> Watch {
        Watch {
            space: space.clone(),
            last_info: None,
            place,
            begins_now: false,
            busy: true,
            reported: BTreeMap::new(),
            reported_read: false,
            deleted: Vec::new(),
        }
    }

    pub(super) fn place(&self) -> &StreamPosition {
        &self.place
    }

    /// Returns true if the space is deleted and its erasure was reported.
    pub(super) fn is_over(&self) -> bool {
        self.last_info.is_none() && self.deleted.is_empty()
    }

    /// Polls the space and adds events to `found`. `info` is the current entry in the record store. Events that were
    /// added before an error are reported, and are not found again.
    ///
    /// # Errors
    /// Errors of the stores; the next poll continues.
    pub(super) async fn poll_events(
        &mut self,
        app: &App,
        info: Option<SpaceInfo>,
        found: &mut Vec<SpaceEvent>,
    ) -> Result<(), PortError> {
        self.note_changes(info.as_ref());
        if !self.busy && self.deleted.is_empty() {
            return Ok(());
        }
        let mut idle = true;
        if let Some(info) = &info {
            let progress = self.read_progress(app, info.written).await?;
            self.note_positions(&progress, info.written, found);
            idle = progress.idle;
        }
        self.note_erasures(app, found).await?;
        self.begins_now = false;
        self.busy = !idle;
        Ok(())
    }

    /// Updates the state from the entry in the record store.
    fn note_changes(&mut self, info: Option<&SpaceInfo>) {
        if self.last_info.as_ref() == info {
            return;
        }
        self.busy = true;
        let before = std::mem::replace(&mut self.last_info, info.cloned());
        let former_space = before.filter(|it| info.is_none_or(|info| info.created_at != it.created_at));
        if let Some(former_space) = former_space {
            self.deleted.push(former_space.created_at);
            if self.deleted.len() > DELETED_MAX {
                self.deleted.remove(0);
            }
        }
        if let Some(info) = info
            && info.created_at != self.place.created_at
        {
            self.place = StreamPosition::before_first_event(info.created_at, self.place.erased_at);
        }
    }

    /// Returns the progress from the queues. A batch is settled only after the writer has announced it, and derivation
    /// is settled only after its results are stored. So reading the queues in this order misses nothing.
    async fn read_progress(&self, app: &App, written: Position) -> Result<Progress, PortError> {
        let stores = app.stores();
        let subject = RecordsAcceptedV1::SUBJECT;
        let waiting = stores
            .bus
            .unsettled(subject, self.space.as_str(), UNSETTLED_MAX)
            .await?;
        let before: Vec<Position> = waiting.iter().copied().filter(|it| *it <= written).collect();
        let mut behind = before.len() == UNSETTLED_MAX;
        for position in &before {
            behind = behind || !stores.records.is_written(&self.space, *position).await?;
        }
        let organised = before.is_empty() && app.count_deriving_batches(&self.space).await? == 0;
        Ok(Progress {
            behind,
            organised,
            idle: organised && waiting.is_empty(),
        })
    }

    fn note_positions(&mut self, progress: &Progress, written: Position, found: &mut Vec<SpaceEvent>) {
        if !progress.behind && written > self.place.searchable {
            self.place.searchable = written;
            self.report_event(EventData::Searchable(written), host::clock::now(), found);
        }
        if progress.organised && written > self.place.organised {
            self.place.organised = written;
            self.report_event(EventData::Organised(written), host::clock::now(), found);
        }
    }

    fn report_event(&self, what: EventData, at: DateTime<Utc>, found: &mut Vec<SpaceEvent>) {
        if !self.begins_now {
            let place = self.place.clone();
            found.push(SpaceEvent { what, at, place });
        }
    }

    /// Reports the erasures that were completed since the last poll. It looks back a little, because the times come
    /// from the clocks of several processes.
    async fn note_erasures(&mut self, app: &App, found: &mut Vec<SpaceEvent>) -> Result<(), PortError> {
        self.complete_deletions(app).await?;
        let mut complete = self.list_completed_erasures(app).await?;
        if !self.reported_read {
            let (before, since) = complete.into_iter().partition(|it| it.1 <= self.place.erased_at);
            complete = since;
            let before: Vec<(Receipt, DateTime<Utc>)> = before;
            self.reported.extend(before.into_iter().map(|it| (it.0.id, it.1)));
            self.reported_read = true;
        }
        for (receipt, at) in complete {
            if self.reported.insert(receipt.id, at).is_none() {
                self.place.erased_at = self.place.erased_at.max(at);
                let place = self.place.clone();
                let what = EventData::from_receipt(&receipt);
                found.push(SpaceEvent { what, at, place });
            }
        }
        let since = self.place.erased_at - CLOCKS_APART;
        self.reported.retain(|_, at| *at >= since);
        Ok(())
    }

    /// Completes the receipts of deleted spaces that are erased in every store; the process that erased them may have
    /// ended before it did that.
    async fn complete_deletions(&mut self, app: &App) -> Result<(), PortError> {
        for created_at in self.deleted.clone() {
            let id = ErasureId::of_space(&self.space, &created_at.to_rfc3339());
            let is_complete = match app.stores().receipts.get(&self.space, id).await? {
                Some(receipt) => erasures::complete_receipt(app, receipt).await?.completed_at.is_some(),
                // The store removed the receipt because of newer ones.
                None => true,
            };
            if is_complete {
                self.deleted.retain(|it| *it != created_at);
            }
        }
        Ok(())
    }

    /// Returns the recently completed erasures with their completion times, earliest first.
    async fn list_completed_erasures(&self, app: &App) -> Result<Vec<(Receipt, DateTime<Utc>)>, PortError> {
        let since = self.place.erased_at - CLOCKS_APART;
        let mut found: Vec<(Receipt, DateTime<Utc>)> = Vec::new();
        let mut after = None;
        loop {
            let receipts = &app.stores().receipts;
            let page = receipts.completed_since(&self.space, since, after, AT_ONCE).await?;
            after = page.last().map(|it| it.id);
            let is_last = page.len() < AT_ONCE;
            found.extend(page.into_iter().filter_map(|it| it.completed_at.map(|at| (it, at))));
            if is_last {
                found.sort_by_key(|it| (it.1, it.0.id));
                return Ok(found);
            }
        }
    }
}
