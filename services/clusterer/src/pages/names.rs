//! Which entity has which name.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use domain::entity::Entity;
use domain::id::EntityId;

/// A normalised name; see [`normalised`]. In the order of its letters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Name {
    /// Its first bytes, which tell most names apart without a look at the rest.
    head: [u64; 2],
    text: Arc<str>,
}

impl Name {
    /// The name that is written so.
    pub(super) fn of(written: &str) -> Name {
        let text: Arc<str> = normalised(written).into();
        let mut head = [[0; 8]; 2];
        head.as_flattened_mut()
            .iter_mut()
            .zip(text.bytes())
            .for_each(|(to, from)| *to = from);
        let head = head.map(u64::from_be_bytes);
        Name { head, text }
    }

    /// Says whether there is nothing to tell names apart by.
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Returns the name as it is normalised.
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Its length in bytes.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }
}

/// Entities and whatever they are called.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    entities: HashMap<EntityId, Called>,
    claims: HashMap<Name, Claims>,
}

/// An entity with its names.
#[derive(Clone, Debug)]
struct Called {
    entity: Entity,
    /// The name that it goes by,
    own: Name,
    /// and all of them.
    names: BTreeSet<Name>,
}

/// Who has a name.
#[derive(Clone, Debug, Default)]
struct Claims {
    all: BTreeSet<EntityId>,
    owner: Option<EntityId>,
}

impl Names {
    pub(super) fn get(&self, id: EntityId) -> Option<&Entity> {
        self.entities.get(&id).map(|it| &it.entity)
    }

    /// Puts an entity, or takes it away. Returns the names whose owner may be another one now.
    pub(super) fn set(&mut self, id: EntityId, entity: Option<&Entity>) -> BTreeSet<Name> {
        let entity = entity.filter(|it| it.mentions > 0 || !it.roles.is_empty());
        if let (Some(known), Some(entity)) = (self.entities.get_mut(&id), entity)
            && known.entity.name == entity.name
            && known.entity.kind == entity.kind
            && known.entity.aliases == entity.aliases
        {
            known.entity = entity.clone();
            return BTreeSet::new();
        }
        let old = self.entities.remove(&id);
        let new = entity.map(called);
        let names = |it: &Option<Called>| it.as_ref().map(|it| it.names.clone()).unwrap_or_default();
        let (before, after) = (names(&old), names(&new));
        let shown = |it: &Option<Called>| it.as_ref().map(|it| (it.entity.name.clone(), it.entity.kind));
        let renamed = shown(&old) != shown(&new);
        self.entities.extend(new.map(|it| (id, it)));
        for name in before.difference(&after) {
            if let Some(claims) = self.claims.get_mut(name) {
                claims.all.remove(&id);
            }
        }
        for name in &after {
            self.claims.entry(name.clone()).or_default().all.insert(id);
        }
        for name in before.union(&after) {
            self.settle(name);
        }
        if renamed {
            before.union(&after).cloned().collect()
        } else {
            before.symmetric_difference(&after).cloned().collect()
        }
    }

    /// Finds the owner of a name again: of several that claim it the one whose own name it is, else none.
    fn settle(&mut self, name: &Name) {
        let Some(claims) = self.claims.get_mut(name) else {
            return;
        };
        let own = |id: &&EntityId| self.entities.get(id).is_some_and(|it| it.own == *name);
        let mut all: Vec<&EntityId> = claims.all.iter().collect();
        if all.len() > 1 {
            all.retain(own);
        }
        claims.owner = (all.len() == 1).then(|| *all[0]);
        if claims.all.is_empty() {
            self.claims.remove(name);
        }
    }

    /// Returns the entity that a name means: of several the one whose own name it is, else none.
    pub(super) fn owner(&self, name: &Name) -> Option<EntityId> {
        self.claims.get(name)?.owner
    }

    /// Returns all that claim a name.
    pub(super) fn claimants(&self, name: &Name) -> impl Iterator<Item = EntityId> {
        self.claims.get(name).into_iter().flat_map(|it| &it.all).copied()
    }

    /// Returns the names by which an entity is meant, in their order.
    pub(super) fn of(&self, id: EntityId) -> impl Iterator<Item = &Name> {
        let names = self.entities.get(&id).into_iter().flat_map(|it| &it.names);
        names.filter(move |it| self.owner(it) == Some(id))
    }
}

fn called(entity: &Entity) -> Called {
    let own = Name::of(&entity.name);
    let aliases = entity.aliases.iter().map(|it| Name::of(it));
    let names = aliases.chain([own.clone()]).filter(|it| !it.is_empty()).collect();
    let entity = entity.clone();
    Called { entity, own, names }
}

/// Returns the form under which names are the same: lower case, single spaces, without an article.
fn normalised(name: &str) -> String {
    let lower = name.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    let article = words.len() > 1 && words[0] == "the";
    words[usize::from(article)..].join(" ")
}
