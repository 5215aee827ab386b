//! Which entity has which name.

use std::collections::{BTreeMap, BTreeSet};

use domain::entity::Entity;
use domain::id::EntityId;

/// Entities and whatever they are called.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    entities: BTreeMap<EntityId, Entity>,
    claims: BTreeMap<String, BTreeSet<EntityId>>,
}

impl Names {
    pub(super) fn get(&self, id: EntityId) -> Option<&Entity> {
        self.entities.get(&id)
    }

    /// Puts an entity, or takes it away. Returns the names whose owner may be another one now.
    pub(super) fn set(&mut self, id: EntityId, entity: Option<&Entity>) -> BTreeSet<String> {
        let entity = entity.filter(|it| it.mentions > 0 || !it.roles.is_empty());
        let old = match entity {
            Some(entity) => self.entities.insert(id, entity.clone()),
            None => self.entities.remove(&id),
        };
        let before = old.iter().flat_map(called).collect::<BTreeSet<String>>();
        let after = entity.into_iter().flat_map(called).collect::<BTreeSet<String>>();
        let renamed = old.map(|it| (it.name, it.kind)) != entity.map(|it| (it.name.clone(), it.kind));
        for name in before.difference(&after) {
            if let Some(claims) = self.claims.get_mut(name) {
                claims.remove(&id);
                if claims.is_empty() {
                    self.claims.remove(name);
                }
            }
        }
        for name in &after {
            self.claims.entry(name.clone()).or_default().insert(id);
        }
        if renamed {
            before.union(&after).cloned().collect()
        } else {
            before.symmetric_difference(&after).cloned().collect()
        }
    }

    /// Returns the entity that a normalised name means: of several the one whose own name it is, else none.
    pub(super) fn owner(&self, name: &str) -> Option<EntityId> {
        let claims = self.claims.get(name)?;
        let own = |id: &&EntityId| self.entities.get(id).is_some_and(|it| normalised(&it.name) == name);
        let mut claims: Vec<&EntityId> = claims.iter().collect();
        if claims.len() > 1 {
            claims.retain(own);
        }
        (claims.len() == 1).then(|| *claims[0])
    }

    /// Returns all that claim a name.
    pub(super) fn claimants(&self, name: &str) -> impl Iterator<Item = EntityId> {
        self.claims.get(name).into_iter().flatten().copied()
    }

    /// Returns the names by which an entity is meant, normalised.
    pub(super) fn of(&self, id: EntityId) -> BTreeSet<String> {
        let names = self.entities.get(&id).into_iter().flat_map(called);
        names.filter(|it| self.owner(it) == Some(id)).collect()
    }
}

fn called(entity: &Entity) -> BTreeSet<String> {
    let names = [&entity.name].into_iter().chain(&entity.aliases);
    names.map(|it| normalised(it)).filter(|it| !it.is_empty()).collect()
}

/// Returns the form under which names are the same: lower case, single spaces, without an article.
pub(super) fn normalised(name: &str) -> String {
    let lower = name.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    let article = words.len() > 1 && words[0] == "the";
    words[usize::from(article)..].join(" ")
}
