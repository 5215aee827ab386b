use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use domain::entity::{Bearer, Entity};
use domain::id::EntityId;

use super::MemoryAsOf;
use super::names::normalise_name;
use super::posting_lists::Posts;

/// Entities by id and by every name.
#[derive(Clone, Default)]
pub(super) struct Entities {
    all: BTreeMap<EntityId, Arc<Entity>>,
    by_name: Posts<String, EntityId>,
    bytes: usize,
}

impl Entities {
    pub(super) fn put_entity(&mut self, entity: Entity) {
        self.remove_entity(entity.id);
        self.update_index(&entity, true);
        self.all.insert(entity.id, Arc::new(entity));
    }

    pub(super) fn remove_entity(&mut self, id: EntityId) {
        if let Some(old) = self.all.remove(&id) {
            self.update_index(&old, false);
        }
    }

    pub(super) fn size_in_bytes(&self) -> usize {
        self.bytes + self.by_name.size_in_bytes()
    }

    fn update_index(&mut self, entity: &Entity, add: bool) {
        let mut size = 192 + 32 * entity.synonyms.len();
        for name in names_of_entity(entity) {
            self.by_name.add_or_remove(normalise_name(name), entity.id, add);
            size += 24 + 2 * name.len();
        }
        let words = entity.bearers.iter().flat_map(|it| it.roles.iter().chain(&it.tellers));
        size += words.map(|it| 48 + it.len()).sum::<usize>();
        self.bytes = if add { self.bytes + size } else { self.bytes - size };
    }
}

/// The person that a speaker means by a name.
#[derive(Clone, Debug, PartialEq)]
pub enum PersonMatch {
    /// The name has only one known person.
    One,
    /// This one of several people who share the name.
    This(Bearer),
    /// One of these people; it is unclear which one.
    Several(Vec<Bearer>),
}

/// Returns every name of an entity.
pub(super) fn names_of_entity(entity: &Entity) -> impl Iterator<Item = &String> {
    let others = entity.aliases.iter().chain(&entity.roles);
    std::iter::once(&entity.name).chain(others)
}

impl<'a> MemoryAsOf<'a> {
    /// Returns an entity. If it was merged into another entity, returns that one.
    pub fn find_entity(self, id: EntityId) -> Option<Arc<Entity>> {
        let MemoryAsOf { memory, .. } = self;
        let all = &memory.entities.all;
        let merge_target = || EntityId::from_uuid(memory.merges.find_final_target(id.uuid()));
        let entity = all.get(&id).or_else(|| all.get(&merge_target()))?;
        self.is_entity_known(entity).then(|| Arc::clone(entity))
    }

    /// Returns the entities, by id.
    pub fn all_entities(self) -> impl Iterator<Item = Arc<Entity>> + 'a {
        let all = self.memory.entities.all.values();
        all.filter(move |it| self.is_entity_known(it)).map(Arc::clone)
    }

    /// Returns the entities with this name, alias or role, most mentions first, ties by id.
    pub fn entities_called(self, name: &str) -> Vec<Arc<Entity>> {
        let entities = &self.memory.entities;
        let ids = entities.by_name.values_of_key(&normalise_name(name));
        let mut found: Vec<Arc<Entity>> = ids
            .filter_map(|it| entities.all.get(&it))
            .filter(|it| self.is_entity_known(it))
            .map(Arc::clone)
            .collect();
        found.sort_by_key(|it| (Reverse(it.mentions), it.id));
        found
    }

    /// Returns the person that `teller` means by a name in `text`. If several people share the name, it is the one whom
    /// the text identifies by an owner ("Tom's boss Ana"), else the one about whom `teller` spoke before.
    pub fn resolve_person(self, name: &str, teller: &str, text: &str) -> PersonMatch {
        let name = normalise_name(name);
        let bearers: Vec<Bearer> = self
            .entities_called(&name)
            .iter()
            .flat_map(|it| it.bearers.clone())
            .collect();
        if bearers.is_empty()
            || bearers
                .iter()
                .flat_map(|it| &it.roles)
                .any(|it| normalise_name(it) == name)
        {
            return PersonMatch::One;
        }
        let (teller, text) = (normalise_name(teller), text.to_lowercase().replace('\u{2019}', "'"));
        let is_role_mentioned = |it: &&Bearer| it.roles.iter().any(|it| text.contains(&it.to_lowercase()));
        let theirs = |it: &&Bearer| it.tellers.iter().any(|it| normalise_name(it) == teller);
        let only = |mut found: Vec<&Bearer>| found.pop().filter(|_| found.is_empty()).cloned();
        let one = only(bearers.iter().filter(is_role_mentioned).collect())
            .or_else(|| only(bearers.iter().filter(theirs).collect()));
        one.map_or(PersonMatch::Several(bearers), PersonMatch::This)
    }

    fn is_entity_known(self, entity: &Entity) -> bool {
        entity.first_seen.is_none_or(|it| self.covers_moment(it))
    }
}
