//! What a store holds of what was derived, by digest.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hasher};
use std::io::Write;

use domain::derived::{Derived, DerivedId};
use domain::id::SpaceId;
use domain::port::{DerivedChange, Graph};

use crate::{Changed, Error};

/// Derived things read in one step,
const READ_AT_ONCE: usize = 1_000;
/// and written: pages are large.
const WRITTEN_AT_ONCE: usize = 250;

/// Digests of what is stored of one space.
#[derive(Debug, Default)]
pub(crate) struct Stored {
    digests: BTreeMap<DerivedId, u64>,
    /// Whether everything that is derived has been compared once.
    compared: bool,
}

impl Stored {
    /// Reads what is there.
    pub(crate) async fn read(graph: &dyn Graph, space: &SpaceId) -> Result<Stored, Error> {
        let mut stored = Stored::default();
        let mut sequence = 0;
        loop {
            let changes = graph.derived_changes(space, sequence, READ_AT_ONCE).await?;
            let Some(last) = changes.last() else {
                return Ok(stored);
            };
            sequence = last.sequence;
            stored = host::background(move || {
                changes.iter().for_each(|it| stored.note(it));
                stored
            })
            .await?;
        }
    }

    fn note(&mut self, change: &DerivedChange) {
        match &change.item {
            Some(item) => self.digests.insert(change.id, digest(item)),
            None => self.digests.remove(&change.id),
        };
    }

    /// Returns those changes that make a difference to the store, and takes them for stored. The first ones tell everything
    /// there is to be, so whatever they do not name is gone.
    pub(crate) fn differing(&mut self, changed: Changed) -> Changed {
        let mut out = Changed::default();
        if self.compared {
            out.gone = changed.gone;
        } else {
            let named: BTreeSet<DerivedId> = changed.put.iter().map(Derived::id).collect();
            out.gone = self.digests.keys().filter(|it| !named.contains(it)).copied().collect();
        }
        out.gone.retain(|it| self.digests.remove(it).is_some());
        for item in changed.put {
            let now = digest(&item);
            if self.digests.insert(item.id(), now) != Some(now) {
                out.put.push(item);
            }
        }
        self.compared = true;
        out
    }
}

/// Stores changes, what is gone first, and returns the turn that comes next. No changes take a turn too: whoever organised
/// fewer units is to notice.
///
/// # Errors
/// `Conflict` if somebody else stored anything since `turn`.
pub(crate) async fn write(
    graph: &dyn Graph,
    space: &SpaceId,
    (mut turn, changed): (u64, &Changed),
) -> Result<u64, Error> {
    let first = turn;
    for gone in changed.gone.chunks(READ_AT_ONCE) {
        graph.put_derived_at(space, turn, &[], gone).await?;
        turn += 1;
    }
    for put in changed.put.chunks(WRITTEN_AT_ONCE) {
        graph.put_derived_at(space, turn, put, &[]).await?;
        turn += 1;
    }
    if turn == first {
        graph.put_derived_at(space, turn, &[], &[]).await?;
        turn += 1;
    }
    Ok(turn)
}

/// What is written to it goes into a digest.
struct Digest(DefaultHasher);

impl Write for Digest {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The same within a process.
fn digest(item: &Derived) -> u64 {
    let mut digest = Digest(DefaultHasher::new());
    // Neither what is derived nor a digest can fail to be written.
    serde_json::to_writer(&mut digest, item).ok();
    digest.0.finish()
}
