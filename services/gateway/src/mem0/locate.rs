//! Finds the space of a memory. Clients give only the id of the memory, so all spaces that the key opens are searched.
//! A cache of recently shown ids avoids most searches.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use domain::id::{SpaceId, UnitId};
use domain::record::Record;
use domain::unit::{Status, Unit};
use futures::future::try_join_all;

use super::errors::no_memory;
use super::memory::{self, Memory, first_version, same_part};
use crate::auth::Access;
use crate::config::Right;
use crate::problem::Problem;
use crate::state::App;
use crate::{opened, versions};

/// Minimum number of ids in the cache; the maximum is twice this number.
const PLACES: usize = 50_000;
/// Maximum number of spaces searched for one id.
const SPACES_MAX: usize = 10_000;
/// Number of spaces searched in parallel.
const AT_ONCE: usize = 16;
/// Number of spaces listed in one step.
const PAGE: usize = 500;

/// Cache of the spaces of recently shown memories.
#[derive(Default)]
pub(crate) struct Places(Mutex<Halves>);

/// Ids shown since the last swap of the halves, and ids shown before it.
#[derive(Default)]
struct Halves {
    new: HashMap<UnitId, Arc<SpaceId>>,
    old: HashMap<UnitId, Arc<SpaceId>>,
}

impl Places {
    /// Caches the space of memories.
    pub(super) fn put(&self, space: &SpaceId, ids: impl IntoIterator<Item = UnitId>) {
        let space = Arc::new(space.clone());
        let mut halves = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for id in ids {
            if halves.new.len() >= PLACES {
                halves.old = std::mem::take(&mut halves.new);
            }
            halves.new.insert(id, Arc::clone(&space));
        }
    }

    fn get(&self, id: UnitId) -> Option<SpaceId> {
        let halves = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = halves.new.get(&id).or_else(|| halves.old.get(&id));
        found.map(|it| SpaceId::clone(it))
    }
}

/// A memory that was found, with all versions of its record.
pub(super) struct Found {
    pub(super) space: SpaceId,
    pub(super) memory: Memory,
    /// The first one first.
    pub(super) versions: Vec<Record>,
}

impl Found {
    /// Returns the caller's id of the first version.
    pub(super) fn name(&self) -> &str {
        let record = &self.memory.record;
        record.version.as_ref().map_or(&record.external_id, |it| &it.of)
    }
}

/// Returns a memory by its id from the spaces that the key opens.
///
/// # Errors
/// 403 if the key has this right in no space, 404 if no space that the key opens holds the memory.
pub(super) async fn memory(app: &App, access: &Access, right: Right, id: &str) -> Result<Found, Problem> {
    // A change returns the memory, so it also needs the right to read.
    access.demand(Right::Read)?;
    access.demand(right)?;
    let id: UnitId = id.trim().parse().map_err(|_| no_memory())?;
    if let Some(space) = app.mem0_places.get(id).filter(|it| access.opens(it.as_str()))
        && let Some(unit) = unit(app, &space, id).await?
    {
        return found(app, space, unit).await;
    }
    let prefix = &app.config.mem0.space_prefix;
    let (mut after, mut seen) = (None, 0);
    while seen < SPACES_MAX {
        let page = opened::spaces_under(app, access, prefix, after.as_ref(), PAGE).await?;
        seen += page.len();
        for some in page.chunks(AT_ONCE) {
            let looks = some
                .iter()
                .map(async |it| Ok::<_, Problem>((&it.space, unit(app, &it.space, id).await?)));
            for (space, unit) in try_join_all(looks).await? {
                if let Some(unit) = unit {
                    return found(app, space.clone(), unit).await;
                }
            }
        }
        match page.last() {
            Some(last) if page.len() == PAGE => after = Some(last.space.clone()),
            Some(_) | None => break,
        }
    }
    Err(no_memory())
}

async fn unit(app: &App, space: &SpaceId, id: UnitId) -> Result<Option<Unit>, Problem> {
    let found = app.stores().graph.units(space, &[id]).await?.into_iter().next();
    Ok(found.filter(|it| it.status != Status::Superseded))
}

/// Returns the newest version of the memory that a unit belongs to.
async fn found(app: &App, space: SpaceId, shown: Unit) -> Result<Found, Problem> {
    let of = shown.external_ids.first().ok_or_else(no_memory)?;
    let versions = versions::stored(app, &space, of).await?;
    let record = versions.last().ok_or_else(no_memory)?;
    let told = shown.records.first().copied().ok_or_else(no_memory)?;
    let wanted = same_part(shown.id, told, record.id);
    let newest = match unit(app, &space, wanted).await? {
        Some(unit) => unit,
        // A shorter version has fewer parts.
        None => unit(app, &space, UnitId::turn(record.id))
            .await?
            .ok_or_else(no_memory)?,
    };
    let first = versions.first().filter(|it| it.id == first_version(record));
    let memory = memory::memory(app, first, record.clone(), newest);
    app.mem0_places.put(&space, [memory.id, shown.id]);
    Ok(Found {
        space,
        memory,
        versions,
    })
}
