//! Entities: people, places and things that units mention or that speak (the phrase nodes of REMem, the cues of
//! MRAgent), with their names, roles and similar names.
//!
//! Each spelling of a name is a form; forms that fold to the same class are one name; a name may be merged into
//! another one (a nickname, a first name, a plural, a typo). Each of these steps is a [`Merge`] with a reason and can
//! be undone. The remaining names are entities. A round looks only at the names in changed units and at names that
//! depend on them, never at the whole space.

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

/// Maximum number of steps from a name to the name it is finally merged into.
const STEPS_MAX: usize = 8;

/// A unit that mentions a name, and the time at which it was observed.
type Mentioned = (DateTime<Utc>, UnitId);

/// The names that the units of one space mention. Equal sets of units and curations give equal entities and merges.
#[derive(Clone, Debug, Default)]
pub struct Entities {
    units: HashMap<UnitId, Told>,
    forms: Forms,
    calls: Calls,
    held: Held,
    /// Classes whose counts changed.
    dirty: BTreeSet<String>,
    /// The changed classes and the classes that depend on them, collected since the last round.
    pending: BTreeSet<String>,
    /// Units by class: those that mention the class and those whose actor it is.
    mentions: BTreeMap<String, SmallMap<Mentioned, ()>>,
    /// For each class that the rules cannot decide, the longer names it may belong to. `pairs` holds the judgements
    /// of a language model on them.
    unsure: BTreeMap<String, Vec<String>>,
    pairs: NamePairs,
    /// The class that each class is merged into, and the inverse.
    parents: BTreeMap<String, String>,
    children: BTreeMap<String, forms::Classes>,
    /// Merges, by the class that was merged into another one or whose forms were joined.
    merges: BTreeMap<String, BTreeMap<MergeId, Merge>>,
    /// Forms that a curation separated from their class, by class.
    parted: BTreeMap<String, BTreeSet<String>>,
    /// Entities as last reported, by node: a class, or `=` followed by a separated form.
    shown: BTreeMap<String, Entity>,
    alike: Alike,
    acts: Acts,
    /// Keys whose resolution may have changed: `stirred` collects them for the current round, `moved` holds those of
    /// the last round. A key is a class, or `ann's` for everyone who has a role in relation to Ann.
    stirred: BTreeSet<String>,
    moved: BTreeSet<String>,
}

impl Entities {
    /// Applies the current state of a unit. Event units are not counted, because they repeat the text of their turns.
    pub fn apply(&mut self, unit: &Unit) {
        // An erased record may have removed readings about a name.
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

    /// Returns the entities and merges that changed since the last call, by id.
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
        // A role names its owner, and the owner's name may have changed.
        nodes.extend(relinked.into_iter().flat_map(|it| self.holders(it)));
        let touched = self.rebuild(space, nodes, &mut out);
        self.tell_moved(&touched);
        // A new name changes the roles that mention it ("Ann's sister"). Names do not depend on roles in turn, so one
        // more pass is enough.
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

    /// Marks the classes whose merges a changed curation affects.
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

    /// Returns the changed classes and the classes that depend on them.
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

    /// Returns the node that a class is finally merged into, and the nodes of the forms separated from the class.
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

    /// Finds again what a class is merged into and which of its forms are joined, and reports changed merges. Returns
    /// true if the class is finally merged into another one than before.
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
        // A first name that no unit has mentioned alone is only an alias; there is nothing to merge.
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

    /// Rebuilds entities and reports the changed ones. Returns the nodes that appeared or disappeared, whose name
    /// changed, or that became or ceased to be speakers.
    fn rebuild(&mut self, space: &SpaceId, nodes: BTreeSet<String>, out: &mut Changed) -> BTreeSet<String> {
        let mut touched = BTreeSet::new();
        let mut likenesses = BTreeSet::new();
        let mut built = BTreeMap::new();
        for node in nodes {
            let now = self.built(space, &node);
            let before = self.shown.get(&node);
            // A speaker never shares a name with another entity.
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

    /// Returns the entities with a role in relation to this one, and those about whose roles this one speaks.
    fn holders(&self, node: &str) -> BTreeSet<String> {
        let members = self.members(node);
        members
            .iter()
            .flat_map(|it| self.held.names(it).chain(self.held.said(it)))
            .map(|it| self.root(it))
            .collect()
    }
}

/// Keeps one change per id, ordered by id: the last put counts, and an id that is put is not deleted.
fn settle(changed: Changed) -> Changed {
    let put: BTreeMap<DerivedId, Derived> = changed.put.into_iter().map(|it| (it.id(), it)).collect();
    let gone: BTreeSet<DerivedId> = changed.gone.into_iter().filter(|it| !put.contains_key(it)).collect();
    Changed {
        put: put.into_values().collect(),
        gone: gone.into_iter().collect(),
    }
}
