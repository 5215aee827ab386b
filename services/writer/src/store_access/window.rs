//! Reads stretches of a session around given records.

use std::collections::BTreeSet;

use chrono::{DateTime, FixedOffset};
use domain::PortError;
use domain::id::{RecordId, SessionId, SpaceId};
use host::Backends;

use crate::pictures::picture_store::with_captions;
use crate::segments::segment::MARGIN;
use crate::segments::stretch::Stretch;

/// Number of records requested after the one around which a stretch is fetched.
const AHEAD: usize = 240;

/// The key by which the records of a session are ordered, including the id.
pub(crate) type RecordOrder = (DateTime<FixedOffset>, u64, RecordId);

/// Returns stretches of the session that contain each wanted record that is stored, with [`MARGIN`] neighbours on
/// each side. The records have the captions from readings.
pub(crate) async fn read_stretches(
    backends: &Backends,
    space: &SpaceId,
    session: SessionId,
    wanted: &BTreeSet<RecordOrder>,
) -> Result<Vec<Stretch>, PortError> {
    let mut out: Vec<Stretch> = Vec::new();
    let wanted: Vec<RecordId> = wanted.iter().map(|it| it.2).collect();
    let mut next = 0;
    while let Some(&id) = wanted.get(next) {
        next += 1;
        let records = backends.records.session(space, session, id, MARGIN + 1, AHEAD).await?;
        let Some(at) = records.iter().position(|it| it.id == id) else {
            continue;
        };
        let ends = records.len() - at <= AHEAD;
        // The last records of an incomplete stretch have too few neighbours; they get another stretch.
        let sure = if ends { records.len() } else { records.len() - MARGIN };
        let covered: BTreeSet<RecordId> = records[at..sure].iter().map(|it| it.id).collect();
        let records = with_captions(backends, space, records).await?;
        next += wanted[next..].iter().take_while(|it| covered.contains(it)).count();
        out.push(Stretch {
            starts: at < MARGIN,
            ends,
            records,
        });
    }
    Ok(out)
}
