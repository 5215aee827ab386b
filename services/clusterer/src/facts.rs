//! Facts of a space: the statements of its units, folded in order of time (REMem, section 3; MRAgent's semantic
//! layer).
//!
//! Statements that can contradict each other share a slot (`facts::slot`). Within a slot, a newer statement closes the
//! validity of the one it contradicts, and both are kept (`facts::fold`). A user's decision changes the current facts
//! from then on, and the former state is kept with them (`facts::slot_claims`). The result depends only on the set of
//! units and curations; a round looks only at the slots of changed units.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::derived::{Derived, DerivedId};
use domain::fact::{Fact, Origin};
use domain::id::{FactId, UnitId};
use domain::unit::Unit;
use domain::version::Versions;
use text::facts::{Correction, Statement, apply_correction};

use crate::space::id_map::IdMap;
use crate::space::small_map::SmallMap;
use crate::space::sorted_chunks::SortedChunks;
use crate::space::spill_file::SpillFile;
use crate::{Acts, ChangedObjects, Entities, NamedEntity};

mod claim;
mod compact_statements;
mod fold;
mod slot;
mod slot_claims;
mod unit_statements;

use crate::facts::claim::Role;
use claim::{About, Claim, TellerPhrase, build_claims, subject_phrase};
use slot::{Slot, SlotId};
use slot_claims::SlotClaims;
use unit_statements::{PlaceInSession, RecordStatements, statements_of_unit};

/// Number of earlier units with statements that a correction may refer to.
const BACK: usize = 8;

/// The statements of the units of one space.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    units: IdMap<UnitId, Box<[RecordStatements]>>,
    /// For the first turn unit of each record, the gists with statements read from the record.
    gists: BTreeMap<UnitId, SmallMap<UnitId, ()>>,
    /// The units with statements of each session, in order.
    sessions: SortedChunks<PlaceInSession, ()>,
    /// The entity that each (speaker, phrase) means, and the units that use it.
    subjects: BTreeMap<Arc<TellerPhrase>, ResolvedSubject>,
    /// The subjects by the keys on which their resolution depends; see [`Entities::resolution_keys`].
    keys: BTreeMap<String, SmallMap<Arc<TellerPhrase>, ()>>,
    claims: IdMap<UnitId, Box<[Arc<Claim>]>>,
    /// Number of all claims.
    claimed: usize,
    slots: IdMap<SlotId, SlotClaims>,
    /// Units to be read again.
    stale: BTreeSet<UnitId>,
    dirty: BTreeSet<Arc<Slot>>,
    /// The facts of the last round that changed, until [`Facts::take_shared_facts`].
    shared: Vec<Arc<Fact>>,
    acts: Acts,
    versions: Versions,
}

#[derive(Clone, Debug, Default)]
struct ResolvedSubject {
    named: Option<NamedEntity>,
    units: SmallMap<UnitId, ()>,
}

impl Facts {
    /// Applies the current state of a unit.
    pub fn apply_unit(&mut self, unit: &Unit) {
        let replaced = self.versions.apply_unit(unit);
        self.stir_replaced(&replaced);
        let now: Box<[RecordStatements]> = statements_of_unit(unit).into();
        if self.units.get(unit.id).map_or(&[][..], |it| it) == &*now {
            return;
        }
        for before in &self.units.remove(unit.id).unwrap_or_default() {
            self.remove_position_in_session(before);
        }
        for record in &now {
            self.index_position_in_session(record);
        }
        if !now.is_empty() {
            self.units.insert(unit.id, now);
        }
        self.stale.insert(unit.id);
    }

    /// Marks the units of some records, given by their first units, to be read again, and the gists read from these
    /// records. Gists are found by the first unit, which need not have statements of its own.
    fn stir_replaced(&mut self, replaced: &[UnitId]) {
        for first in replaced {
            let gists = self.gists.get(first).into_iter().flat_map(|it| it.keys());
            self.stale.extend(gists);
            self.stale.extend(self.units.ids_between(*first, first.last_part()));
        }
    }

    /// Adds the position of a unit to its session. Statements read by a model have no position, because the model has
    /// already seen the corrections.
    fn index_position_in_session(&mut self, record: &RecordStatements) {
        if record.origin == Origin::Model {
            self.gists.entry(record.source).or_default().insert(record.place.2, ());
            return;
        }
        self.sessions.insert(PlaceInSession::of_record(record), ());
        self.mark_later_corrections(record);
    }

    fn remove_position_in_session(&mut self, record: &RecordStatements) {
        if record.origin == Origin::Model {
            if let Some(gists) = self.gists.get_mut(&record.source) {
                gists.remove(&record.place.2);
                if gists.is_empty() {
                    self.gists.remove(&record.source);
                }
            }
            return;
        }
        self.mark_later_corrections(record);
        self.sessions.remove(&PlaceInSession::of_record(record));
    }

    /// Spills what was not used since the last call to a file.
    pub fn spill_unused(&mut self, file: &Arc<SpillFile>) {
        self.units.spill_unused(file);
        self.sessions.spill_unused(file);
        self.claims.spill_unused(file);
        self.slots.spill_unused(file);
        self.subjects.values_mut().for_each(|it| it.units.spill_unused(file));
    }

    /// Returns the facts that changed since the last call, by id. Call it once after each [`Entities::take_changes`] of
    /// `names`.
    pub fn take_changes(&mut self, names: &Entities, acts: &Acts) -> ChangedObjects {
        self.update_acts(acts);
        let moved = names.moved_keys().iter().filter_map(|it| self.keys.get(it));
        let moved_subjects: BTreeSet<Arc<TellerPhrase>> = moved.flat_map(|it| it.keys()).cloned().collect();
        for subject in moved_subjects {
            let Some(resolved_subject) = self.subjects.get_mut(&subject) else {
                continue;
            };
            let resolved = names.resolve_phrase(&subject.teller, &subject.phrase);
            if resolved != resolved_subject.named {
                resolved_subject.named = resolved;
                self.stale.extend(resolved_subject.units.keys());
            }
        }
        for unit in std::mem::take(&mut self.stale) {
            self.replace_claims_of_unit(unit, names);
        }
        self.collect_changed_facts()
    }

    /// Returns the facts that the last call of [`Facts::take_changes`] returned, to be shared with other components.
    pub fn take_shared_facts(&mut self) -> Vec<Arc<Fact>> {
        std::mem::take(&mut self.shared)
    }

    /// Returns the number of facts that the units state, before folding.
    pub(crate) fn count_stated_facts(&self) -> usize {
        self.claimed
    }

    /// Marks the corrections that follow a unit to be read again.
    fn mark_later_corrections(&mut self, record: &RecordStatements) {
        let of_record = PlaceInSession::of_record(record);
        let after = self.sessions.entries_after(Some(&of_record)).map(|it| it.0);
        let after = after.take_while(|it| it.session == record.session).take(BACK);
        let corrections = after.filter(|it| self.stored_statements(it.place.2).any(|it| it.correction.is_some()));
        let corrections: Vec<UnitId> = corrections.map(|it| it.place.2).collect();
        self.stale.extend(corrections);
    }

    fn update_acts(&mut self, acts: &Acts) {
        if self.acts == *acts {
            return;
        }
        // Decisions are rare, so there is no index of claims by fact, although a scan reads all claims of a large space
        // back from its file.
        let decided = self.acts.facts_decided_differently(acts);
        let is_touched = |it: &Arc<Claim>| decided.contains(&it.statement_key.1);
        if !decided.is_empty() {
            let units = self.claims.iter().filter(|it| it.1.iter().any(is_touched));
            self.stale.extend(units.map(|it| it.0));
        }
        let touched = self.acts.units_forgotten_differently(acts);
        // A gist is read from whole records, whose turn units have ids that follow the first one.
        let gists = touched.iter().filter_map(|turn| {
            let (first, gists) = self.gists.range(..=*turn).next_back()?;
            (*turn <= first.last_part()).then_some(gists)
        });
        let gists = gists.flat_map(|it| it.keys());
        self.stale.extend(gists);
        self.stale.extend(touched);
        self.acts = acts.clone();
    }

    /// Returns the statements of a unit, record by record.
    fn stored_statements(&self, unit: UnitId) -> impl Iterator<Item = &RecordStatements> {
        self.units.get(unit).into_iter().flatten()
    }

    /// Replaces the claims of a unit in their slots.
    fn replace_claims_of_unit(&mut self, unit: UnitId, names: &Entities) {
        let before = self.claims.remove(unit).unwrap_or_default();
        self.claimed -= before.len();
        for (index, old) in before.iter().enumerate() {
            if let Some(resolved_subject) = self.subjects.get_mut(&old.subject) {
                resolved_subject.units.remove(&unit);
            }
            if self.subjects.get(&old.subject).is_some_and(|it| it.units.is_empty()) {
                self.subjects.remove(&old.subject);
                for key in names.resolution_keys(&old.subject.teller, &old.subject.phrase) {
                    if let Some(subjects) = self.keys.get_mut(&key) {
                        subjects.remove(&old.subject);
                        if subjects.is_empty() {
                            self.keys.remove(&key);
                        }
                    }
                }
            }
            for (role, slot) in slots_of_claim(old) {
                if let Some(line) = self.slots.get_mut(slot.id()) {
                    line.remove_claim(index, role, old);
                }
                self.dirty.insert(slot);
            }
        }
        let claims = self.build_claims_of_unit(unit, names);
        for (index, new) in claims.iter().enumerate() {
            for (role, slot) in slots_of_claim(new) {
                let line = self.slots.get_or_default(slot.id());
                line.add_claim(index, role, new);
                self.dirty.insert(slot);
            }
        }
        self.claimed += claims.len();
        if !claims.is_empty() {
            self.claims.insert(unit, claims);
        }
    }

    /// Returns the claims that a unit makes, by its statements and its correction.
    fn build_claims_of_unit(&mut self, unit: UnitId, names: &Entities) -> Box<[Arc<Claim>]> {
        let records = self.units.get(unit).cloned().unwrap_or_default();
        let claims = records.iter().flat_map(|it| self.build_claims_of_record(it, names));
        claims.collect()
    }

    fn build_claims_of_record(&mut self, record: &RecordStatements, names: &Entities) -> Vec<Arc<Claim>> {
        let right = record
            .correction
            .as_ref()
            .and_then(|it| self.find_corrected_statement(record, it));
        let unit = record.place.2;
        let (subjects, keys) = (&mut self.subjects, &mut self.keys);
        let (acts, forgotten) = (&self.acts, record.forgotten_at(&self.acts, &self.versions));
        let mut make = |teller: &str, statement: &Statement| -> Vec<Claim> {
            let key = TellerPhrase {
                teller: teller.into(),
                phrase: subject_phrase(&statement.subject).into(),
            };
            let known = subjects.get_key_value(&key).map(|it| Arc::clone(it.0));
            let key = known.unwrap_or_else(|| Arc::new(key));
            let resolved_subject = subjects.entry(Arc::clone(&key)).or_insert_with(|| {
                for hung in names.resolution_keys(&key.teller, &key.phrase) {
                    keys.entry(hung).or_default().insert(Arc::clone(&key), ());
                }
                ResolvedSubject {
                    named: names.resolve_phrase(&key.teller, &key.phrase),
                    units: SmallMap::default(),
                }
            });
            resolved_subject.units.insert(unit, ());
            let about = About::from_subject(&statement.subject, &key, resolved_subject.named.clone());
            let mut claims = build_claims(record, statement, &about, acts);
            claims.iter_mut().for_each(|it| it.set_forgotten(forgotten));
            claims
        };
        let statements = record.statements.to_statements();
        let mut all: Vec<Claim> = statements.iter().flat_map(|it| make(&record.actor, it)).collect();
        if let Some((teller, wrong, right)) = right {
            let wrong: Vec<Arc<Slot>> = make(&teller, &wrong).into_iter().take(1).map(|it| it.slot).collect();
            for mut right in make(&teller, &right) {
                let other = wrong.iter().filter(|it| **it != right.slot).cloned();
                right.ends = right.ends.iter().cloned().chain(other).collect();
                all.push(right);
            }
        }
        all.iter_mut().for_each(|it| self.share_slots(it));
        all.into_iter().map(Arc::new).collect()
    }

    /// Makes a claim use the slots that earlier claims use, so that equal slots exist once.
    fn share_slots(&self, claim: &mut Claim) {
        for slot in std::iter::once(&mut claim.slot).chain(claim.ends.iter_mut()) {
            if let Some(known) = self.slots.get(slot.id()).and_then(SlotClaims::slot) {
                *slot = Arc::clone(known);
            }
        }
    }

    /// Returns the last statement before `record` that a correction fits: its speaker, the wrong statement and the
    /// right one.
    fn find_corrected_statement(
        &self,
        record: &RecordStatements,
        by: &Correction,
    ) -> Option<(String, Statement, Statement)> {
        let before = self.sessions.entries_before(&PlaceInSession::of_record(record)).rev();
        let before = before
            .map(|it| it.0)
            .take_while(|it| it.session == record.session)
            .take(BACK);
        before
            .flat_map(|it| self.stored_statements(it.place.2))
            .find_map(|earlier| {
                let mut statements = earlier.statements.to_statements().into_iter().rev();
                statements.find_map(|it| {
                    let right = correct_statement(earlier, &it, by)?;
                    Some((earlier.actor.clone(), it, right))
                })
            })
    }

    fn collect_changed_facts(&mut self) -> ChangedObjects {
        let mut put: BTreeMap<FactId, Arc<Fact>> = BTreeMap::new();
        let mut removed: BTreeSet<FactId> = BTreeSet::new();
        for slot in std::mem::take(&mut self.dirty) {
            let Some(line) = self.slots.get_mut(slot.id()) else {
                continue;
            };
            for (id, now) in line.take_changed_facts() {
                match now {
                    Some(now) => put.insert(id, now).is_some(),
                    None => removed.insert(id),
                };
            }
            if line.is_empty() {
                self.slots.remove(slot.id());
            }
        }
        removed.retain(|it| !put.contains_key(it));
        self.shared = put.into_values().collect();
        ChangedObjects {
            removed: removed
                .into_iter()
                .map(|it| DerivedId {
                    kind: domain::derived::DerivedKind::Fact,
                    id: it.uuid(),
                })
                .collect(),
            put: self.shared.iter().map(|it| Derived::Fact(Fact::clone(it))).collect(),
        }
    }
}

/// Returns the slots of a claim, with its role in each.
fn slots_of_claim(claim: &Claim) -> Vec<(Role, Arc<Slot>)> {
    let ends = claim.ends.iter().map(|it| (Role::Ends, Arc::clone(it)));
    std::iter::once((Role::States, Arc::clone(&claim.slot)))
        .chain(ends)
        .collect()
}

/// Returns the corrected statement: with another object, or else with another beginning.
fn correct_statement(earlier: &RecordStatements, wrong: &Statement, by: &Correction) -> Option<Statement> {
    let mut right = Statement {
        corrects: true,
        ..wrong.clone()
    };
    if let Some(object) = apply_correction(&wrong.object, by) {
        let times = text::time::find_times(&object, earlier.place.0);
        if wrong.until.is_some() {
            right.until = times.last().map(|it| it.span.end).or(wrong.until);
        }
        right.object = object;
        return Some(right);
    }
    let words = apply_correction(&wrong.since.as_ref()?.words, by)?;
    // A month without a preposition may be a person's name.
    let mut spans = ["", "in ", "on "].iter().filter_map(|it| {
        let times = text::time::find_times(&format!("{it}{words}"), earlier.place.0);
        times.into_iter().next().map(|it| it.span)
    });
    right.since = Some(spans.next()?);
    Some(right)
}
