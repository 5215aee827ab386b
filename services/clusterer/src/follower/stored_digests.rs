//! Digests of the derived data in the store.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};
use std::io::Write;

use domain::derived::{Derived, DerivedId};
use domain::id::SpaceId;
use domain::port::{DerivedChange, Graph};

use crate::space::sorted_chunks::SortedChunks;
use crate::{ChangedObjects, Error};

/// Number of derived items read in one request.
const READ_AT_ONCE: usize = 1_000;
/// Maximum number of derived items written in one request. Lower than [`READ_AT_ONCE`], because pages are large.
const WRITTEN_AT_ONCE: usize = 250;

/// Digests of the stored derived data of one space.
#[derive(Debug, Default)]
pub(crate) struct StoredDigests {
    digests: SortedChunks<DerivedId, u64>,
    /// True once a complete result was compared with the store.
    compared: bool,
    first: FirstResult,
}

/// What was derived so far, until the first result is complete.
#[derive(Debug, Default)]
struct FirstResult {
    ids: SortedChunks<DerivedId, ()>,
    /// Items that differ from the store.
    differing: BTreeMap<DerivedId, Derived>,
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

    /// Returns true once a complete result was compared with the store.
    pub(crate) fn is_compared(&self) -> bool {
        self.compared
    }

    /// Returns the part of `changed` that differs from the store, and records it as stored. The first complete result
    /// is compared with everything that is stored, so stored items that it does not have are deleted. Until then,
    /// nothing is returned.
    pub(crate) fn take_differences(&mut self, changed: ChangedObjects, is_complete: bool) -> ChangedObjects {
        if self.compared {
            return self.take_differences_of_change(changed);
        }
        self.add_to_first_result(changed);
        if !is_complete {
            return ChangedObjects::default();
        }
        self.compared = true;
        let FirstResult { ids, differing } = std::mem::take(&mut self.first);
        let stored_ids = self.digests.iter().map(|it| *it.0);
        let removed = stored_ids.filter(|it| !ids.contains_key(it)).collect();
        self.take_differences_of_change(ChangedObjects {
            put: differing.into_values().collect(),
            removed,
        })
    }

    fn add_to_first_result(&mut self, changed: ChangedObjects) {
        for id in changed.removed {
            self.first.ids.remove(&id);
            self.first.differing.remove(&id);
        }
        for item in changed.put {
            let id = item.id();
            self.first.ids.insert(id, ());
            if self.digests.get(&id) == Some(&hash_item(&item)) {
                self.first.differing.remove(&id);
            } else {
                self.first.differing.insert(id, item);
            }
        }
    }

    fn take_differences_of_change(&mut self, changed: ChangedObjects) -> ChangedObjects {
        let mut out = ChangedObjects {
            removed: changed.removed,
            put: Vec::new(),
        };
        out.removed.retain(|it| self.digests.remove(it).is_some());
        for item in changed.put {
            let now = hash_item(&item);
            if self.digests.insert(item.id(), now) != Some(now) {
                out.put.push(item);
            }
        }
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

#[cfg(test)]
mod tests {
    use domain::id::{RecordId, TopicId, UnitId};
    use domain::topic::Member;

    use super::*;

    fn member(number: u32, similarity: f32) -> Derived {
        let space: SpaceId = "home".parse().unwrap();
        let unit = UnitId::of_turn(RecordId::from_external_id(&space, &number.to_string()));
        Derived::Member(Member {
            unit,
            topic: TopicId::from_founding_unit(unit),
            similarity,
        })
    }

    fn changed(put: &[Derived], removed: &[Derived]) -> ChangedObjects {
        ChangedObjects {
            put: put.to_vec(),
            removed: removed.iter().map(Derived::id).collect(),
        }
    }

    #[test]
    fn a_first_result_in_parts_is_compared_once_it_is_complete() {
        let [same, changing, outdated] = [1, 2, 3].map(|it| member(it, 0.5));
        let mut stored = StoredDigests::default();
        for (sequence, item) in (1..).zip([&same, &changing, &outdated]) {
            stored.record_change(&DerivedChange {
                sequence,
                id: item.id(),
                item: Some(item.clone()),
            });
        }
        let (moved, short_lived, new) = (member(1, 0.25), member(4, 0.5), member(5, 0.5));
        let nothing = ChangedObjects::default();
        let part = changed(&[moved, changing.clone(), short_lived.clone()], &[]);
        assert_eq!(stored.take_differences(part, false), nothing);
        let part = changed(&[same, new.clone()], std::slice::from_ref(&short_lived));
        assert_eq!(stored.take_differences(part, false), nothing);
        assert!(!stored.is_compared());
        let changing_again = member(2, 0.75);
        let last = changed(std::slice::from_ref(&changing_again), &[]);
        let mut expected = changed(&[changing_again, new.clone()], &[outdated]);
        expected.put.sort_by_key(Derived::id);
        assert_eq!(stored.take_differences(last, true), expected);
        assert!(stored.is_compared());
        // From now on, every change is compared alone.
        let later = changed(std::slice::from_ref(&new), std::slice::from_ref(&short_lived));
        assert_eq!(stored.take_differences(later, true), nothing);
    }
}
