use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use domain::entity::{Bearer, Entity};
use domain::id::EntityId;

use super::Known;
use super::names::normalised;
use super::posts::Posts;

/// Entities by id and by every name.
#[derive(Clone, Default)]
pub(super) struct Entities {
    all: BTreeMap<EntityId, Arc<Entity>>,
    by_name: Posts<String, EntityId>,
    bytes: usize,
}

impl Entities {
    pub(super) fn put(&mut self, entity: Entity) {
        self.remove(entity.id);
        self.index(&entity, true);
        self.all.insert(entity.id, Arc::new(entity));
    }

    pub(super) fn remove(&mut self, id: EntityId) {
        if let Some(old) = self.all.remove(&id) {
            self.index(&old, false);
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes + self.by_name.bytes()
    }

    fn index(&mut self, entity: &Entity, add: bool) {
        let mut size = 192 + 32 * entity.synonyms.len();
        for name in names(entity) {
            self.by_name.set(normalised(name), entity.id, add);
            size += 24 + 2 * name.len();
        }
        let words = entity.bearers.iter().flat_map(|it| it.roles.iter().chain(&it.tellers));
        size += words.map(|it| 48 + it.len()).sum::<usize>();
        self.bytes = if add { self.bytes + size } else { self.bytes - size };
    }
}

/// The person that a speaker means by a name.
#[derive(Clone, Debug, PartialEq)]
pub enum Meant {
    /// The name has only one known person.
    One,
    /// This one of several people who share the name.
    This(Bearer),
    /// One of these people; it is unclear which one.
    Several(Vec<Bearer>),
}

/// Returns every name of an entity.
pub(super) fn names(entity: &Entity) -> impl Iterator<Item = &String> {
    let others = entity.aliases.iter().chain(&entity.roles);
    std::iter::once(&entity.name).chain(others)
}

impl<'a> Known<'a> {
    /// Returns an entity. If it was merged into another entity, returns that one.
    pub fn entity(self, id: EntityId) -> Option<Arc<Entity>> {
        let Known { memory, .. } = self;
        let all = &memory.entities.all;
        let kept = || EntityId::from_uuid(memory.merges.kept(id.uuid()));
        let entity = all.get(&id).or_else(|| all.get(&kept()))?;
        self.met(entity).then(|| Arc::clone(entity))
    }

    /// Returns the entities, by id.
    pub fn entities(self) -> impl Iterator<Item = Arc<Entity>> + 'a {
        let all = self.memory.entities.all.values();
        all.filter(move |it| self.met(it)).map(Arc::clone)
    }

    /// Returns the entities with this name, alias or role, most mentions first, ties by id.
    pub fn called(self, name: &str) -> Vec<Arc<Entity>> {
        let entities = &self.memory.entities;
        let ids = entities.by_name.get(&normalised(name));
        let mut found: Vec<Arc<Entity>> = ids
            .filter_map(|it| entities.all.get(&it))
            .filter(|it| self.met(it))
            .map(Arc::clone)
            .collect();
        found.sort_by_key(|it| (Reverse(it.mentions), it.id));
        found
    }

    /// Returns the person that `teller` means by a name in `text`. If several people share the name, it is the one whom
    /// the text identifies by an owner ("Tom's boss Ana"), else the one about whom `teller` spoke before.
    pub fn meant(self, name: &str, (teller, text): (&str, &str)) -> Meant {
        let name = normalised(name);
        let bearers: Vec<Bearer> = self.called(&name).iter().flat_map(|it| it.bearers.clone()).collect();
        if bearers.is_empty() || bearers.iter().flat_map(|it| &it.roles).any(|it| normalised(it) == name) {
            return Meant::One;
        }
        let (teller, text) = (normalised(teller), text.to_lowercase().replace('\u{2019}', "'"));
        let said = |it: &&Bearer| it.roles.iter().any(|it| text.contains(&it.to_lowercase()));
        let theirs = |it: &&Bearer| it.tellers.iter().any(|it| normalised(it) == teller);
        let only = |mut found: Vec<&Bearer>| found.pop().filter(|_| found.is_empty()).cloned();
        let one = only(bearers.iter().filter(said).collect()).or_else(|| only(bearers.iter().filter(theirs).collect()));
        one.map_or(Meant::Several(bearers), Meant::This)
    }

    fn met(self, entity: &Entity) -> bool {
        entity.first_seen.is_none_or(|it| self.knows(it))
    }
}
