//! Removes erased records, and the words of curations about them, from batches that failed and became dead letters.
//!
//! An erasure looks through the dead letters of the space; after a batch became a dead letter, the writer checks it for
//! records erased in the meantime. Whichever happens last removes the record. A check that fails is repeated, and one
//! that a killed process left out is made when the writer starts. The other records of the batch stay, and are written
//! when it is replayed.

use std::collections::BTreeSet;
use std::time::Duration;

use domain::curation::Curation;
use domain::id::{SpaceId, UnitId};
use domain::message::{Message, RecordsAcceptedV1};
use domain::port::{DeadLetter, DeadLetterId};
use domain::record::Record;
use domain::{Classify, ErrorKind, PortError};
use host::{Backends, Context};
use tokio::sync::Notify;
use tokio::time::sleep;
use tracing::warn;

use crate::erasure::{erasing_acts, orphaned_curations};
use crate::store_access::unit_retirement;
use crate::units::turn_units::units_of;

/// Number of dead letters read in one request; each may be as large as a batch.
const AT_ONCE: usize = 16;
/// Maximum number of dead letters that one look at all of them covers. Further ones wait for the next erasure in their
/// space.
const LETTERS_MAX: usize = 100_000;
/// Maximum number of times that one call looks at the dead letters of a space.
const LOOKS_MAX: usize = 3;
/// Pause after a look at all dead letters that failed.
const AGAIN: Duration = Duration::from_secs(30);
const AMEND: &str = "dead_letters.amend";

/// Removes erased records and the words of orphaned curations from all dead letters of a space. Looks at them again if
/// one of them disappeared meanwhile: another process that does not know of a new erasure yet may have amended it.
///
/// # Errors
///
/// `Unavailable` if a letter disappeared at each of [`LOOKS_MAX`] looks.
pub(crate) async fn clean_dead_letters(backends: &Backends, space: &SpaceId) -> Result<(), PortError> {
    for _ in 0..LOOKS_MAX {
        if clean_each_letter_once(backends, space).await? {
            return Ok(());
        }
    }
    let detail = "dead letters of the space are being amended or replayed";
    Err(PortError::new(AMEND, ErrorKind::Unavailable, detail))
}

/// Cleans the dead letters of a space. Returns false if one of them disappeared before it was amended.
async fn clean_each_letter_once(backends: &Backends, space: &SpaceId) -> Result<bool, PortError> {
    let (mut after, mut is_complete) = (0, true);
    loop {
        let letters = backends.dead_letters.of_space(space.as_str(), after, AT_ONCE).await?;
        let read = letters.len();
        after = letters.last().map_or(after, |it| it.id);
        let batches = letters.into_iter().filter_map(parse_batch).collect();
        is_complete &= take_out(backends, space, batches).await?;
        if read < AT_ONCE {
            return Ok(is_complete);
        }
    }
}

/// Removes erased records and the words of orphaned curations from a dead letter. If it disappeared meanwhile, looks at
/// all dead letters of the space.
async fn clean_dead_letter(backends: &Backends, letter: DeadLetter, batch: RecordsAcceptedV1) -> Result<(), PortError> {
    let space = batch.space.clone();
    match take_out(backends, &space, vec![(letter, batch)]).await? {
        true => Ok(()),
        false => clean_dead_letters(backends, &space).await,
    }
}

/// Looks at dead letters that no erasure will look at: those that became one after the erasure of their records.
#[derive(Default)]
pub(crate) struct LetterSweep {
    /// Asks for a look at all dead letters.
    again: Notify,
}

impl LetterSweep {
    /// Removes erased records and the words of orphaned curations from a batch that has just become a dead letter. If
    /// that fails, all dead letters are looked at later.
    pub(crate) async fn given_up(&self, backends: &Backends, id: DeadLetterId) {
        if let Err(error) = looked_at(backends, id).await {
            warn!(
                error = &error as &dyn std::error::Error,
                letter = id,
                "cannot remove erased records from a dead letter, will try again"
            );
            self.again.notify_one();
        }
    }

    /// Looks at all dead letters at once, because a process may have ended before it looked at its last one, and again
    /// whenever that failed, until shutdown.
    pub(crate) async fn run(&self, context: &Context) {
        let shutdown = &context.shutdown;
        loop {
            match shutdown
                .run_until_cancelled(sweep_dead_letters(&context.backends))
                .await
            {
                None => return,
                Some(Ok(())) => {}
                Some(Err(error)) => {
                    warn!(
                        error = &error as &dyn std::error::Error,
                        "cannot look for erased records in all dead letters"
                    );
                    if error.kind().is_retryable() {
                        self.again.notify_one();
                    }
                    if shutdown.run_until_cancelled(sleep(AGAIN)).await.is_none() {
                        return;
                    }
                }
            }
            if shutdown.run_until_cancelled(self.again.notified()).await.is_none() {
                return;
            }
        }
    }
}

/// Removes erased records and the words of orphaned curations from the dead letters of all spaces. A failure with one
/// does not keep the others from being looked at. Returns the failure, if there is one; one that may pass, if possible.
async fn sweep_dead_letters(backends: &Backends) -> Result<(), PortError> {
    let (mut after, mut seen) = (0, 0);
    let mut failure: Option<PortError> = None;
    while seen < LETTERS_MAX {
        let letters = backends.dead_letters.list(after, AT_ONCE).await?;
        let Some(last) = letters.last() else { break };
        after = last.id;
        seen += letters.len();
        for (letter, batch) in letters.into_iter().filter_map(parse_batch) {
            match clean_dead_letter(backends, letter, batch).await {
                // Without the space there is no letter either.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) if failure.as_ref().is_none_or(|it| !it.kind().is_retryable()) => failure = Some(error),
                _ => {}
            }
        }
    }
    failure.map_or(Ok(()), Err)
}

async fn looked_at(backends: &Backends, id: DeadLetterId) -> Result<(), PortError> {
    let letters = backends.dead_letters.list(id.saturating_sub(1), 1).await?;
    let Some((letter, batch)) = letters.into_iter().filter(|it| it.id == id).find_map(parse_batch) else {
        return Ok(());
    };
    clean_dead_letter(backends, letter, batch).await
}

/// Parses a batch, or returns none for another kind of message or an unreadable one.
fn parse_batch(letter: DeadLetter) -> Option<(DeadLetter, RecordsAcceptedV1)> {
    let own = letter.subject == RecordsAcceptedV1::SUBJECT;
    let batch = own
        .then(|| serde_json::from_str(&letter.payload))
        .and_then(Result::ok)?;
    Some((letter, batch))
}

/// Removes erased records and the words of orphaned curations from batches. Returns false if the dead letter of one of
/// them disappeared before it was amended.
async fn take_out(
    backends: &Backends,
    space: &SpaceId,
    batches: Vec<(DeadLetter, RecordsAcceptedV1)>,
) -> Result<bool, PortError> {
    let records: Vec<&Record> = batches.iter().flat_map(|(_, batch)| &batch.records).collect();
    let erased = erasing_acts::find_revoked_records(backends, space, records).await?;
    // A failed attempt may have stored their units after the erasure, and the batch will not contain them any more.
    let of_erased = batches.iter().flat_map(|(_, batch)| &batch.records);
    let of_erased = of_erased.filter(|it| erased.contains(&it.id));
    let units: BTreeSet<UnitId> = of_erased.flat_map(units_of).collect();
    unit_retirement::retire_units(backends, space, &units).await?;
    let acts = batches.iter().flat_map(|(_, batch)| batch.curations.iter().cloned());
    let acts: Vec<Curation> = acts.collect();
    let orphaned = orphaned_curations::find_orphaned_curations(backends, space, &acts).await?;
    let mut is_complete = true;
    for (letter, mut batch) in batches {
        let before = batch.records.len();
        batch.records.retain(|it| !erased.contains(&it.id));
        let mut is_changed = batch.records.len() < before;
        for act in batch.curations.iter_mut().filter(|it| orphaned.contains(&it.id)) {
            *act = act.clone().without_words();
            is_changed = true;
        }
        if is_changed {
            is_complete &= replace_batch(backends, &letter, &batch).await?;
        }
    }
    Ok(is_complete)
}

/// Replaces a batch by the rest of it. If nothing is left, the batch counts as written. Returns false if the dead
/// letter does not exist any more.
async fn replace_batch(backends: &Backends, letter: &DeadLetter, batch: &RecordsAcceptedV1) -> Result<bool, PortError> {
    let shortened = if batch.records.is_empty() && batch.curations.is_empty() {
        backends.records.mark_written(&batch.space, letter.position).await?;
        backends.dead_letters.discard(letter.id).await
    } else {
        let payload = serde_json::to_vec(batch).map_err(|source| {
            PortError::new(AMEND, ErrorKind::Internal, "a batch cannot be written as JSON").caused_by(source)
        })?;
        backends.dead_letters.amend(letter.id, &payload).await
    };
    match shortened {
        // It was amended, replayed or discarded meanwhile. A replay skips erased records.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        outcome => outcome.map(|()| true),
    }
}
