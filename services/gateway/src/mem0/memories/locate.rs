//! Finds the space of a memory. Clients give only the id of the memory, so all spaces that the key opens are searched.
//! A cache of recently shown ids avoids most searches.

use std::sync::Arc;

use domain::id::{SpaceId, UnitId};
use domain::unit::{Status, Unit};
use futures::future::try_join_all;

use crate::api::problem::Problem;
use crate::app::config::Right;
use crate::app::keys::access::Access;
use crate::app::opened_spaces;
use crate::app::state::App;
use crate::mem0::memory::{self, Memory, first_version, same_part};
use crate::mem0::requests::errors::no_memory;
use crate::use_cases::write::versions;

/// Maximum number of spaces searched for one id.
const SPACES_MAX: usize = 10_000;
/// Number of spaces searched in parallel.
const AT_ONCE: usize = 16;
/// Number of spaces listed in one step.
const PAGE: usize = 500;

/// A memory that was found, with the newest version of its record.
pub(crate) struct FoundMemory {
    pub(crate) space: SpaceId,
    pub(crate) memory: Memory,
}

/// Returns a memory by its id from the spaces that the key opens.
///
/// # Errors
/// 403 if the key has this right in no space, 404 if no space that the key opens holds the memory.
pub(crate) async fn find_memory(app: &App, access: &Access, right: Right, id: &str) -> Result<FoundMemory, Problem> {
    // A change returns the memory, so it also needs the right to read.
    access.require_right(Right::Read)?;
    access.require_right(right)?;
    let id: UnitId = id.trim().parse().map_err(|_| no_memory())?;
    if let Some(space) = app
        .mem0_places
        .cached_space(id)
        .filter(|it| access.opens_space(it.as_str()))
        && let Some(unit) = find_unit(app, &space, id).await?
    {
        return load_newest_version(app, space, unit).await;
    }
    let prefix = &app.config.mem0.space_prefix;
    let (mut after, mut space_count) = (None, 0);
    while space_count < SPACES_MAX {
        let page = opened_spaces::spaces_under(app, access, prefix, after.as_ref(), PAGE).await?;
        space_count += page.len();
        for some in page.chunks(AT_ONCE) {
            let looks = some
                .iter()
                .map(async |it| Ok::<_, Problem>((&it.space, find_unit(app, &it.space, id).await?)));
            for (space, unit) in try_join_all(looks).await? {
                if let Some(unit) = unit {
                    return load_newest_version(app, space.clone(), unit).await;
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

async fn find_unit(app: &App, space: &SpaceId, id: UnitId) -> Result<Option<Unit>, Problem> {
    let found = app.stores().graph.units(space, &[id]).await?.into_iter().next();
    Ok(found.filter(|it| it.status != Status::Superseded))
}

/// Returns the newest version of the memory that a unit belongs to.
async fn load_newest_version(app: &App, space: SpaceId, shown: Unit) -> Result<FoundMemory, Problem> {
    let of = shown.external_ids.first().ok_or_else(no_memory)?;
    let record = versions::newest_version(app, &space, of).await?.ok_or_else(no_memory)?;
    let shown_record = shown.records.first().copied().ok_or_else(no_memory)?;
    let unit_id = same_part(shown.id, shown_record, record.id);
    let newest = match find_unit(app, &space, unit_id).await? {
        Some(unit) => unit,
        // A shorter version has fewer parts.
        None => find_unit(app, &space, UnitId::of_turn(record.id))
            .await?
            .ok_or_else(no_memory)?,
    };
    let first_id = first_version(&record);
    let first = if first_id == record.id {
        None
    } else {
        app.stores().records.get(&space, &[first_id]).await?.pop()
    };
    let memory = memory::build_memory(app, first.as_ref(), Arc::new(record), newest);
    app.mem0_places.cache_space(&space, [memory.id, shown.id]);
    Ok(FoundMemory { space, memory })
}
