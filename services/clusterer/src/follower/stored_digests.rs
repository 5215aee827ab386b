//! Digests of the derived data in the store.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hasher};
use std::io::Write;

use domain::derived::{Derived, DerivedId};
use domain::id::SpaceId;
use domain::port::{DerivedChange, Graph};

use crate::{ChangedObjects, Error};

/// Number of derived items read in one request.
const READ_AT_ONCE: usize = 1_000;
/// Maximum number of derived items written in one request. Lower than [`READ_AT_ONCE`], because pages are large.
const WRITTEN_AT_ONCE: usize = 250;

/// Digests of the stored derived data of one space.
#[derive(Debug, Default)]
pub(crate) struct StoredDigests {
    digests: BTreeMap<DerivedId, u64>,
    /// True once a complete result was compared with the store.
    compared: bool,
}

impl StoredDigests {
    /// Reads the derived data of a space and returns their digests.
    pub(crate) async fn read_from_graph(graph: &dyn Graph, space: &SpaceId) -> Result<StoredDigests, Error> {
        let mut stored = StoredDigests::default();
        let mut sequence = 0;
        loop {
            let changes = graph.derived_changes(space, sequence, READ_AT_ONCE).await?;
            let Some(last) = changes.last() else {
                return Ok(stored);
            };
            sequence = last.sequence;
            stored = host::spawn_background(move || {
                changes.iter().for_each(|it| stored.record_change(it));
                stored
            })
            .await?;
        }
    }

    fn record_change(&mut self, change: &DerivedChange) {
        match &change.item {
            Some(item) => self.digests.insert(change.id, hash_item(item)),
            None => self.digests.remove(&change.id),
        };
    }

    /// Returns the part of `changed` that differs from the store, and records it as stored. The first call receives
    /// the complete derived data, so stored items that it does not name are deleted.
    pub(crate) fn take_differences(&mut self, changed: ChangedObjects) -> ChangedObjects {
        let mut out = ChangedObjects::default();
        if self.compared {
            out.removed = changed.removed;
        } else {
            let current_ids: BTreeSet<DerivedId> = changed.put.iter().map(Derived::id).collect();
            out.removed = self
                .digests
                .keys()
                .filter(|it| !current_ids.contains(it))
                .copied()
                .collect();
        }
        out.removed.retain(|it| self.digests.remove(it).is_some());
        for item in changed.put {
            let now = hash_item(&item);
            if self.digests.insert(item.id(), now) != Some(now) {
                out.put.push(item);
            }
        }
        self.compared = true;
        out
    }
}

/// Stores a result, deletions first, and returns the next turn. An empty result also takes a turn, so that a
/// clusterer that has seen fewer units gets a conflict.
///
/// # Errors
/// Returns `Conflict` if another process has stored anything since `turn`.
pub(crate) async fn write_changes(
    graph: &dyn Graph,
    space: &SpaceId,
    mut turn: u64,
    changed: &ChangedObjects,
) -> Result<u64, Error> {
    let first = turn;
    for removed in changed.removed.chunks(READ_AT_ONCE) {
        graph.put_derived_if_unchanged(space, turn, &[], removed).await?;
        turn += 1;
    }
    for put in changed.put.chunks(WRITTEN_AT_ONCE) {
        graph.put_derived_if_unchanged(space, turn, put, &[]).await?;
        turn += 1;
    }
    if turn == first {
        graph.put_derived_if_unchanged(space, turn, &[], &[]).await?;
        turn += 1;
    }
    Ok(turn)
}

/// A writer that hashes all bytes written to it.
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

/// Returns a digest of an item. It is comparable only within one process.
fn hash_item(item: &Derived) -> u64 {
    let mut digest = Digest(DefaultHasher::new());
    // Neither serialising derived data nor writing to the digest can fail.
    serde_json::to_writer(&mut digest, item).ok();
    digest.0.finish()
}
