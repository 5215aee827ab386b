//! Facts of a space: what its units state, folded in time (REMem, section 3; MRAgent's semantic layer).
//!
//! Statements about the same side of somebody share a slot (`facts::slot`). Inside a slot a newer statement closes the valid
//! time of the one it contradicts, and both stay (`facts::fold`). What was decided by hand changes what is known from then on,
//! and what was known before stays with it (`facts::line`). What is held depends on the set of units and curations alone; a
//! round touches the slots of the units that changed.

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

/// A correction looks back over so many units that state something.
const BACK: usize = 8;

/// What the units of one space state.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    units: BTreeMap<UnitId, Vec<Told>>,
    /// The gists in which something was read of a turn.
    gists: HashMap<UnitId, BTreeSet<UnitId>>,
    sessions: BTreeMap<SessionId, BTreeSet<Place>>,
    /// Whom (teller, phrase) means, and the units that use it.
    subjects: BTreeMap<Subject, Meant>,
    /// Those by what their meaning hangs on; see [`Entities::keys`].
    keys: BTreeMap<String, BTreeSet<Subject>>,
    claims: HashMap<UnitId, Vec<Arc<Claim>>>,
    /// The unit that states a fact, as it was told.
    sources: HashMap<FactId, UnitId>,
    slots: BTreeMap<Slot, Line>,
    /// Units to be read again.
    stale: BTreeSet<UnitId>,
    dirty: BTreeSet<Slot>,
    acts: Acts,
    versions: Versions,
}

/// Who tells, and of whom as they put it.
type Subject = (String, String);

#[derive(Clone, Debug, Default)]
struct Meant {
    named: Option<Named>,
    units: BTreeSet<UnitId>,
}

impl Facts {
    /// Takes a unit in as it stands now.
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

    /// Marks what is told by the units of some records, by their first ones, to be read again.
    fn stir_replaced(&mut self, replaced: &[UnitId]) {
        for first in replaced {
            let parts = self.units.range(*first..=first.last_part()).map(|it| *it.0);
            for unit in parts {
                self.stale.extend(self.gists.get(&unit).into_iter().flatten());
                self.stale.insert(unit);
            }
        }
    }

    /// Takes its place among what was told. What a model read has none: it read the corrections too.
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

    /// Returns the facts that changed since it was asked last, by id. To be asked once after each round of `names`.
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

    /// Returns the number of facts that the units state, before they are folded.
    pub(crate) fn len(&self) -> usize {
        self.sources.len()
    }

    /// Marks the corrections after a unit to be read again.
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

    /// What a unit states, record by record.
    fn told_by(&self, unit: UnitId) -> impl Iterator<Item = &Told> {
        self.units.get(&unit).into_iter().flatten()
    }

    /// Files the claims of a unit anew.
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

    /// Makes claims of what a unit states and puts right.
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

    /// Returns the last statement before `told` that a correction fits, who made it, and what it should have been.
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

/// Returns the slots of a claim and what it does there.
fn filed(claim: &Claim) -> Vec<(Role, Slot)> {
    let ends = claim.ends.iter().map(|it| (Role::Ends, it.clone()));
    std::iter::once((Role::States, claim.slot.clone()))
        .chain(ends)
        .collect()
}

/// Returns a statement put right: its value, or else the time since when it holds.
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
    // A month alone may be a name.
    let mut spans = ["", "in ", "on "].iter().filter_map(|it| {
        let times = text::time::find(&format!("{it}{words}"), earlier.place.0);
        times.into_iter().next().map(|it| it.span)
    });
    right.since = Some(spans.next()?);
    Some(right)
}
