//! Stretches of a session around given records, as stored.

use std::collections::BTreeSet;

use domain::PortError;
use domain::id::{RecordId, SessionId, SpaceId};
use host::Backends;

use crate::segment::{MARGIN, Stretch};

/// Records asked for behind the one a stretch is fetched around.
const AHEAD: usize = 240;

/// Returns stretches of the session that hold every wanted record, if it is stored, with [`MARGIN`] neighbours around it.
pub(crate) async fn around(
    backends: &Backends,
    space: &SpaceId,
    session: SessionId,
    wanted: &BTreeSet<RecordId>,
) -> Result<Vec<Stretch>, PortError> {
    let stored = backends
        .records
        .get(space, &wanted.iter().copied().collect::<Vec<_>>())
        .await?;
    let mut waiting: Vec<_> = stored.into_iter().map(|it| (it.order(), it.id)).collect();
    waiting.sort();
    let mut out: Vec<Stretch> = Vec::new();
    let mut next = 0;
    while let Some((_, id)) = waiting.get(next) {
        let records = backends.records.session(space, session, *id, MARGIN + 1, AHEAD).await?;
        let Some(at) = records.iter().position(|it| it.id == *id) else {
            break;
        };
        let ends = records.len() - at <= AHEAD;
        // The last ones of a cut stretch have too few neighbours; they get a stretch of their own.
        let sure = if ends { records.len() } else { records.len() - MARGIN };
        let covered: BTreeSet<RecordId> = records[at..sure].iter().map(|it| it.id).collect();
        next += waiting[next..]
            .iter()
            .take_while(|(_, it)| covered.contains(it))
            .count()
            .max(1);
        out.push(Stretch {
            starts: at < MARGIN,
            ends,
            records,
        });
    }
    Ok(out)
}
