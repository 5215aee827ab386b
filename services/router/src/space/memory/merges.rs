use std::collections::BTreeMap;
use std::sync::Arc;

use domain::id::{MergeId, UnitId};
use domain::merge::{Merge, MergeOf};
use domain::relation::{Relation, RelationKind};
use uuid::Uuid;

use super::MemoryAsOf;
use super::posting_lists::Posts;

/// Maximum length of a chain of merges.
const STEPS: usize = 64;

/// Merges, with the object that each merged object went into.
#[derive(Clone, Default)]
pub(super) struct Merges {
    all: BTreeMap<MergeId, Arc<Merge>>,
    targets: Posts<Uuid, Uuid>,
    merged: Posts<Uuid, MergeId>,
    /// Judgements of pairs of events, by each event of the pair.
    judged: Posts<Uuid, MergeId>,
    bytes: usize,
}

impl Merges {
    pub(super) fn put_merge(&mut self, merge: Merge) {
        self.remove_merge(merge.id);
        self.update_index(&merge, true);
        self.all.insert(merge.id, Arc::new(merge));
    }

    pub(super) fn remove_merge(&mut self, id: MergeId) {
        if let Some(old) = self.all.remove(&id) {
            self.update_index(&old, false);
        }
    }

    pub(super) fn size_in_bytes(&self) -> usize {
        self.bytes + self.targets.size_in_bytes() + self.merged.size_in_bytes() + self.judged.size_in_bytes()
    }

    /// Returns the object that `id` was finally merged into, or `id` itself if it was not merged.
    pub(super) fn find_final_target(&self, id: Uuid) -> Uuid {
        let mut at = id;
        for _ in 0..STEPS {
            match self.targets.values_of_key(&at).next() {
                Some(next) if next != id => at = next,
                Some(_) | None => return at,
            }
        }
        at
    }

    fn update_index(&mut self, merge: &Merge, add: bool) {
        let size =
            256 + 16 * merge.records.len() + merge.reason.len() + merge.names.iter().map(String::len).sum::<usize>();
        self.bytes = if add { self.bytes + size } else { self.bytes - size };
        // A judgement that two events differ, and a merge that was undone, are stored only to be read.
        if !merge.undone && (merge.same_event || merge.of == MergeOf::Entities) {
            self.targets.add_or_remove(merge.merged, merge.kept, add);
            self.merged.add_or_remove(merge.kept, merge.id, add);
        }
        if merge.of == MergeOf::Units {
            self.judged.add_or_remove(merge.kept, merge.id, add);
            self.judged.add_or_remove(merge.merged, merge.id, add);
        }
    }
}

impl<'a> MemoryAsOf<'a> {
    /// Returns the merges by id, including merges that were undone. If a moment or a scope is given, a merge of units
    /// is returned only if both units are known in it.
    pub fn all_merges(self) -> impl Iterator<Item = Arc<Merge>> + 'a {
        let all = self.memory.merges.all.values();
        all.filter(move |it| self.is_merge_known(it)).map(Arc::clone)
    }

    /// Returns a merge.
    pub fn find_merge(self, id: MergeId) -> Option<Arc<Merge>> {
        let merge = self.memory.merges.all.get(&id)?;
        self.is_merge_known(merge).then(|| Arc::clone(merge))
    }

    /// Returns the unit that `unit` was merged into, or `unit` itself if it was not merged.
    pub fn merge_target_of_unit(self, unit: UnitId) -> UnitId {
        UnitId::from_uuid(self.memory.merges.find_final_target(unit.uuid()))
    }

    /// Returns the merges by which other units were merged into `unit`, by id.
    pub fn merged_into(self, unit: UnitId) -> impl Iterator<Item = Arc<Merge>> + 'a {
        let merges = &self.memory.merges;
        let into = merges.merged.values_of_key(&unit.uuid());
        into.filter_map(|it| merges.all.get(&it))
            .filter(move |it| it.of == MergeOf::Units && self.is_merge_known(it))
            .map(Arc::clone)
    }

    /// Returns the relations of an event unit to other events, by id of the judgement: it is the same event, or only
    /// shares people, time or place. A merge that was undone counts only as an overlap.
    pub fn relations_of_event(self, event: UnitId) -> impl Iterator<Item = Relation> + 'a {
        let merges = &self.memory.merges;
        let of_event = merges
            .judged
            .values_of_key(&event.uuid())
            .filter_map(|it| merges.all.get(&it));
        of_event
            .filter(move |it| self.is_merge_known(it))
            .filter_map(move |it| {
                let kind = match it.holds_at(self.as_of) {
                    true => RelationKind::SameAs,
                    false => match it.relation_type.filter(|kind| *kind != RelationKind::SameAs) {
                        Some(kind) => kind,
                        None if it.has_overlap => RelationKind::Other,
                        None => return None,
                    },
                };
                let (earlier, later) = (UnitId::from_uuid(it.kept), UnitId::from_uuid(it.merged));
                let (source, target) = match leads_on(kind) {
                    true => (earlier, later),
                    false => (later, earlier),
                };
                Some(Relation {
                    source,
                    target,
                    kind,
                    label: it.reason.clone(),
                    weight: it.similarity,
                    evidence: it.records.clone(),
                })
            })
    }

    fn is_merge_known(self, merge: &Merge) -> bool {
        let known = |it: Uuid| self.has_unit(UnitId::from_uuid(it));
        let is_open = self.as_of.is_none() && self.scope.is_none();
        is_open || merge.of == MergeOf::Entities || known(merge.kept) && known(merge.merged)
    }
}

/// Returns true if a relation of two events leads from the earlier one to the later one.
fn leads_on(kind: RelationKind) -> bool {
    match kind {
        RelationKind::Causes
        | RelationKind::Motivates
        | RelationKind::Enables
        | RelationKind::FollowsUp
        | RelationKind::Before => true,
        RelationKind::Contrasts
        | RelationKind::PartOf
        | RelationKind::Parallel
        | RelationKind::Elaborates
        | RelationKind::SameAs
        | RelationKind::Other => false,
    }
}
