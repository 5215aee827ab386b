//! Stretches of a session around given records, as stored.

use std::collections::BTreeSet;

use chrono::{DateTime, FixedOffset};
use domain::PortError;
use domain::id::{RecordId, SessionId, SpaceId};
use host::Backends;

use crate::picture_store::with_captions;
use crate::segment::{MARGIN, Stretch};

/// Records asked for behind the one a stretch is fetched around.
const AHEAD: usize = 240;

/// The key that orders a record inside its session, with its id.
pub(crate) type Place = (DateTime<FixedOffset>, u64, RecordId);

/// Returns stretches of the session that hold every wanted record, if it is stored, with [`MARGIN`] neighbours around it. The
/// records have the captions that readings give their pictures.
pub(crate) async fn around(
    backends: &Backends,
    space: &SpaceId,
    session: SessionId,
    wanted: &BTreeSet<Place>,
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
        // The last ones of a cut stretch have too few neighbours; they get a stretch of their own.
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
