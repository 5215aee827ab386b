//! Builds entities and merges in the form in which they are reported.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use domain::entity::{Entity, EntityKind};
use domain::id::{EntityId, MergeId, SpaceId};
use domain::merge::{Merge, MergeOf};
use domain::relation::RelationKind;

use super::{Entities, STEPS_MAX, fold};
use crate::entities::merging::merge_rules::Link;
use crate::entities::names::forms::{Form, Sum};
use crate::space::small_map::SmallMap;

/// Maximum number of aliases and of roles reported for one entity.
const ALIASES_MAX: usize = 16;

impl Entities {
    /// Returns the merges between forms of a class, and the forms that a curation separated from it. The form that
    /// was mentioned first is kept.
    pub(super) fn merges_between_forms(&self, space: &SpaceId, class: &str) -> (Vec<Merge>, BTreeSet<String>) {
        let remaining = EntityId::from_name(space, class).uuid();
        let own = |form: &str| EntityId::from_name(space, &format!("={form}")).uuid();
        let undone = |form: &str| self.acts.is_parted(MergeId::from_pair(remaining, own(form)));
        let mut forms: Vec<(&String, &Form)> = self.forms.forms_of_class(class).collect();
        forms.sort_by_key(|(form, it)| (undone(form), it.first_mention(), *form));
        let Some((head, _)) = forms.first() else {
            return (Vec::new(), BTreeSet::new());
        };
        let merges = forms[1..].iter().map(|(form, _)| Merge {
            id: MergeId::from_pair(remaining, own(form)),
            of: MergeOf::Entities,
            kept: remaining,
            merged: own(form),
            names: [(*head).clone(), (*form).clone()],
            similarity: 1.0,
            same_event: true,
            has_overlap: true,
            relation_type: Some(RelationKind::SameAs),
            reason: fold::explain_same_class(head, form).to_owned(),
            records: Vec::new(),
            since: None,
            undone: undone(form),
            undone_at: self.acts.parted_at(MergeId::from_pair(remaining, own(form))),
        });
        let parted = forms[1..].iter().filter(|(form, _)| undone(form));
        (merges.collect(), parted.map(|(form, _)| (*form).clone()).collect())
    }

    /// Returns the merge of a class into another one.
    pub(super) fn build_merge(&self, space: &SpaceId, link: &Link, class: &str) -> Merge {
        let remaining = EntityId::from_name(space, &link.parent).uuid();
        let merged = EntityId::from_name(space, class).uuid();
        let id = MergeId::from_pair(remaining, merged);
        let name = |class: &str| self.main_form(class).cloned().unwrap_or_else(|| class.to_owned());
        let names = [name(&link.parent), name(class)];
        let table = text::EmbeddingTable::builtin();
        let (one, other) = (table.embed_text(&names[0]), table.embed_text(&names[1]));
        let cosine: f32 = one.iter().zip(&other).map(|(x, y)| x * y).sum();
        Merge {
            id,
            of: MergeOf::Entities,
            kept: remaining,
            merged,
            names,
            similarity: cosine.clamp(0.0, 1.0),
            same_event: true,
            has_overlap: true,
            relation_type: Some(RelationKind::SameAs),
            reason: link.why.to_owned(),
            records: Vec::new(),
            since: None,
            undone: self.acts.is_parted(id),
            undone_at: self.acts.parted_at(id),
        }
    }

    /// Returns the classes of an entity: its own first, then the classes merged into it.
    pub(super) fn member_classes(&self, node: &str) -> Vec<String> {
        let mut out = vec![node.to_owned()];
        let mut from = 0;
        for _ in 0..STEPS_MAX {
            let below: Vec<String> = out[from..]
                .iter()
                .flat_map(|it| self.children.get(it).into_iter().flat_map(SmallMap::keys))
                .filter(|it| !out.contains(it))
                .cloned()
                .collect();
            if below.is_empty() {
                break;
            }
            from = out.len();
            out.extend(below);
        }
        out
    }

    /// Returns the entity of a node without its synonyms. Returns none if no unit mentions it, if it is merged into
    /// another one, or if no unit surely uses it as a name.
    pub(super) fn build_entity(&self, space: &SpaceId, node: &str) -> Option<Entity> {
        if let Some(form) = node.strip_prefix('=') {
            return self.parted_form(space, node, form);
        }
        if self.parents.contains_key(node) {
            return None;
        }
        let members = self.member_classes(node);
        let mut sum = Sum::default();
        let mut aliases: BTreeSet<String> = BTreeSet::new();
        for class in &members {
            let parted = self.parted.get(class);
            for (form, count) in self
                .forms
                .forms_of_class(class)
                .filter(|it| !parted.is_some_and(|parted| parted.contains(it.0)))
            {
                sum.add_form(count);
                aliases.insert(form.clone());
            }
        }
        if !sum.is_named() {
            return None;
        }
        let name = self.main_form(node)?.clone();
        // The first name of a full name is an alias even if no unit uses it alone.
        let first = name
            .split(' ')
            .find(|it| fold::short_name(node) == Some(&fold::fold_name(it)));
        aliases.extend(
            first
                .filter(|it| members.contains(&fold::fold_name(it)))
                .map(str::to_owned),
        );
        aliases.remove(&name);
        let kind = entity_kind(&sum);
        Some(Entity {
            id: EntityId::from_name(space, node),
            bearers: match kind {
                EntityKind::Speaker => Vec::new(),
                EntityKind::Person | EntityKind::Place | EntityKind::Other => self.build_bearers(&members),
            },
            kind,
            aliases: aliases.into_iter().take(ALIASES_MAX).collect(),
            mentions: sum.mention_count + sum.actor_count,
            first_seen: sum.first,
            roles: self.role_phrases(&members),
            synonyms: Vec::new(),
            name,
        })
    }

    /// Returns the main form of a class: the one that most units have as their actor, then the one mentioned most;
    /// ties by the first mention, then in alphabetical order.
    pub(super) fn main_form(&self, class: &str) -> Option<&String> {
        let parted = self.parted.get(class);
        let forms = self
            .forms
            .forms_of_class(class)
            .filter(|it| !parted.is_some_and(|parted| parted.contains(it.0)));
        let best = forms.max_by_key(|(form, it)| {
            (
                it.actor_count,
                it.mention_count,
                Reverse(it.first_mention()),
                Reverse(*form),
            )
        });
        best.map(|it| it.0)
    }

    fn parted_form(&self, space: &SpaceId, node: &str, form: &str) -> Option<Entity> {
        let class = fold::fold_name(form);
        self.parted.get(&class).filter(|it| it.contains(form))?;
        let (_, count) = self.forms.forms_of_class(&class).find(|(it, _)| *it == form)?;
        let mut sum = Sum::default();
        sum.add_form(count);
        Some(Entity {
            id: EntityId::from_name(space, node),
            name: form.to_owned(),
            kind: entity_kind(&sum),
            aliases: Vec::new(),
            mentions: sum.mention_count + sum.actor_count,
            first_seen: sum.first,
            roles: Vec::new(),
            bearers: Vec::new(),
            synonyms: Vec::new(),
        })
    }

    /// Returns roles like "Ann's sister", with the main form of the owner's name.
    fn role_phrases(&self, members: &[String]) -> Vec<String> {
        let roles = members.iter().flat_map(|it| self.role_counts.roles_of_name(it));
        let phrases = roles.filter_map(|(owner, role)| {
            let root = self.find_root(owner);
            let name = self.main_form(&root).filter(|_| !members.contains(&root))?;
            Some(format!("{name}'s {role}"))
        });
        let all: BTreeSet<String> = phrases.collect();
        all.into_iter().take(ALIASES_MAX).collect()
    }
}

/// Returns `Speaker` if it speaks, `Person` if at least as much evidence says person as place, `Place` if any
/// evidence says so, otherwise `Other`.
fn entity_kind(sum: &Sum) -> EntityKind {
    if sum.actor_count > 0 {
        EntityKind::Speaker
    } else if sum.is_person() {
        EntityKind::Person
    } else if sum.place > 0 {
        EntityKind::Place
    } else {
        EntityKind::Other
    }
}
