//! Resolves names to entities, and tracks which resolutions may have changed.

use std::collections::BTreeSet;

use domain::entity::Entity;

use super::fold::{fold, form};
use super::shared::By;
use super::{Entities, everyday, roles};
use crate::named::Named;

/// Suffix of a key; a class never contains an apostrophe.
const OWNING: &str = "'s";

impl Entities {
    /// Records the keys whose resolution may have changed in a round. `touched` are nodes that appeared, disappeared
    /// or got another name.
    pub(super) fn tell_moved(&mut self, touched: &BTreeSet<String>) {
        let mut from = std::mem::take(&mut self.stirred);
        for node in touched {
            match node.strip_prefix('=') {
                Some(form) => from.insert(fold(form)),
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
            let below = self.members(&self.root(key));
            for member in below.iter().chain([key]) {
                owners.insert(member.clone());
                owners.extend(self.held.roles(member).map(|it| it.0.clone()));
                // The name of the owner decides which of several namesakes is meant.
                for name in self.contested(member).iter().flat_map(|it| self.members(it)) {
                    owners.extend(self.held.roles(&name).map(|it| it.0.clone()));
                    moved.insert(name);
                }
            }
            moved.extend(below);
        }
        for owner in owners {
            let members = self.members(&self.root(&owner));
            moved.extend(members.iter().chain([&owner]).map(|it| owning(it)));
        }
        moved.extend(from);
        self.moved = moved;
    }

    /// Returns the node of the entity that a name or nickname denotes.
    fn named(&self, phrase: &str) -> Option<String> {
        let form = form(phrase);
        let parted = format!("={form}");
        if self.shown.contains_key(&parted) {
            return Some(parted);
        }
        let class = fold(&form);
        let lower = !form.chars().any(char::is_uppercase);
        let written = || self.forms.of(&class).any(|(it, _)| *it == form);
        if lower && everyday::is_common(&class) && !written() {
            return None;
        }
        Some(self.root(&class))
    }

    /// Returns the owner, and the node of the only entity that has the role in the phrase, as said by `actor`.
    fn related(&self, actor: &str, phrase: &str) -> Option<(String, String)> {
        let (owner, role, kin) = roles::phrase(phrase, actor)?;
        let owner = self.root(&fold(&owner));
        let plain = role == kin.word;
        if plain && !kin.single {
            return None;
        }
        let members = self.members(&owner);
        let held = members.iter().flat_map(|it| self.held.of(it));
        let kind_of = |it: &str| {
            it.strip_suffix(kin.word)
                .is_some_and(|it| it.ends_with(' ') && it != "former ")
        };
        let fits = held.filter(|(it, _)| *it == &role || plain && kind_of(it));
        let found: BTreeSet<String> = fits
            .flat_map(|(_, names)| names.keys())
            .map(|it| self.root(it))
            .collect();
        let only = found.first().filter(|_| found.len() == 1)?;
        self.shown.contains_key(only).then(|| (owner, only.clone()))
    }

    /// Returns the entity of a node; of several namesakes, the one that is meant.
    fn meant(&self, node: &str, by: &By<'_>) -> Option<Named> {
        let entity = self.shown.get(node)?;
        let Some(shared) = self.shared(node) else {
            return Some(one(entity));
        };
        let (owner, role) = shared.meant(by)?;
        let name = self.shown.get(owner).map_or(owner, |it| &it.name);
        Some(Named {
            id: None,
            name: format!("{name}'s {role}"),
        })
    }
}

/// Resolution of names, as of the last call of [`Entities::changed`].
impl Entities {
    /// Returns the entity that `actor` means by `phrase`: a name, a nickname, "my sister", or the actor itself for
    /// "I". Returns none if the phrase is unknown or ambiguous.
    pub fn resolve(&self, actor: &str, phrase: &str) -> Option<Named> {
        let phrase = phrase.trim();
        if is_self(phrase) {
            let node = self.named(actor).filter(|_| !actor.is_empty())?;
            return self.shown.get(&node).map(one);
        }
        if let Some((owner, node)) = self.related(actor, phrase) {
            return self.meant(&node, &By::Owner(&owner));
        }
        self.meant(&self.named(phrase)?, &By::Teller(&self.root(&fold(actor))))
    }

    /// Returns the keys on which the result of [`Entities::resolve`] depends. They follow from the words alone.
    pub fn keys(&self, actor: &str, phrase: &str) -> BTreeSet<String> {
        if is_self(phrase) {
            return BTreeSet::from([fold(actor)]);
        }
        let owner = roles::phrase(phrase.trim(), actor).map(|it| owning(&fold(&it.0)));
        owner.into_iter().chain([fold(phrase)]).collect()
    }

    /// Returns the keys of all results that may have changed in the last round.
    pub fn moved(&self) -> &BTreeSet<String> {
        &self.moved
    }
}

fn one(entity: &Entity) -> Named {
    Named {
        id: Some(entity.id),
        name: entity.name.clone(),
    }
}

/// Returns the key of everyone who has a role in relation to an owner.
pub(super) fn owning(owner: &str) -> String {
    format!("{owner}{OWNING}")
}

/// Returns true if a phrase denotes its speaker.
fn is_self(phrase: &str) -> bool {
    let phrase = phrase.trim().to_lowercase();
    matches!(phrase.as_str(), "i" | "me" | "myself" | "i'm" | "i\u{2019}m")
}
