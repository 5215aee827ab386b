//! Maps names to entities.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use domain::entity::Entity;
use domain::id::EntityId;
use serde::{Deserialize, Serialize};

use crate::space::small_map::SmallMap;

/// A normalised name, ordered alphabetically; see [`normalise_name`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "Arc<str>", into = "Arc<str>")]
pub(crate) struct Name {
    /// The first 16 bytes, so that most names can be compared without reading the rest.
    head: [u64; 2],
    text: Arc<str>,
}

impl Name {
    /// Returns the name for this spelling.
    pub(crate) fn from_written(written: &str) -> Name {
        Name::from_normalised(normalise_name(written).into())
    }

    /// Returns the name of a text that [`Name::as_str`] returned.
    pub(crate) fn from_normalised(text: Arc<str>) -> Name {
        let mut head = [[0; 8]; 2];
        head.as_flattened_mut()
            .iter_mut()
            .zip(text.bytes())
            .for_each(|(to, from)| *to = from);
        let head = head.map(u64::from_be_bytes);
        Name { head, text }
    }

    /// Returns true if nothing is left of the name.
    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Returns the normalised name without copying its text.
    pub(crate) fn shared_text(&self) -> Arc<str> {
        Arc::clone(&self.text)
    }

    /// Returns the normalised name.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the length in bytes.
    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }
}

impl From<Arc<str>> for Name {
    fn from(text: Arc<str>) -> Name {
        Name::from_normalised(text)
    }
}

impl From<Name> for Arc<str> {
    fn from(name: Name) -> Arc<str> {
        name.text
    }
}

/// Entities and their names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    /// Boxed, because up to half of a hash table is empty, and its values are large.
    entities: HashMap<EntityId, Box<Called>>,
    claims: HashMap<Name, Claims>,
}

/// An entity and its names.
#[derive(Clone, Debug)]
struct Called {
    entity: Entity,
    /// The main name.
    own: Name,
    /// All names, including the main one, in alphabetical order.
    names: Box<[Name]>,
}

/// The entities that have a name.
#[derive(Clone, Debug, Default)]
struct Claims {
    all: SmallMap<EntityId, ()>,
    owner: Option<EntityId>,
}

impl Names {
    pub(crate) fn find_entity(&self, id: EntityId) -> Option<&Entity> {
        self.entities.get(&id).map(|it| &it.entity)
    }

    /// Adds or replaces an entity, or removes it if `entity` is none. Returns the names whose owner may have changed.
    pub(crate) fn set_entity(&mut self, id: EntityId, entity: Option<&Entity>) -> BTreeSet<Name> {
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
        let new = entity.map(collect_names);
        let names = |it: &Option<Box<Called>>| -> BTreeSet<Name> {
            let names = it.iter().flat_map(|it| &it.names);
            names.cloned().collect()
        };
        let (before, after) = (names(&old), names(&new));
        let name_and_kind = |it: &Option<Box<Called>>| it.as_ref().map(|it| (it.entity.name.clone(), it.entity.kind));
        let renamed = name_and_kind(&old) != name_and_kind(&new);
        self.entities.extend(new.map(|it| (id, it)));
        for name in before.difference(&after) {
            if let Some(claims) = self.claims.get_mut(name) {
                claims.all.remove(&id);
            }
        }
        for name in &after {
            self.claims.entry(name.clone()).or_default().all.insert(id, ());
        }
        for name in before.union(&after) {
            self.update_owner(name);
        }
        if renamed {
            before.union(&after).cloned().collect()
        } else {
            before.symmetric_difference(&after).cloned().collect()
        }
    }

    /// Finds the owner of a name again: the only entity that has it or, of several, the only one whose main name it
    /// is; otherwise none.
    fn update_owner(&mut self, name: &Name) {
        let Some(claims) = self.claims.get_mut(name) else {
            return;
        };
        let own = |id: &&EntityId| self.entities.get(id).is_some_and(|it| it.own == *name);
        let mut all: Vec<&EntityId> = claims.all.keys().collect();
        if all.len() > 1 {
            all.retain(own);
        }
        claims.owner = (all.len() == 1).then(|| *all[0]);
        if claims.all.is_empty() {
            self.claims.remove(name);
        }
    }

    /// Returns the entity that a name denotes: the only one that has the name or, of several, the only one whose main
    /// name it is. In all other cases there is none.
    pub(crate) fn owner_of_name(&self, name: &Name) -> Option<EntityId> {
        self.claims.get(name)?.owner
    }

    /// Returns all entities that have a name.
    pub(crate) fn entities_with_name(&self, name: &Name) -> impl Iterator<Item = EntityId> {
        self.claims.get(name).into_iter().flat_map(|it| it.all.keys()).copied()
    }

    /// Returns the names that denote an entity, in alphabetical order.
    pub(crate) fn names_of_entity(&self, id: EntityId) -> impl Iterator<Item = &Name> {
        let names = self.entities.get(&id).into_iter().flat_map(|it| &it.names);
        names.filter(move |it| self.owner_of_name(it) == Some(id))
    }
}

fn collect_names(entity: &Entity) -> Box<Called> {
    let own = Name::from_written(&entity.name);
    let aliases = entity.aliases.iter().map(|it| Name::from_written(it));
    let names: BTreeSet<Name> = aliases.chain([own.clone()]).filter(|it| !it.is_empty()).collect();
    let names = names.into_iter().collect();
    let entity = entity.clone();
    Box::new(Called { entity, own, names })
}

/// Returns the normalised form of a name: lower case, single spaces, no article.
fn normalise_name(name: &str) -> String {
    let lower = name.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    let article = words.len() > 1 && words[0] == "the";
    words[usize::from(article)..].join(" ")
}
