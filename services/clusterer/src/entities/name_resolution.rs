//! Entity linking: resolves names to entities, and tracks which resolutions may have changed.

use std::collections::BTreeSet;

use domain::entity::Entity;

use super::fold::{fold_name, normalise_form};
use super::{Entities, roles};
use crate::entities::merging::namesakes::NameUse;
use crate::entities::names::common_words;
use crate::space::named_entity::NamedEntity;
use crate::word_lists::SELF_WORDS;

/// Suffix of a key; a class never contains an apostrophe.
const OWNING: &str = "'s";

impl Entities {
    /// Records the keys whose resolution may have changed in a round. `touched` are nodes that appeared, disappeared
    /// or got another name.
    pub(super) fn record_moved_keys(&mut self, touched: &BTreeSet<String>) {
        let mut from = std::mem::take(&mut self.stirred);
        for node in touched {
            match node.strip_prefix('=') {
                Some(form) => from.insert(fold_name(form)),
                None => from.insert(node.clone()),
            };
        }
        let mut moved = BTreeSet::new();
        let mut owners = BTreeSet::new();
        for key in &from {
            if let Some(owner) = key.strip_suffix(OWNING) {
                owners.insert(owner.to_owned());
                continue;
            }
            // The classes merged into it, and everyone who refers to one of them by a role ("my sister").
            let below = self.member_classes(&self.find_root(key));
            for member in below.iter().chain([key]) {
                owners.insert(member.clone());
                owners.extend(self.role_counts.roles_of_name(member).map(|it| it.0.clone()));
                // The name of the owner decides which of several namesakes is meant.
                for name in self
                    .entities_with_several_owners(member)
                    .iter()
                    .flat_map(|it| self.member_classes(it))
                {
                    owners.extend(self.role_counts.roles_of_name(&name).map(|it| it.0.clone()));
                    moved.insert(name);
                }
            }
            moved.extend(below);
        }
        for owner in owners {
            let members = self.member_classes(&self.find_root(&owner));
            moved.extend(members.iter().chain([&owner]).map(|it| role_holders_key(it)));
        }
        moved.extend(from);
        self.moved = moved;
    }

    /// Returns the node of the entity that a name or nickname denotes.
    fn find_node_by_name(&self, phrase: &str) -> Option<String> {
        let form = normalise_form(phrase);
        let parted = format!("={form}");
        if self.shown.contains_key(&parted) {
            return Some(parted);
        }
        let class = fold_name(&form);
        let lower = !form.chars().any(char::is_uppercase);
        let written = || self.forms.forms_of_class(&class).any(|(it, _)| *it == form);
        if lower && common_words::is_common(&class) && !written() {
            return None;
        }
        Some(self.find_root(&class))
    }

    /// Returns the owner, and the node of the only entity that has the role in the phrase, as said by `actor`.
    fn find_node_by_role(&self, actor: &str, phrase: &str) -> Option<(String, String)> {
        let (owner, role, kin) = roles::parse_role_phrase(phrase, actor)?;
        let owner = self.find_root(&fold_name(&owner));
        let plain = role == kin.word;
        if plain && !kin.single {
            return None;
        }
        let members = self.member_classes(&owner);
        let roles_of_members = members.iter().flat_map(|it| self.role_counts.roles_of_owner(it));
        let kind_of = |it: &str| {
            it.strip_suffix(kin.word)
                .is_some_and(|it| it.ends_with(' ') && it != "former ")
        };
        let fits = roles_of_members.filter(|(it, _)| *it == &role || plain && kind_of(it));
        let found: BTreeSet<String> = fits
            .flat_map(|(_, names)| names.keys())
            .map(|it| self.find_root(it))
            .collect();
        let only = found.first().filter(|_| found.len() == 1)?;
        self.shown.contains_key(only).then(|| (owner, only.clone()))
    }

    /// Returns the entity of a node; of several namesakes, the one that is meant.
    fn resolve_namesake(&self, node: &str, by: &NameUse<'_>) -> Option<NamedEntity> {
        let entity = self.shown.get(node)?;
        let Some(shared) = self.find_namesakes(node) else {
            return Some(to_named(entity));
        };
        let (owner, role) = shared.find_meant_role(by)?;
        let name = self.shown.get(owner).map_or(owner, |it| &it.name);
        Some(NamedEntity {
            id: None,
            name: format!("{name}'s {role}"),
        })
    }
}

/// Resolution of names, as of the last call of [`Entities::take_changes`].
impl Entities {
    /// Returns the entity that `actor` means by `phrase`: a name, a nickname, "my sister", or the actor itself for
    /// "I". Returns none if the phrase is unknown or ambiguous.
    pub fn resolve_phrase(&self, actor: &str, phrase: &str) -> Option<NamedEntity> {
        let phrase = phrase.trim();
        if is_self(phrase) {
            let node = self.find_node_by_name(actor).filter(|_| !actor.is_empty())?;
            return self.shown.get(&node).map(to_named);
        }
        if let Some((owner, node)) = self.find_node_by_role(actor, phrase) {
            return self.resolve_namesake(&node, &NameUse::Owner(&owner));
        }
        self.resolve_namesake(
            &self.find_node_by_name(phrase)?,
            &NameUse::Teller(&self.find_root(&fold_name(actor))),
        )
    }

    /// Returns the keys on which the result of [`Entities::resolve_phrase`] depends. They follow from the words alone.
    pub fn resolution_keys(&self, actor: &str, phrase: &str) -> BTreeSet<String> {
        if is_self(phrase) {
            return BTreeSet::from([fold_name(actor)]);
        }
        let owner = roles::parse_role_phrase(phrase.trim(), actor).map(|it| role_holders_key(&fold_name(&it.0)));
        owner.into_iter().chain([fold_name(phrase)]).collect()
    }

    /// Returns the keys of all results that may have changed in the last round.
    pub fn moved_keys(&self) -> &BTreeSet<String> {
        &self.moved
    }
}

fn to_named(entity: &Entity) -> NamedEntity {
    NamedEntity {
        id: Some(entity.id),
        name: entity.name.clone(),
    }
}

/// Returns the key of everyone who has a role in relation to an owner.
pub(super) fn role_holders_key(owner: &str) -> String {
    format!("{owner}{OWNING}")
}

/// Returns true if a phrase denotes its speaker.
fn is_self(phrase: &str) -> bool {
    SELF_WORDS.contains(phrase.trim().to_lowercase().as_str())
}
