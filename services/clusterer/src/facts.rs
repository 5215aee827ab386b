//! Facts of a space: the statements of its units, folded in order of time (REMem, section 3; MRAgent's semantic
//! layer).
//!
//! Statements that can contradict each other share a slot (`facts::slot`). Within a slot, a newer statement closes
//! the validity of the one it contradicts, and both are kept (`facts::fold`). A user's decision changes the current
//! facts from then on, and the former state is kept with them (`facts::line`). The result depends only on the set of
//! units and curations; a round looks only at the slots of changed units.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use domain::derived::{Derived, DerivedId};
use domain::fact::{Fact, Origin};
use domain::id::{FactId, SessionId, UnitId};
use domain::unit::Unit;
use domain::version::Versions;
use text::facts::{Correction, Statement, corrected};

use crate::{Acts, Changed, Entities, Named};

mod claim;
mod fold;
mod line;
mod slot;
mod told;

use claim::{About, Claim, claims, phrase};
use line::{Line, Role};
use slot::Slot;
use told::{Place, Told, told};

/// Number of earlier units with statements that a correction may refer to.
const BACK: usize = 8;

/// The statements of the units of one space.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    units: BTreeMap<UnitId, Vec<Told>>,
    /// For each turn, the gists with statements read from it.
    gists: HashMap<UnitId, BTreeSet<UnitId>>,
    sessions: BTreeMap<SessionId, BTreeSet<Place>>,
    /// The entity that each (teller, phrase) means, and the units that use it.
    subjects: BTreeMap<Subject, Meant>,
    /// The subjects by the keys on which their resolution depends; see [`Entities::keys`].
    keys: BTreeMap<String, BTreeSet<Subject>>,
    claims: HashMap<UnitId, Vec<Arc<Claim>>>,
    /// The unit that states each fact, by the fact's id as stated.
    sources: HashMap<FactId, UnitId>,
    slots: BTreeMap<Slot, Line>,
    /// Units to be read again.
    stale: BTreeSet<UnitId>,
    dirty: BTreeSet<Slot>,
    acts: Acts,
    versions: Versions,
}

/// The teller, and the phrase by which the teller means the subject.
type Subject = (String, String);

#[derive(Clone, Debug, Default)]
struct Meant {
    named: Option<Named>,
    units: BTreeSet<UnitId>,
}

impl Facts {
    /// Applies the current state of a unit.
    pub fn apply(&mut self, unit: &Unit) {
        let replaced = self.versions.apply(unit);
        self.stir_replaced(&replaced);
        let now = told(unit);
        if self.units.get(&unit.id).map_or(&[][..], Vec::as_slice) == now {
            return;
        }
        for before in self.units.remove(&unit.id).unwrap_or_default() {
            self.withdraw(&before);
        }
        for told in &now {
            self.place(told);
        }
        if !now.is_empty() {
            self.units.insert(unit.id, now);
        }
        self.stale.insert(unit.id);
    }

    /// Marks the units of some records, given by their first units, to be read again.
    fn stir_replaced(&mut self, replaced: &[UnitId]) {
        for first in replaced {
            let parts = self.units.range(*first..=first.last_part()).map(|it| *it.0);
            for unit in parts {
                self.stale.extend(self.gists.get(&unit).into_iter().flatten());
                self.stale.insert(unit);
            }
        }
    }

    /// Adds the position of a unit to its session. Statements read by a model have no position, because the model has
    /// already seen the corrections.
    fn place(&mut self, told: &Told) {
        if told.origin == Origin::Model {
            self.gists.entry(told.source).or_default().insert(told.place.2);
            return;
        }
        self.sessions.entry(told.session).or_default().insert(told.place);
        self.wake(told);
    }

    fn withdraw(&mut self, told: &Told) {
        if told.origin == Origin::Model {
            if let Some(gists) = self.gists.get_mut(&told.source) {
                gists.remove(&told.place.2);
                if gists.is_empty() {
                    self.gists.remove(&told.source);
                }
            }
            return;
        }
        self.wake(told);
        if let Some(places) = self.sessions.get_mut(&told.session) {
            places.remove(&told.place);
        }
        if self.sessions.get(&told.session).is_some_and(BTreeSet::is_empty) {
            self.sessions.remove(&told.session);
        }
    }

    /// Returns the facts that changed since the last call, by id. Call it once after each [`Entities::changed`] of
    /// `names`.
    pub fn changed(&mut self, names: &Entities, acts: &Acts) -> Changed {
        self.note(acts);
        let moved = names.moved().iter().filter_map(|it| self.keys.get(it));
        let asked: BTreeSet<Subject> = moved.flatten().cloned().collect();
        for subject in asked {
            let Some(meant) = self.subjects.get_mut(&subject) else {
                continue;
            };
            let named = names.resolve(&subject.0, &subject.1);
            if named != meant.named {
                meant.named = named;
                self.stale.extend(&meant.units);
            }
        }
        for unit in std::mem::take(&mut self.stale) {
            self.file(unit, names);
        }
        self.told_again()
    }

    /// Returns the number of facts that the units state, before folding.
    pub(crate) fn len(&self) -> usize {
        self.sources.len()
    }

    /// Marks the corrections that follow a unit to be read again.
    fn wake(&mut self, told: &Told) {
        let Some(places) = self.sessions.get(&told.session) else {
            return;
        };
        let after = places.range(told.place..).filter(|it| **it != told.place).take(BACK);
        let corrects = |it: &UnitId| self.units[it].iter().any(|it| it.correction.is_some());
        let corrections = after.filter(|it| self.units.contains_key(&it.2) && corrects(&it.2));
        self.stale.extend(corrections.map(|it| it.2));
    }

    fn note(&mut self, acts: &Acts) {
        if self.acts == *acts {
            return;
        }
        let touched = self.acts.facts().chain(acts.facts());
        self.stale.extend(touched.filter_map(|it| self.sources.get(&it)));
        let touched: BTreeSet<UnitId> = self.acts.forgotten().chain(acts.forgotten()).collect();
        let gists = touched.iter().filter_map(|it| self.gists.get(it)).flatten();
        self.stale.extend(gists);
        self.stale.extend(touched);
        self.acts = acts.clone();
    }

    /// Returns the statements of a unit, record by record.
    fn told_by(&self, unit: UnitId) -> impl Iterator<Item = &Told> {
        self.units.get(&unit).into_iter().flatten()
    }

    /// Replaces the claims of a unit in their slots.
    fn file(&mut self, unit: UnitId, names: &Entities) {
        for (index, old) in self.claims.remove(&unit).unwrap_or_default().into_iter().enumerate() {
            self.sources.remove(&old.told.1);
            if let Some(meant) = self.subjects.get_mut(&old.subject) {
                meant.units.remove(&unit);
            }
            if self.subjects.get(&old.subject).is_some_and(|it| it.units.is_empty()) {
                self.subjects.remove(&old.subject);
                for key in names.keys(&old.subject.0, &old.subject.1) {
                    if let Some(subjects) = self.keys.get_mut(&key) {
                        subjects.remove(&old.subject);
                        if subjects.is_empty() {
                            self.keys.remove(&key);
                        }
                    }
                }
            }
            for (role, slot) in filed(&old) {
                if let Some(line) = self.slots.get_mut(&slot) {
                    line.remove(index, role, &old);
                }
                self.dirty.insert(slot);
            }
        }
        let claims = self.read(unit, names);
        for (index, new) in claims.iter().enumerate() {
            self.sources.insert(new.told.1, unit);
            for (role, slot) in filed(new) {
                self.slots.entry(slot.clone()).or_default().add(index, role, new);
                self.dirty.insert(slot);
            }
        }
        if !claims.is_empty() {
            self.claims.insert(unit, claims);
        }
    }

    /// Returns the claims that a unit makes, by its statements and its correction.
    fn read(&mut self, unit: UnitId, names: &Entities) -> Vec<Arc<Claim>> {
        let tolds = self.units.get(&unit).cloned().unwrap_or_default();
        let claims = tolds.iter().flat_map(|it| self.read_one(it, names));
        claims.collect()
    }

    fn read_one(&mut self, told: &Told, names: &Entities) -> Vec<Arc<Claim>> {
        let right = told.correction.as_ref().and_then(|it| self.put_right(told, it));
        let unit = told.place.2;
        let (subjects, keys) = (&mut self.subjects, &mut self.keys);
        let (acts, forgotten) = (&self.acts, told.forgotten_at(&self.acts, &self.versions));
        let mut make = |teller: &str, statement: &Statement| -> Vec<Claim> {
            let key = (teller.to_owned(), phrase(&statement.subject).to_owned());
            let meant = subjects.entry(key.clone()).or_insert_with(|| {
                for hung in names.keys(&key.0, &key.1) {
                    keys.entry(hung).or_default().insert(key.clone());
                }
                Meant {
                    named: names.resolve(&key.0, &key.1),
                    units: BTreeSet::new(),
                }
            });
            meant.units.insert(unit);
            let about = About::of(&statement.subject, teller, meant.named.clone());
            let mut claims = claims(told, statement, &about, acts);
            claims.iter_mut().for_each(|it| it.forgotten = forgotten);
            claims
        };
        let mut all: Vec<Claim> = told.statements.iter().flat_map(|it| make(&told.actor, it)).collect();
        if let Some((teller, wrong, right)) = right {
            let wrong: Vec<Slot> = make(&teller, &wrong).into_iter().take(1).map(|it| it.slot).collect();
            for mut right in make(&teller, &right) {
                let other = wrong.iter().filter(|it| **it != right.slot).cloned();
                right.ends.extend(other);
                all.push(right);
            }
        }
        all.into_iter().map(Arc::new).collect()
    }

    /// Returns the last statement before `told` that a correction fits: the teller, the wrong statement and the right
    /// one.
    fn put_right(&self, told: &Told, by: &Correction) -> Option<(String, Statement, Statement)> {
        let places = self.sessions.get(&told.session)?;
        let before = places.range(..told.place).rev().take(BACK);
        before.flat_map(|it| self.told_by(it.2)).find_map(|earlier| {
            let mut statements = earlier.statements.iter().rev();
            statements.find_map(|it| Some((earlier.actor.clone(), it.clone(), put_right(earlier, it, by)?)))
        })
    }

    fn told_again(&mut self) -> Changed {
        let mut put: BTreeMap<FactId, Fact> = BTreeMap::new();
        let mut gone: BTreeSet<FactId> = BTreeSet::new();
        for slot in std::mem::take(&mut self.dirty) {
            let Some(line) = self.slots.get_mut(&slot) else {
                continue;
            };
            for (id, now) in line.changed() {
                match now {
                    Some(now) => put.insert(id, now).is_some(),
                    None => gone.insert(id),
                };
            }
            if line.is_empty() {
                self.slots.remove(&slot);
            }
        }
        Changed {
            gone: gone
                .into_iter()
                .filter(|it| !put.contains_key(it))
                .map(|it| DerivedId {
                    kind: domain::derived::DerivedKind::Fact,
                    id: it.uuid(),
                })
                .collect(),
            put: put.into_values().map(Derived::Fact).collect(),
        }
    }
}

/// Returns the slots of a claim, with its role in each.
fn filed(claim: &Claim) -> Vec<(Role, Slot)> {
    let ends = claim.ends.iter().map(|it| (Role::Ends, it.clone()));
    std::iter::once((Role::States, claim.slot.clone()))
        .chain(ends)
        .collect()
}

/// Returns the corrected statement: with another object, or else with another beginning.
fn put_right(earlier: &Told, wrong: &Statement, by: &Correction) -> Option<Statement> {
    let mut right = Statement {
        corrects: true,
        ..wrong.clone()
    };
    if let Some(object) = corrected(&wrong.object, by) {
        let times = text::time::find(&object, earlier.place.0);
        if wrong.until.is_some() {
            right.until = times.last().map(|it| it.span.end).or(wrong.until);
        }
        right.object = object;
        return Some(right);
    }
    let words = corrected(&wrong.since.as_ref()?.words, by)?;
    // A month without a preposition may be a person's name.
    let mut spans = ["", "in ", "on "].iter().filter_map(|it| {
        let times = text::time::find(&format!("{it}{words}"), earlier.place.0);
        times.into_iter().next().map(|it| it.span)
    });
    right.since = Some(spans.next()?);
    Some(right)
}
