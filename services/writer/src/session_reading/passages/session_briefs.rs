//! Reads the features of all records of a session that are needed to divide it into passages.

use domain::PortError;
use domain::id::{SessionId, SpaceId};
use domain::port::{Room, Selection};
use domain::record::Record;
use host::Backends;

use crate::reading::passage::Brief;

/// Number of records read in one request.
const AT_ONCE: usize = 240;

/// Returns the briefs of all records of a session, in session order.
pub(crate) async fn read_briefs(
    backends: &Backends,
    space: &SpaceId,
    session: SessionId,
) -> Result<Vec<Brief>, PortError> {
    let Some(mut first) = any_record(backends, space, session).await? else {
        return Ok(Vec::new());
    };
    loop {
        let before = backends.records.session(space, session, first.id, AT_ONCE, 0).await?;
        match before.into_iter().next() {
            Some(earlier) if earlier.id != first.id => first = earlier,
            Some(_) | None => break,
        }
    }
    let mut briefs = vec![Brief::from_record(&first)];
    let mut last = first.id;
    loop {
        let page = backends.records.session(space, session, last, 1, AT_ONCE).await?;
        let behind = page.iter().skip_while(|it| it.id != last).skip(1);
        let read = briefs.len();
        briefs.extend(behind.map(Brief::from_record));
        match briefs.last() {
            Some(it) if briefs.len() > read => last = it.id,
            Some(_) | None => return Ok(briefs),
        }
    }
}

async fn any_record(backends: &Backends, space: &SpaceId, session: SessionId) -> Result<Option<Record>, PortError> {
    let of = Selection {
        session: Some(session),
        ..Selection::default()
    };
    let mut after = 0;
    loop {
        let (page, next) = backends.records.select(space, &of, after, Room::of_items(1)).await?;
        match (page.into_iter().next(), next) {
            (Some(record), _) => return Ok(Some(record)),
            (None, Some(next)) => after = next,
            (None, None) => return Ok(None),
        }
    }
}
