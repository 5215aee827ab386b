//! Keeps the entities of spaces in step with their units.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use chrono::{DateTime, Utc};
use domain::derived::{Derived, DerivedId, DerivedKind};
use domain::entity::Entity;
use domain::id::{EntityId, SpaceId};
use domain::{Classify, ErrorKind};
use host::Backends;
use tokio::sync::Mutex;
use tracing::{Instrument, debug, info_span};

use crate::{Error, Tally};

/// Spaces that can be followed at once; two spaces share a shelf now and then.
const SHELVES: usize = 8;
/// Changes read and entities written in one step.
const AT_ONCE: usize = 1_000;

/// Counts of the spaces that changed last.
pub(crate) struct Follower {
    backends: Backends,
    shelves: Vec<Mutex<Shelf>>,
    /// Spaces a shelf holds.
    spaces_max: usize,
}

#[derive(Default)]
struct Shelf {
    spaces: BTreeMap<SpaceId, Followed>,
    /// Number of uses, to tell which space was not used for longest.
    uses: u64,
}

struct Followed {
    /// Tells a space from an erased one of the same name.
    created_at: DateTime<Utc>,
    /// Last change taken in.
    sequence: u64,
    tally: Tally,
    /// Entities as they are stored.
    stored: BTreeMap<EntityId, Entity>,
    used: u64,
}

impl Follower {
    pub(crate) fn new(backends: Backends, spaces_max: usize) -> Follower {
        let shelves = (0..SHELVES).map(|_| Mutex::default()).collect();
        Follower {
            backends,
            shelves,
            spaces_max: spaces_max.div_ceil(SHELVES).max(1),
        }
    }

    /// Takes in whatever changed since the last time and stores the entities that changed with it.
    pub(crate) async fn catch_up(&self, space: &SpaceId) -> Result<(), Error> {
        let mut shelf = self.shelves[shelf(space)].lock().await;
        // Taken out while it is worked on: what fails half-way is counted again from the store.
        let followed = shelf.spaces.remove(space);
        let outcome = self
            .followed(space, followed)
            .instrument(info_span!("catch_up", %space))
            .await;
        match outcome {
            Ok(Some(followed)) => {
                shelf.put(space, followed, self.spaces_max);
                Ok(())
            }
            Ok(None) => Ok(()),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                debug!(%space, "space is gone, nothing to organise");
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    async fn followed(&self, space: &SpaceId, known: Option<Followed>) -> Result<Option<Followed>, Error> {
        let Some(info) = self.backends.records.space(space).await? else {
            return Ok(None);
        };
        let mut followed = match known.filter(|it| it.created_at == info.created_at) {
            Some(followed) => followed,
            None => self.opened(space, info.created_at).await?,
        };
        loop {
            let changes = self.backends.graph.changes(space, followed.sequence, AT_ONCE).await?;
            let Some(last) = changes.last() else { break };
            followed.sequence = last.sequence;
            followed = tokio::task::spawn_blocking(move || {
                changes.iter().for_each(|it| followed.tally.apply(&it.unit));
                followed
            })
            .await?;
        }
        let own = space.clone();
        let (mut followed, changed) = tokio::task::spawn_blocking(move || {
            let changed = followed.changed(&own);
            (followed, changed)
        })
        .await?;
        for some in changed.chunks(AT_ONCE) {
            let (kept, gone): (Vec<Derived>, Vec<Derived>) = some
                .iter()
                .map(|it| Derived::Entity(it.clone()))
                .partition(is_mentioned);
            let gone: Vec<DerivedId> = gone.iter().map(Derived::id).collect();
            self.backends.graph.put_derived(space, &kept, &gone).await?;
        }
        followed.note(changed);
        Ok(Some(followed))
    }

    async fn opened(&self, space: &SpaceId, created_at: DateTime<Utc>) -> Result<Followed, Error> {
        let mut stored: BTreeMap<EntityId, Entity> = BTreeMap::new();
        loop {
            let after = stored.last_key_value().map(|(id, _)| *id);
            let after = after.map(EntityId::uuid);
            let graph = &self.backends.graph;
            let page = graph.list_derived(space, DerivedKind::Entity, after, AT_ONCE).await?;
            let full = page.len() == AT_ONCE;
            stored.extend(page.into_iter().filter_map(|it| match it {
                Derived::Entity(it) => Some((it.id, it)),
                Derived::Fact(_) | Derived::Topic(_) | Derived::Member(_) | Derived::Page(_) | Derived::Merge(_) => {
                    None
                }
            }));
            if !full {
                return Ok(Followed {
                    created_at,
                    sequence: 0,
                    tally: Tally::default(),
                    stored,
                    used: 0,
                });
            }
        }
    }
}

impl Shelf {
    fn put(&mut self, space: &SpaceId, mut followed: Followed, spaces_max: usize) {
        self.uses += 1;
        followed.used = self.uses;
        self.spaces.insert(space.clone(), followed);
        while self.spaces.len() > spaces_max {
            let oldest = self
                .spaces
                .iter()
                .min_by_key(|(_, it)| it.used)
                .map(|(space, _)| space.clone());
            let Some(oldest) = oldest else { break };
            self.spaces.remove(&oldest);
        }
    }
}

impl Followed {
    /// Entities that are not stored as they are; without mentions those that are none any more.
    fn changed(&self, space: &SpaceId) -> Vec<Entity> {
        let now: BTreeMap<EntityId, Entity> = self.tally.entities(space).into_iter().map(|it| (it.id, it)).collect();
        let gone = self.stored.iter().filter(|(id, _)| !now.contains_key(*id));
        let mut out: Vec<Entity> = gone
            .map(|(_, it)| Entity {
                mentions: 0,
                ..it.clone()
            })
            .collect();
        out.extend(now.into_values().filter(|it| self.stored.get(&it.id) != Some(it)));
        out
    }

    fn note(&mut self, changed: Vec<Entity>) {
        for entity in changed {
            if entity.mentions > 0 {
                self.stored.insert(entity.id, entity);
            } else {
                self.stored.remove(&entity.id);
            }
        }
    }
}

fn is_mentioned(item: &Derived) -> bool {
    matches!(item, Derived::Entity(it) if it.mentions > 0)
}

fn shelf(space: &SpaceId) -> usize {
    let mut hasher = DefaultHasher::new();
    space.hash(&mut hasher);
    usize::try_from(hasher.finish() % SHELVES as u64).unwrap_or_default()
}
