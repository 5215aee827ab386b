use std::sync::{Arc, PoisonError};

use domain::PortError;
use domain::curation::Curation;
use domain::id::SpaceId;
use domain::port::{DerivedChange, ImagedChange, Records};
use domain::unit::Grain;
use host::Backends;

use super::{Kept, Seen};
use crate::error::crashed;
use crate::view::VERSION;

/// Number of changes or curations that are requested in one page.
const PAGE: usize = 1_000;

/// Reads the changes of one space.
pub(super) struct Reading {
    pub(super) stores: Backends,
    pub(super) space: SpaceId,
    /// The least number of acts that the space has.
    pub(super) curations: u64,
    pub(super) seen: Seen,
    pub(super) kept: Arc<Kept>,
}

impl Reading {
    /// Returns the space with every change that is stored now. If a store failed, returns it with the changes that were
    /// read before, and the error.
    pub(super) async fn finished(mut self) -> (Seen, Result<(), PortError>) {
        let read = self.read().await;
        let mut arranged = Ok(());
        if !self.seen.is_arranged() {
            arranged = self.change(Seen::arrange).await;
            self.weigh();
        }
        let outcome = read.and(arranged);
        self.seen.whole |= outcome.is_ok();
        (self.seen, outcome)
    }

    async fn read(&mut self) -> Result<(), PortError> {
        // Acts are never changed or removed, so an equal number means that the same acts were read.
        let curations = match self.seen.decided {
            Some(known) if known >= self.curations => None,
            Some(_) | None => Some(decided(&*self.stores.records, &self.space).await?),
        };
        loop {
            let graph = &self.stores.graph;
            let (changes, derived) = tokio::try_join!(
                graph.imaged_changes(&self.space, self.seen.sequence(), PAGE, VERSION),
                graph.derived_changes(&self.space, self.seen.memory.sequence(), PAGE)
            )?;
            let last = changes.len() < PAGE && derived.len() < PAGE;
            if !changes.is_empty() || !derived.is_empty() {
                self.change(move |seen| seen.take(changes, derived)).await?;
                self.weigh();
            }
            if last {
                break;
            }
        }
        if !self.seen.is_decided(curations.as_deref()) {
            self.change(move |seen| seen.decide(curations.as_deref())).await?;
        }
        self.seen.decided = self.seen.decided.max(Some(self.curations));
        Ok(())
    }

    /// Applies a change to the data read so far, off the async runtime. If it panics or is cancelled, the space is read
    /// again from the start.
    async fn change(&mut self, change: impl FnOnce(&mut Seen) + Send + 'static) -> Result<(), PortError> {
        let mut seen = std::mem::take(&mut self.seen);
        let changed = tokio::task::spawn_blocking(move || {
            change(&mut seen);
            seen
        });
        self.seen = changed.await.map_err(crashed)?;
        Ok(())
    }

    fn weigh(&self) {
        let Seen {
            view, gists, memory, ..
        } = &self.seen;
        self.kept
            .weigh(&self.space, view.bytes() + gists.bytes() + memory.bytes());
    }
}

/// Returns all acts of a space, since an act may undo any other.
async fn decided(records: &dyn Records, space: &SpaceId) -> Result<Vec<Curation>, PortError> {
    let mut all: Vec<Curation> = Vec::new();
    loop {
        let after = all.last().map(|it| it.id);
        let page = records.curations(space, after, PAGE).await?;
        let last = page.len() < PAGE;
        all.extend(page);
        if last {
            return Ok(all);
        }
    }
}

impl Seen {
    fn take(&mut self, changes: Vec<ImagedChange>, derived: Vec<DerivedChange>) {
        let memory = Arc::make_mut(&mut self.memory);
        memory.take_derived(derived);
        if changes.is_empty() {
            return;
        }
        memory.take_units(changes.iter().map(|it| &it.change.unit));
        let is_gist = |it: &ImagedChange| it.change.unit.grain == Grain::Gist;
        let (gists, others): (Vec<_>, Vec<_>) = changes.into_iter().partition(is_gist);
        if !gists.is_empty() {
            // Gists are computed at every start; they have no stored images.
            Arc::make_mut(&mut self.gists).take(gists);
        }
        let computed = Arc::make_mut(&mut self.view).take(others);
        let mut imageless = self.imageless.lock().unwrap_or_else(PoisonError::into_inner);
        imageless.extend(computed);
    }

    /// Returns the sequence of the latest applied change of units.
    fn sequence(&self) -> u64 {
        self.view.sequence().max(self.gists.sequence())
    }

    fn is_arranged(&self) -> bool {
        self.view.is_arranged() && self.gists.is_arranged()
    }

    fn arrange(&mut self) {
        for view in [&mut self.view, &mut self.gists] {
            if !view.is_arranged() {
                Arc::make_mut(view).arrange();
            }
        }
    }

    /// Returns true if the acts, if they were read, and their marks are applied. New units and facts may change the
    /// marks.
    fn is_decided(&self, curations: Option<&[Curation]>) -> bool {
        curations.is_none_or(|it| self.memory.is_decided(it))
            && self.view.marks() == self.memory.marks()
            && self.gists.marks() == self.memory.gist_marks()
    }

    fn decide(&mut self, curations: Option<&[Curation]>) {
        if let Some(curations) = curations {
            Arc::make_mut(&mut self.memory).decide(curations);
        }
        Arc::make_mut(&mut self.view).mark(self.memory.marks().clone());
        Arc::make_mut(&mut self.gists).mark(self.memory.gist_marks().clone());
    }
}
