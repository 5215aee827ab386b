//! Reads what users decided about a space, and which of its pages were read.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use domain::PortError;
use domain::curation::Curation;
use domain::id::{PageId, SpaceId};
use domain::recall::NoteKind;
use host::Backends;

/// Number of curations read in one request.
const AT_ONCE: usize = 1_000;
/// Scope of the notes in which the gateway records when a page was read.
const PAGES: &str = "pages";

/// Returns all curations of a space, in their order.
pub(crate) async fn read_curations(backends: &Backends, space: &SpaceId) -> Result<Vec<Curation>, PortError> {
    let mut all: Vec<Curation> = Vec::new();
    loop {
        let after = all.last().map(|it| it.id);
        let page = backends.records.curations(space, after, AT_ONCE).await?;
        let full = page.len() == AT_ONCE;
        all.extend(page);
        if !full {
            return Ok(all);
        }
    }
}

/// Returns the time at which each page was last read.
pub(crate) async fn read_page_visits(
    backends: &Backends,
    space: &SpaceId,
) -> Result<BTreeMap<PageId, DateTime<Utc>>, PortError> {
    let notes = backends.records.notes(space, PAGES).await?;
    let read = notes.into_iter().filter(|it| it.kind == NoteKind::Read);
    Ok(read.map(|it| (PageId::from_uuid(it.subject), it.at)).collect())
}
