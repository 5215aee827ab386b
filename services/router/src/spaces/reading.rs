use std::sync::{Arc, PoisonError};

use domain::PortError;
use domain::curation::Curation;
use domain::id::SpaceId;
use domain::port::{DerivedChange, ImagedChange, Records};
use host::Backends;

use super::{Kept, Seen};
use crate::error::crashed;
use crate::view::VERSION;

/// Changes and curations asked for at once.
const PAGE: usize = 1_000;

/// Reads what changed in one space.
pub(super) struct Reading {
    pub(super) stores: Backends,
    pub(super) space: SpaceId,
    /// How many acts the space has at least.
    pub(super) curations: u64,
    pub(super) seen: Seen,
    pub(super) kept: Arc<Kept>,
}

impl Reading {
    /// Returns the space with every change that is stored now; if a store failed, with those read before that.
    pub(super) async fn finished(mut self) -> (Seen, Result<(), PortError>) {
        let read = self.read().await;
        let mut arranged = Ok(());
        if !self.seen.view.is_arranged() {
            arranged = self.change(|seen| Arc::make_mut(&mut seen.view).arrange()).await;
            self.weigh();
        }
        let outcome = read.and(arranged);
        self.seen.whole |= outcome.is_ok();
        (self.seen, outcome)
    }

    async fn read(&mut self) -> Result<(), PortError> {
        // No act is ever changed or taken away: as many as were read are those that were read.
        let curations = match self.seen.decided {
            Some(known) if known >= self.curations => None,
            Some(_) | None => Some(decided(&*self.stores.records, &self.space).await?),
        };
        loop {
            let Seen { view, memory, .. } = &self.seen;
            let graph = &self.stores.graph;
            let (changes, derived) = tokio::try_join!(
                graph.imaged_changes(&self.space, view.sequence(), PAGE, VERSION),
                graph.derived_changes(&self.space, memory.sequence(), PAGE)
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

    /// Changes what was read so far, off the async runtime. What is cut off half-way is read again from the start.
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
        let Seen { view, memory, .. } = &self.seen;
        self.kept.weigh(&self.space, view.bytes() + memory.bytes());
    }
}

/// All acts of a space: one may take back any other.
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
        if !changes.is_empty() {
            memory.take_units(changes.iter().map(|it| &it.change.unit));
            let computed = Arc::make_mut(&mut self.view).take(changes);
            let mut imageless = self.imageless.lock().unwrap_or_else(PoisonError::into_inner);
            imageless.extend(computed);
        }
    }

    /// Says whether nothing is left to do about the acts, if they were read, and about what they mark, which units and facts
    /// that came since may have changed.
    fn is_decided(&self, curations: Option<&[Curation]>) -> bool {
        curations.is_none_or(|it| self.memory.is_decided(it)) && self.view.marks() == self.memory.marks()
    }

    fn decide(&mut self, curations: Option<&[Curation]>) {
        if let Some(curations) = curations {
            Arc::make_mut(&mut self.memory).decide(curations);
        }
        Arc::make_mut(&mut self.view).mark(self.memory.marks().clone());
    }
}
