//! Objects that are derived from units and stored under an id: facts, entities, topics, members, pages, merges,
//! standings.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::entity::Entity;
use crate::fact::Fact;
use crate::merge::{Merge, Standing};
use crate::page::Page;
use crate::topic::{Member, Topic};

/// The kinds of derived objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DerivedKind {
    /// A [`Fact`].
    Fact,
    /// An [`Entity`].
    Entity,
    /// A [`Topic`].
    Topic,
    /// A [`Member`], under the id of its unit.
    Member,
    /// A [`Page`].
    Page,
    /// A [`Merge`].
    Merge,
    /// A [`Standing`], under the id of its unit.
    Standing,
}

/// Kind and id of a derived object; the pair is unique in a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DerivedId {
    /// The kind.
    pub kind: DerivedKind,
    /// The id.
    pub id: Uuid,
}

/// One derived object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "body", rename_all = "snake_case")]
pub enum Derived {
    /// A fact.
    Fact(Fact),
    /// An entity.
    Entity(Entity),
    /// A topic.
    Topic(Topic),
    /// An event unit's place in a topic.
    Member(Member),
    /// A page.
    Page(Page),
    /// A merge.
    Merge(Merge),
    /// The merges that an event unit is part of.
    Standing(Standing),
}

impl Derived {
    /// Returns the kind and the id.
    pub fn id(&self) -> DerivedId {
        let (kind, id) = match self {
            Derived::Fact(it) => (DerivedKind::Fact, it.id.uuid()),
            Derived::Entity(it) => (DerivedKind::Entity, it.id.uuid()),
            Derived::Topic(it) => (DerivedKind::Topic, it.id.uuid()),
            Derived::Member(it) => (DerivedKind::Member, it.unit.uuid()),
            Derived::Page(it) => (DerivedKind::Page, it.id.uuid()),
            Derived::Merge(it) => (DerivedKind::Merge, it.id.uuid()),
            Derived::Standing(it) => (DerivedKind::Standing, it.unit.uuid()),
        };
        DerivedId { kind, id }
    }
    /// Returns true if all numbers of the object are finite. Other numbers cannot be stored.
    pub fn is_finite(&self) -> bool {
        match self {
            Derived::Fact(it) => {
                let former = it.former.iter().filter_map(|it| it.fact.as_ref());
                std::iter::once(it).chain(former).all(|it| it.confidence.is_finite())
            }
            Derived::Entity(it) => it.synonyms.iter().all(|it| it.cosine.is_finite()),
            Derived::Topic(_) | Derived::Standing(_) => true,
            Derived::Member(it) => it.similarity.is_finite(),
            Derived::Page(it) => {
                let sections = it.sections.iter().map(|it| it.confidence);
                let links = it.links.iter().map(|it| it.weight);
                it.confidence.is_finite() && sections.chain(links).all(f32::is_finite)
            }
            Derived::Merge(it) => it.similarity.is_finite(),
        }
    }
}
