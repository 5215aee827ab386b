//! Entity resolution: people, places and things that units mention or that speak (the phrase nodes of REMem, the cues
//! of MRAgent), with their names, roles and similar names.
//!
//! Each spelling of a name is a form; forms that fold to the same class are one name; a name may be merged into
//! another one (a nickname, a first name, a plural, a typo). Each of these steps is a [`Merge`] with a reason and can
//! be undone. The remaining names are entities. A round looks only at the names in changed units and at names that
//! depend on them, never at the whole space.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use domain::derived::{Derived, DerivedId};
use domain::entity::{Entity, EntityKind, Synonym};
use domain::id::{EntityId, MergeId, SpaceId, UnitId};
use domain::merge::Merge;
use domain::unit::{Grain, Status, Unit};

use crate::judgements::people::NamePairs;
use crate::space::hidden_units::HiddenUnits;
use crate::space::id_map::IdMap;
use crate::space::small_map::SmallMap;
use crate::space::spill_file::SpillFile;
use crate::space::symbols::Symbols;
use crate::{Acts, ChangedObjects};

mod build;
mod fold;
mod merging;
mod name_resolution;
mod names;
mod roles;

use fold::fold_name;
use merging::candidates;
use merging::merge_rules;
use merging::synonyms::SynonymIndex;
use names::forms;
use names::forms::{Forms, Mention};
use names::mentioned_names::{PackedMentions, UnitMentions, find_mentioned_names};
use names::nickname_counts::NicknameCounts;
use roles::role_counts::RoleCounts;

pub(crate) use names::name_spelling::is_name;

/// Maximum number of steps from a name to the name it is finally merged into.
const STEPS_MAX: usize = 8;

/// A unit that mentions a name, and the time at which it was observed.
type Mentioned = (DateTime<Utc>, UnitId);

/// The names that the units of one space mention. Equal sets of units and curations give equal entities and merges.
#[derive(Clone, Debug, Default)]
pub struct Entities {
    units: IdMap<UnitId, PackedMentions>,
    /// The texts of the names in `units`.
    symbols: Symbols,
    forms: Forms,
    nickname_counts: NicknameCounts,
    role_counts: RoleCounts,
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
    synonyms: SynonymIndex,
    acts: Acts,
    /// Units that a language model is not shown.
    hidden: HiddenUnits,
    /// Keys whose resolution may have changed: `stirred` collects them for the current round, `moved` holds those of
    /// the last round. A key is a class, or `ann's` for everyone who has a role in relation to Ann.
    stirred: BTreeSet<String>,
    moved: BTreeSet<String>,
}

impl Entities {
    /// Applies the current state of a unit. Event units are not counted, because they repeat the text of their turns.
    pub fn apply_unit(&mut self, unit: &Unit) {
        // An erased record may have removed readings about a name.
        self.mark_for_lookup(unit.id);
        self.hidden.apply_unit(unit);
        if let Some(before) = self.units.remove(unit.id) {
            let before = before.to_mentions(&self.symbols);
            self.count_mentions_of_unit(unit.id, &before, false);
        }
        if unit.grain == Grain::Turn && matches!(unit.status, Status::Active | Status::Merged) {
            let now = find_mentioned_names(unit);
            self.count_mentions_of_unit(unit.id, &now, true);
            self.units
                .insert(unit.id, PackedMentions::from_mentions(now, &mut self.symbols));
        }
    }

    /// Spills what was not used since the last call to a file.
    pub fn spill_unused(&mut self, file: &Arc<SpillFile>) {
        self.units.spill_unused(file);
        self.mentions.values_mut().for_each(|it| it.spill_unused(file));
        self.forms.spill_unused(file);
        self.nickname_counts.spill_unused(file);
    }

    /// Returns the number of turn units.
    pub fn count_turn_units(&self) -> usize {
        self.units.len()
    }

    /// Returns the entities and merges that changed since the last call, by id.
    pub fn take_changes(&mut self, space: &SpaceId, acts: &Acts) -> ChangedObjects {
        self.update_acts(acts);
        self.note_unsure(space);
        let affected = std::mem::take(&mut self.pending);
        let mut nodes: BTreeSet<String> = BTreeSet::new();
        let mut out = ChangedObjects::default();
        for class in &affected {
            nodes.extend(self.nodes_of_class(class));
        }
        let mut relinked = Vec::new();
        for class in &affected {
            if self.relink_class(space, class, &mut out) {
                relinked.push(class);
            }
        }
        for class in &affected {
            nodes.extend(self.nodes_of_class(class));
        }
        // A role names its owner, and the owner's name may have changed.
        nodes.extend(relinked.into_iter().flat_map(|it| self.nodes_related_by_role(it)));
        let touched = self.rebuild_entities(space, nodes, &mut out);
        self.record_moved_keys(&touched);
        // A new name changes the roles that mention it ("Ann's sister"). Names do not depend on roles in turn, so one
        // more pass is enough.
        let renamed: BTreeSet<String> = touched
            .into_iter()
            .flat_map(|it| self.nodes_related_by_role(&it))
            .collect();
        self.rebuild_entities(space, renamed, &mut out);
        keep_last_change_by_id(out)
    }

    fn count_mentions_of_unit(&mut self, unit: UnitId, unit_mentions: &UnitMentions, more: bool) {
        for name in &unit_mentions.names {
            let mention = Mention {
                form: &name.form,
                at: unit_mentions.at,
                is_mentioned: true,
                person: name.person,
                place: name.place,
                sure: name.sure,
            };
            let class = self.count_mention(&mention, more);
            self.note_mention(&class, (unit_mentions.at, unit), more);
            self.dirty.insert(class);
        }
        let teller = fold_name(&unit_mentions.actor);
        for role in &unit_mentions.roles {
            let (owner, name) = (fold_name(&role.owner), fold_name(&role.name));
            if self
                .role_counts
                .count_statement(&teller, &owner, &role.role, &name, more)
            {
                self.stirred
                    .extend([name_resolution::role_holders_key(&owner), name.clone()]);
            }
            self.dirty.extend([owner, name]);
        }
        if unit_mentions.actor.is_empty() {
            return;
        }
        let mention = Mention {
            form: &unit_mentions.actor,
            at: unit_mentions.at,
            is_mentioned: false,
            person: false,
            place: false,
            sure: true,
        };
        let actor = self.count_mention(&mention, more);
        self.note_mention(&actor, (unit_mentions.at, unit), more);
        let called: Vec<String> = unit_mentions.called.iter().map(|it| fold_name(it)).collect();
        self.dirty.extend(
            self.nickname_counts
                .count_unit(unit_mentions.session, &actor, &called, more),
        );
        self.dirty.insert(actor);
    }

    fn count_mention(&mut self, mention: &Mention<'_>, more: bool) -> String {
        let (class, turned) = self.forms.count_mention(mention, more);
        if turned {
            self.stirred.insert(class.clone());
        }
        class
    }

    /// Marks the classes whose merges a changed curation affects.
    fn update_acts(&mut self, acts: &Acts) {
        if *acts == self.acts {
            return;
        }
        for (class, merges) in &self.merges {
            if merges.keys().any(|it| acts.parted_at(*it) != self.acts.parted_at(*it)) {
                self.dirty.insert(class.clone());
            }
        }
        self.acts = acts.clone();
        self.hidden.set_forgotten(acts.forgotten_unit_ids());
    }

    /// Returns the changed classes and the classes that depend on them.
    fn take_affected_classes(&mut self) -> BTreeSet<String> {
        let dirty = std::mem::take(&mut self.dirty);
        let mut out = BTreeSet::new();
        for class in dirty.into_iter().filter(|it| !it.is_empty()) {
            out.extend(self.forms.classes_differing_in_number(&class).cloned());
            out.extend(self.forms.classes_one_letter_apart(&class).into_iter().cloned());
            out.extend(fold::short_name(&class).map(str::to_owned));
            out.extend(candidates::find_shorter_names(&self.forms, &class));
            out.extend(self.children.get(&class).into_iter().flat_map(SmallMap::keys).cloned());
            out.insert(class);
        }
        out
    }

    /// Returns the node that a class is finally merged into, and the nodes of the forms separated from the class.
    fn nodes_of_class(&self, class: &str) -> Vec<String> {
        let parted = self.parted.get(class).into_iter().flatten();
        parted
            .map(|it| format!("={it}"))
            .chain([self.find_root(class)])
            .collect()
    }

    fn find_root(&self, class: &str) -> String {
        let mut at = class;
        for _ in 0..STEPS_MAX {
            let Some(parent) = self.parents.get(at) else { break };
            at = parent;
        }
        at.to_owned()
    }

    /// Finds again the class that a class is merged into and the forms of the class that are joined, and reports
    /// changed merges. Returns true if the class ends up in another class than before.
    fn relink_class(&mut self, space: &SpaceId, class: &str, out: &mut ChangedObjects) -> bool {
        let (merges, parted) = self.merges_between_forms(space, class);
        let mut merges: BTreeMap<MergeId, Merge> = merges.into_iter().map(|it| (it.id, it)).collect();
        let root = self.find_root(class);
        let parted_before = self.parted.remove(class).unwrap_or_default();
        if parted_before != parted {
            self.stirred.insert(class.to_owned());
        }
        if !parted.is_empty() {
            self.parted.insert(class.to_owned(), parted);
        }
        let link = merge_rules::find_parent(&self.forms, &self.nickname_counts, class)
            .or_else(|| self.find_link_by_model(class));
        let merge = link.as_ref().map(|it| self.build_merge(space, it, class));
        let parent = link
            .filter(|_| merge.as_ref().is_some_and(|it| !it.undone))
            .map(|it| it.parent);
        if let Some(before) = self.parents.remove(class) {
            forms::update_index(&mut self.children, before, class, false);
        }
        if let Some(parent) = parent {
            forms::update_index(&mut self.children, parent.clone(), class, true);
            self.parents.insert(class.to_owned(), parent);
        }
        let relinked = self.find_root(class) != root;
        if relinked {
            self.stirred.extend([class.to_owned(), root]);
        }
        // A first name that no unit has mentioned alone is only an alias; there is nothing to merge.
        merges.extend(merge.filter(|_| self.forms.contains(class)).map(|it| (it.id, it)));
        let before = self.merges.remove(class).unwrap_or_default();
        let removed = before.keys().filter(|it| !merges.contains_key(it));
        out.removed.extend(removed.map(|it| DerivedId {
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
    fn rebuild_entities(
        &mut self,
        space: &SpaceId,
        nodes: BTreeSet<String>,
        out: &mut ChangedObjects,
    ) -> BTreeSet<String> {
        let mut touched = BTreeSet::new();
        let mut likenesses = BTreeSet::new();
        let mut built = BTreeMap::new();
        for node in nodes {
            let now = self.build_entity(space, &node);
            let before = self.shown.get(&node);
            // A speaker never shares a name with another entity.
            let means = |it: &Entity| (it.name.clone(), it.kind == EntityKind::Speaker);
            if before.map(means) != now.as_ref().map(means) {
                touched.insert(node.clone());
            }
            likenesses.extend(
                self.synonyms
                    .set_entity(&node, now.as_ref().map(|it| (it.name.as_str(), it.kind))),
            );
            built.insert(node, now);
        }
        for node in likenesses {
            let known = self.shown.get(&node).cloned();
            built.entry(node).or_insert(known);
        }
        for (node, now) in built {
            let now = now.map(|it| Entity {
                synonyms: self.synonyms_of_node(space, &node),
                ..it
            });
            match now {
                Some(now) if self.shown.get(&node) != Some(&now) => {
                    out.put.push(Derived::Entity(now.clone()));
                    self.shown.insert(node, now);
                }
                Some(_) => {}
                None => {
                    let removed = self.shown.remove(&node);
                    out.removed.extend(removed.map(|it| Derived::Entity(it).id()));
                }
            }
        }
        touched
    }

    fn synonyms_of_node(&self, space: &SpaceId, node: &str) -> Vec<Synonym> {
        let edges = self.synonyms.top_edges(node).into_iter();
        let mut out: Vec<Synonym> = edges
            .map(|(other, cosine)| Synonym {
                entity: EntityId::from_name(space, other),
                cosine,
            })
            .collect();
        out.sort_by(|a, b| b.cosine.total_cmp(&a.cosine).then_with(|| a.entity.cmp(&b.entity)));
        out
    }

    /// Returns the entities with a role in relation to this one, and those about whose roles this one speaks.
    fn nodes_related_by_role(&self, node: &str) -> BTreeSet<String> {
        let members = self.member_classes(node);
        members
            .iter()
            .flat_map(|it| {
                self.role_counts
                    .role_holders(it)
                    .chain(self.role_counts.names_with_roles_told_by(it))
            })
            .map(|it| self.find_root(it))
            .collect()
    }
}

/// Keeps one change per id, ordered by id: the last put counts, and an id that is put is not deleted.
fn keep_last_change_by_id(changed: ChangedObjects) -> ChangedObjects {
    let put: BTreeMap<DerivedId, Derived> = changed.put.into_iter().map(|it| (it.id(), it)).collect();
    let removed: BTreeSet<DerivedId> = changed.removed.into_iter().filter(|it| !put.contains_key(it)).collect();
    ChangedObjects {
        put: put.into_values().collect(),
        removed: removed.into_iter().collect(),
    }
}
