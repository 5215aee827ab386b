//! Who and what is spoken of: REMem's phrase nodes, which are MRAgent's cues, with their names, roles and likenesses.
//!
//! Every way to write a name is a form; forms that fold to the same class are one name; a name may go into another one
//! (a nickname, a first name, a plural, a typo). Each of these steps is a [`Merge`] with its reason and can be undone. What is
//! left are entities. A round touches the names of the units that changed and those beside them, never the whole space.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use chrono::{DateTime, Utc};
use domain::derived::{Derived, DerivedId};
use domain::entity::{Entity, EntityKind, Synonym};
use domain::id::{EntityId, MergeId, SpaceId, UnitId};
use domain::merge::Merge;
use domain::unit::{Grain, Status, Unit};

use crate::people::NamePairs;
use crate::small_map::SmallMap;
use crate::{Acts, Changed};

mod alike;
mod build;
mod calls;
mod everyday;
mod fold;
mod forms;
mod held;
mod judged;
mod moved;
mod one;
mod roles;
mod shared;
mod surely_named;
mod told;
mod unsure;

use alike::Alike;
use calls::Calls;
use fold::fold;
use forms::{Forms, Mention};
use held::Held;
use told::{Told, told};

pub(crate) use surely_named::is_name;

/// Longest way from a name to the one it goes into.
const STEPS_MAX: usize = 8;

/// When a unit was observed that mentions a name, and the unit.
type Mentioned = (DateTime<Utc>, UnitId);

/// What the units of one space tell of names. Equal sets of units and curations give equal entities and merges.
#[derive(Clone, Debug, Default)]
pub struct Entities {
    units: HashMap<UnitId, Told>,
    forms: Forms,
    calls: Calls,
    held: Held,
    /// Classes whose counts changed.
    dirty: BTreeSet<String>,
    /// Those, and the classes whose place depends on them, since the last round.
    pending: BTreeSet<String>,
    /// Units that mention a class, or whose actor it is.
    mentions: BTreeMap<String, SmallMap<Mentioned, ()>>,
    /// Longer names of classes of which the rules do not say whose they are, and what a language model said of them.
    unsure: BTreeMap<String, Vec<String>>,
    pairs: NamePairs,
    /// The class that a class goes into, and the other way round.
    parents: BTreeMap<String, String>,
    children: BTreeMap<String, forms::Classes>,
    /// Merges by the class that went into another one, or whose forms were joined.
    merges: BTreeMap<String, BTreeMap<MergeId, Merge>>,
    /// Forms that a curation parted from their class, by class.
    parted: BTreeMap<String, BTreeSet<String>>,
    /// Entities as they were told last, by node: a class, or `=` and a form that was parted from its class.
    shown: BTreeMap<String, Entity>,
    alike: Alike,
    acts: Acts,
    /// What may mean another one than before: since the last round, and after it. Classes, and `ann's` for whoever is anything
    /// to Ann.
    stirred: BTreeSet<String>,
    moved: BTreeSet<String>,
}

impl Entities {
    /// Takes a unit in as it stands now. Event units count nothing: they repeat what their turns tell.
    pub fn apply(&mut self, unit: &Unit) {
        // What a model said of a name may have gone with one of its records.
        self.look_again(unit.id);
        if let Some(before) = self.units.remove(&unit.id) {
            self.count(unit.id, &before, false);
        }
        if unit.grain == Grain::Turn && matches!(unit.status, Status::Active | Status::Merged) {
            let now = told(unit);
            self.count(unit.id, &now, true);
            self.units.insert(unit.id, now);
        }
    }

    /// Returns the number of turn units.
    pub fn units(&self) -> usize {
        self.units.len()
    }

    /// Returns the entities and merges that changed since it was asked last, by id.
    pub fn changed(&mut self, space: &SpaceId, acts: &Acts) -> Changed {
        self.note(acts);
        self.note_unsure(space);
        let affected = std::mem::take(&mut self.pending);
        let mut nodes: BTreeSet<String> = BTreeSet::new();
        let mut out = Changed::default();
        for class in &affected {
            nodes.extend(self.nodes(class));
        }
        let mut relinked = Vec::new();
        for class in &affected {
            if self.relink(space, class, &mut out) {
                relinked.push(class);
            }
        }
        for class in &affected {
            nodes.extend(self.nodes(class));
        }
        // Whose they are is told by the name of the owner, which is another one now.
        nodes.extend(relinked.into_iter().flat_map(|it| self.holders(it)));
        let touched = self.rebuild(space, nodes, &mut out);
        self.tell_moved(&touched);
        // A new name changes what others are called by: "Ann's sister". Names do not depend on that in turn.
        let renamed: BTreeSet<String> = touched.into_iter().flat_map(|it| self.holders(&it)).collect();
        self.rebuild(space, renamed, &mut out);
        settle(out)
    }

    fn count(&mut self, unit: UnitId, told: &Told, more: bool) {
        for name in &told.names {
            let mention = Mention {
                form: &name.form,
                at: told.at,
                told: true,
                person: name.person,
                place: name.place,
                sure: name.sure,
            };
            let class = self.mention(&mention, more);
            self.note_mention(&class, (told.at, unit), more);
            self.dirty.insert(class);
        }
        let teller = fold(&told.actor);
        for role in &told.roles {
            let (owner, name) = (fold(&role.owner), fold(&role.name));
            if self.held.step(&teller, (&owner, &role.role, &name), more) {
                self.stirred.extend([moved::owning(&owner), name.clone()]);
            }
            self.dirty.extend([owner, name]);
        }
        if told.actor.is_empty() {
            return;
        }
        let mention = Mention {
            form: &told.actor,
            at: told.at,
            told: false,
            person: false,
            place: false,
            sure: true,
        };
        let actor = self.mention(&mention, more);
        self.note_mention(&actor, (told.at, unit), more);
        let called: Vec<String> = told.called.iter().map(|it| fold(it)).collect();
        self.dirty.extend(self.calls.step(told.session, &actor, &called, more));
        self.dirty.insert(actor);
    }

    fn mention(&mut self, mention: &Mention<'_>, more: bool) -> String {
        let (class, turned) = self.forms.step(mention, more);
        if turned {
            self.stirred.insert(class.clone());
        }
        class
    }

    /// Marks what a changed curation bears on.
    fn note(&mut self, acts: &Acts) {
        if *acts == self.acts {
            return;
        }
        for (class, merges) in &self.merges {
            if merges.keys().any(|it| acts.parted_at(*it) != self.acts.parted_at(*it)) {
                self.dirty.insert(class.clone());
            }
        }
        self.acts = acts.clone();
    }

    /// The dirty classes, with those whose place depends on them.
    fn affected(&mut self) -> BTreeSet<String> {
        let dirty = std::mem::take(&mut self.dirty);
        let mut out = BTreeSet::new();
        for class in dirty.into_iter().filter(|it| !it.is_empty()) {
            out.extend(self.forms.plurals(&class).cloned());
            out.extend(self.forms.near(&class).into_iter().cloned());
            out.extend(fold::short(&class).map(str::to_owned));
            out.extend(unsure::shorter(&self.forms, &class));
            out.extend(self.children.get(&class).into_iter().flat_map(SmallMap::keys).cloned());
            out.insert(class);
        }
        out
    }

    /// The entity that a class is or goes into, and what was parted from the class.
    fn nodes(&self, class: &str) -> Vec<String> {
        let parted = self.parted.get(class).into_iter().flatten();
        parted.map(|it| format!("={it}")).chain([self.root(class)]).collect()
    }

    fn root(&self, class: &str) -> String {
        let mut at = class;
        for _ in 0..STEPS_MAX {
            let Some(parent) = self.parents.get(at) else { break };
            at = parent;
        }
        at.to_owned()
    }

    /// Finds again what a class goes into and which of its forms are one, and tells the merges that changed. Says whether it
    /// goes into another one than before.
    fn relink(&mut self, space: &SpaceId, class: &str, out: &mut Changed) -> bool {
        let (merges, parted) = self.joined(space, class);
        let mut merges: BTreeMap<MergeId, Merge> = merges.into_iter().map(|it| (it.id, it)).collect();
        let root = self.root(class);
        let parted_before = self.parted.remove(class).unwrap_or_default();
        if parted_before != parted {
            self.stirred.insert(class.to_owned());
        }
        if !parted.is_empty() {
            self.parted.insert(class.to_owned(), parted);
        }
        let link = one::parent(&self.forms, &self.calls, class).or_else(|| self.judged(class));
        let merge = link.as_ref().map(|it| self.merge(space, it, class));
        let parent = link
            .filter(|_| merge.as_ref().is_some_and(|it| !it.undone))
            .map(|it| it.parent);
        if let Some(before) = self.parents.remove(class) {
            forms::set(&mut self.children, before, class, false);
        }
        if let Some(parent) = parent {
            forms::set(&mut self.children, parent.clone(), class, true);
            self.parents.insert(class.to_owned(), parent);
        }
        let relinked = self.root(class) != root;
        if relinked {
            self.stirred.extend([class.to_owned(), root]);
        }
        // A first name that nobody told yet is an alias and no merge.
        merges.extend(merge.filter(|_| self.forms.contains(class)).map(|it| (it.id, it)));
        let before = self.merges.remove(class).unwrap_or_default();
        let gone = before.keys().filter(|it| !merges.contains_key(it));
        out.gone.extend(gone.map(|it| DerivedId {
            kind: domain::derived::DerivedKind::Merge,
            id: it.uuid(),
        }));
        let new = merges.values().filter(|it| before.get(&it.id) != Some(it));
        out.put.extend(new.cloned().map(Derived::Merge));
        if !merges.is_empty() {
            self.merges.insert(class.to_owned(), merges);
        }
        relinked
    }

    /// Builds entities again, tells those that changed, and returns those that got another name or began to speak.
    fn rebuild(&mut self, space: &SpaceId, nodes: BTreeSet<String>, out: &mut Changed) -> BTreeSet<String> {
        let mut touched = BTreeSet::new();
        let mut likenesses = BTreeSet::new();
        let mut built = BTreeMap::new();
        for node in nodes {
            let now = self.built(space, &node);
            let before = self.shown.get(&node);
            // Whoever speaks shares no name.
            let means = |it: &Entity| (it.name.clone(), it.kind == EntityKind::Speaker);
            if before.map(means) != now.as_ref().map(means) {
                touched.insert(node.clone());
            }
            likenesses.extend(
                self.alike
                    .set(&node, now.as_ref().map(|it| (it.name.as_str(), it.kind))),
            );
            built.insert(node, now);
        }
        for node in likenesses {
            let known = self.shown.get(&node).cloned();
            built.entry(node).or_insert(known);
        }
        for (node, now) in built {
            let now = now.map(|it| Entity {
                synonyms: self.synonyms(space, &node),
                ..it
            });
            match now {
                Some(now) if self.shown.get(&node) != Some(&now) => {
                    out.put.push(Derived::Entity(now.clone()));
                    self.shown.insert(node, now);
                }
                Some(_) => {}
                None => {
                    let gone = self.shown.remove(&node);
                    out.gone.extend(gone.map(|it| Derived::Entity(it).id()));
                }
            }
        }
        touched
    }

    fn synonyms(&self, space: &SpaceId, node: &str) -> Vec<Synonym> {
        let edges = self.alike.of(node).into_iter();
        let mut out: Vec<Synonym> = edges
            .map(|(other, cosine)| Synonym {
                entity: EntityId::derive(space, other),
                cosine,
            })
            .collect();
        out.sort_by(|a, b| b.cosine.total_cmp(&a.cosine).then_with(|| a.entity.cmp(&b.entity)));
        out
    }

    /// The entities whose roles name an owner that goes by the name of this one, or of which this one tells whose they are.
    fn holders(&self, node: &str) -> BTreeSet<String> {
        let members = self.members(node);
        members
            .iter()
            .flat_map(|it| self.held.names(it).chain(self.held.said(it)))
            .map(|it| self.root(it))
            .collect()
    }
}

/// One word for each id, by id: what was put last stands, and what was put is not gone.
fn settle(changed: Changed) -> Changed {
    let put: BTreeMap<DerivedId, Derived> = changed.put.into_iter().map(|it| (it.id(), it)).collect();
    let gone: BTreeSet<DerivedId> = changed.gone.into_iter().filter(|it| !put.contains_key(it)).collect();
    Changed {
        put: put.into_values().collect(),
        gone: gone.into_iter().collect(),
    }
}
