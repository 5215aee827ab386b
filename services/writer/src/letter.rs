//! Erased records that batches carry which were given up.
//!
//! Whoever erases looks through the dead letters of the space; whoever gives a batch up looks afterwards whether it carries
//! what was erased meanwhile. So one of both takes it out, however the two meet. The other records of the batch stay, and
//! are written once it is replayed.

use domain::id::SpaceId;
use domain::message::{Message, RecordsAcceptedV1};
use domain::port::{DeadLetter, DeadLetterId};
use domain::record::Record;
use domain::{Classify, ErrorKind, PortError};
use host::Backends;
use tracing::warn;

use crate::erase;

/// Dead letters read in one step; each may be as large as a batch.
const AT_ONCE: usize = 16;

/// Takes what was erased out of all dead letters of a space.
pub(crate) async fn clean(backends: &Backends, space: &SpaceId) -> Result<(), PortError> {
    let mut after = 0;
    loop {
        let letters = backends.dead_letters.of_space(space.as_str(), after, AT_ONCE).await?;
        let read = letters.len();
        after = letters.last().map_or(after, |it| it.id);
        let batches = letters.into_iter().filter_map(batch).collect();
        take_out(backends, space, batches).await?;
        if read < AT_ONCE {
            return Ok(());
        }
    }
}

/// Takes what was erased out of a batch that has just been given up.
pub(crate) async fn given_up(backends: &Backends, id: DeadLetterId) {
    if let Err(error) = looked_at(backends, id).await {
        warn!(
            error = &error as &dyn std::error::Error,
            letter = id,
            "cannot look for erased records in a dead letter; the next erasure in its space does"
        );
    }
}

async fn looked_at(backends: &Backends, id: DeadLetterId) -> Result<(), PortError> {
    let letters = backends.dead_letters.list(id.saturating_sub(1), 1).await?;
    let Some((letter, batch)) = letters.into_iter().filter(|it| it.id == id).find_map(batch) else {
        return Ok(());
    };
    let space = batch.space.clone();
    take_out(backends, &space, vec![(letter, batch)]).await
}

/// Reads a batch; none if it is something else, or cannot be read by anybody.
fn batch(letter: DeadLetter) -> Option<(DeadLetter, RecordsAcceptedV1)> {
    let own = letter.subject == RecordsAcceptedV1::SUBJECT;
    let batch = own
        .then(|| serde_json::from_str(&letter.payload))
        .and_then(Result::ok)?;
    Some((letter, batch))
}

async fn take_out(
    backends: &Backends,
    space: &SpaceId,
    batches: Vec<(DeadLetter, RecordsAcceptedV1)>,
) -> Result<(), PortError> {
    let records: Vec<&Record> = batches.iter().flat_map(|(_, batch)| &batch.records).collect();
    let erased = erase::revoked(backends, space, records).await?;
    if erased.is_empty() {
        return Ok(());
    }
    for (letter, mut batch) in batches {
        let before = batch.records.len();
        batch.records.retain(|it| !erased.contains(&it.id));
        if batch.records.len() < before {
            shorten(backends, &letter, &batch).await?;
        }
    }
    Ok(())
}

/// Puts what is left of a batch in its place; one of which nothing is left is as good as written.
async fn shorten(backends: &Backends, letter: &DeadLetter, batch: &RecordsAcceptedV1) -> Result<(), PortError> {
    const OPERATION: &str = "dead_letters.amend";
    let shortened = if batch.records.is_empty() && batch.curations.is_empty() {
        backends.records.mark_written(&batch.space, letter.position).await?;
        backends.dead_letters.discard(letter.id).await
    } else {
        let payload = serde_json::to_vec(batch).map_err(|source| {
            PortError::new(OPERATION, ErrorKind::Internal, "a batch cannot be written as JSON").caused_by(source)
        })?;
        backends.dead_letters.amend(letter.id, &payload).await
    };
    match shortened {
        // Replayed or discarded meanwhile. A batch that is replayed leaves out what was erased.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        outcome => outcome,
    }
}
