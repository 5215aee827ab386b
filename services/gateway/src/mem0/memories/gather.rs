//! Reads the memories that match a filter.

use domain::id::SpaceId;
use domain::port::{Room, Selection};
use host::clock;

use crate::api::problem::Problem;
use crate::app::state::App;
use crate::mem0::filters::filter::Filter;
use crate::mem0::memory::{self, Memory};
use crate::use_cases::lists::list_page::PAGE_BYTES_MAX;

/// Maximum number of memories in one response, over all of its pages.
const MEMORIES_MAX: usize = 10_000;
/// Number of units read in one step.
const AT_ONCE: usize = 1_000;

/// Memories that match a filter.
#[derive(Default)]
pub(crate) struct Gathered {
    /// The newest first, ties by id.
    pub(crate) memories: Vec<Memory>,
    /// Whether older memories are left out.
    pub(crate) is_cut: bool,
}

impl Gathered {
    /// Adds memories, and drops the oldest ones if there are more than `most`.
    fn add_memories(&mut self, memories: impl IntoIterator<Item = Memory>, most: usize) {
        self.memories.extend(memories);
        self.memories
            .sort_by(|a, b| b.created_at.cmp(&a.created_at).then(a.id.cmp(&b.id)));
        // A unit that changes while the pages are read may be on two of them.
        self.memories.dedup_by_key(|it| it.id);
        self.is_cut |= self.memories.len() > most;
        self.memories.truncate(most);
    }
}

/// Memories on a page of units.
pub(crate) struct MatchingMemories {
    pub(crate) memories: Vec<Memory>,
    /// Where the next page begins; `None` at the end of the space.
    pub(crate) next: Option<u64>,
}

/// Returns the memories that match a filter, of the units of a space from a place on, at most `most`.
pub(crate) async fn read_matching_memories(
    app: &App,
    space: &SpaceId,
    filter: &Filter,
    from: u64,
    most: usize,
) -> Result<MatchingMemories, Problem> {
    let room = Room {
        items: most.min(AT_ONCE),
        bytes: PAGE_BYTES_MAX,
    };
    let everything = Selection::default();
    let (units, next) = app.stores().graph.select(space, &everything, from, room).await?;
    let memories = memory::load_memories(app, space, units).await?.into_iter();
    let taken: Vec<Memory> = memories.filter(|it| filter.accepts_memory(it)).collect();
    app.mem0_places.cache_space(space, taken.iter().map(|it| it.id));
    Ok(MatchingMemories { memories: taken, next })
}

/// Returns the newest memories in the spaces that match a filter, at most [`MEMORIES_MAX`]. Expired memories are left
/// out unless `is_expired_wanted`.
///
/// A store lists units by their latest changes, the earliest change first, so the newest memories come last. All units
/// are read for each page of a list, because mem0's clients get the number of memories on all pages, and the newest
/// memories first. Only these memories and one page of units are in memory. The time limit of the request bounds the
/// time.
pub(crate) async fn gather_memories(
    app: &App,
    spaces: &[SpaceId],
    filter: &Filter,
    is_expired_wanted: bool,
) -> Result<Gathered, Problem> {
    let today = clock::now().date_naive();
    let mut found = Gathered::default();
    for space in spaces {
        let mut after = Some(0);
        while let Some(from) = after {
            let page = read_matching_memories(app, space, filter, from, AT_ONCE).await?;
            let wanted = |it: &Memory| is_expired_wanted || !it.is_expired(today);
            found.add_memories(page.memories.into_iter().filter(wanted), MEMORIES_MAX);
            after = page.next;
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use domain::id::{RecordId, UnitId};
    use domain::record::Record;
    use domain::unit::Unit;
    use serde_json::json;

    use super::*;
    use crate::mem0::requests::scope::Entities;

    /// Returns a memory that was created in this minute.
    fn memory_of_minute(minute: u32) -> Memory {
        let space: SpaceId = "mem0-ann".parse().unwrap();
        let name = minute.to_string();
        let id = RecordId::from_external_id(&space, &name);
        let at = format!("2026-05-07T12:{minute:02}:00Z");
        let session = "00000000-0000-4000-8000-000000000000";
        let record = json!({"id": id, "space": space, "external_id": name, "session": session,
            "session_name": "default", "ordinal": 0, "modality": "text", "actor": "user", "text": name,
            "observed_at": at, "metadata": {}});
        let record: Record = serde_json::from_value(record).unwrap();
        let unit = json!({"id": UnitId::of_turn(id), "grain": "turn", "session": session, "records": [id],
            "external_ids": [name], "observed_at": at, "ordinal": 0, "modality": "text", "actor": "user", "text": name,
            "summary": "", "derived_by": "test", "confidence": 1.0});
        let unit: Unit = serde_json::from_value(unit).unwrap();
        Memory {
            id: unit.id,
            entities: Entities::of_record("mem0-", &record),
            created_at: record.observed_at,
            record: Arc::new(record),
            unit,
        }
    }

    #[test]
    fn the_newest_memories_are_kept_regardless_of_the_order_of_reading() {
        for order in [[1, 2, 3, 4, 5], [5, 4, 3, 2, 1], [3, 5, 1, 4, 2]] {
            let mut found = Gathered::default();
            for pages in order.chunks(2) {
                found.add_memories(pages.iter().map(|it| memory_of_minute(*it)), 3);
            }
            let texts: Vec<&str> = found.memories.iter().map(|it| it.record.text.as_str()).collect();
            assert_eq!((texts, found.is_cut), (vec!["5", "4", "3"], true), "{order:?}");
        }
        let mut all = Gathered::default();
        all.add_memories([2, 1, 3].map(memory_of_minute), 3);
        assert_eq!((all.memories.len(), all.is_cut), (3, false));
        all.add_memories([memory_of_minute(2)], 3);
        assert_eq!((all.memories.len(), all.is_cut), (3, false), "it was read before");
    }
}
