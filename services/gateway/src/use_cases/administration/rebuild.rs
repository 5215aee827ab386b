//! Reindexing: rebuilds the derived data of a space from its records (the source of truth), in a new generation of its
//! index, while the space stays searchable.

use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::id::SpaceId;
use domain::message::{Message, RecordsAcceptedV1};
use domain::port::{Generation, Index, Position};
use domain::record::Record;
use domain::{Classify, ErrorKind, PortError};
use host::Context;
use tokio::time::{Instant, sleep};
use tracing::{Instrument, error, info, info_span};

use crate::api::problem::Problem;
use crate::api::{Rebuild, RebuildState};
use crate::app::state::App;

/// Number of records in one message, and their size in bytes. Only a single record that is longer exceeds the size, in
/// a separate message.
const BATCH: usize = 250;
const BATCH_BYTES: usize = 1 << 20;
/// Number of messages in flight.
const AHEAD: usize = 8;
/// Time after which a wait for a message is judged by whether anything before it was settled in the meantime.
const PATIENCE: Duration = Duration::from_secs(120);
/// Number of unsettled messages, the first ones of the space, by which progress is noticed.
const NOTICED: usize = 32;
const PAUSE: Duration = Duration::from_millis(20);
/// Time after a switch within which every search that began before it has ended.
const SETTLED: Duration = Duration::from_secs(10);
/// Pause between two renewals of the generation.
const RENEWAL_PAUSE: Duration = Duration::from_secs(60);

/// Starts the rebuild of an existing space; the work continues after the response, until shutdown.
pub(crate) fn start_rebuild(app: &App, space: &SpaceId, records: u64) -> Result<Rebuild, Problem> {
    let begun = app.rebuilds.begin_rebuild(space, records)?;
    let (app, space) = (app.clone(), space.clone());
    let span = info_span!("rebuild", %space);
    let work = async move {
        let shutdown = app.context.shutdown.clone();
        let outcome = shutdown.run_until_cancelled(rebuild_space(&app, &space)).await;
        let state = match outcome {
            Some(Ok(())) => RebuildState::Done,
            Some(Err(error)) => {
                error!(
                    error = &error as &dyn std::error::Error,
                    "rebuild failed; the space stays searchable as before"
                );
                RebuildState::Failed
            }
            None => RebuildState::Failed,
        };
        app.rebuilds.set_state(&space, state);
        if state == RebuildState::Done {
            sleep(SETTLED).await;
            if let Err(error) = app.stores().index.delete_unreachable_points(&space).await {
                info!(
                    error = &error as &dyn std::error::Error,
                    "the old generation stays until the next rebuild"
                );
            }
        }
    };
    tokio::spawn(work.instrument(span));
    Ok(begun)
}

async fn rebuild_space(app: &App, space: &SpaceId) -> Result<(), PortError> {
    let index = &app.stores().index;
    let generation = index.begin(space).await?;
    let run = format!("rebuild-{}", generation.0);
    let rederived = rederive_space(&app.context, space, &run, |records| {
        app.rebuilds.set_progress(space, records)
    });
    tokio::select! {
        outcome = rederived => outcome?,
        error = keep_generation(index.as_ref(), space, generation) => return Err(error),
    }
    index.activate_generation(space, generation).await
}

/// Renews a generation while it is being built. Returns an error if the index has abandoned it.
async fn keep_generation(index: &dyn Index, space: &SpaceId, generation: Generation) -> PortError {
    loop {
        sleep(RENEWAL_PAUSE).await;
        match index.renew_generation(space, generation).await {
            Err(error) if error.kind() == ErrorKind::Conflict => return error,
            // The next renewal comes early enough.
            Err(error) => info!(
                error = &error as &dyn std::error::Error,
                "the generation cannot be renewed now"
            ),
            Ok(()) => {}
        }
    }
}

/// Lets the writer derive a space again from its records, and returns when all of it is searchable. `run` identifies
/// this run; `done` receives the number of searchable records.
///
/// # Errors
/// `Timeout` if no writer does it, however long the queue of the space is; errors of the stores and of the bus.
pub async fn rederive_space(ctx: &Context, space: &SpaceId, run: &str, done: impl Fn(u64)) -> Result<(), PortError> {
    let created = ctx.backends.records.space(space).await?.map(|it| it.created_at);
    let (mut waiting, mut records) = (Vec::new(), 0);
    let (mut batch, mut bytes, mut cursor) = (Vec::<Record>::new(), 0, Some(0));
    while let Some(after) = cursor {
        let (page, next) = ctx.backends.records.list(space, after, BATCH).await?;
        cursor = next;
        for record in page {
            let size = written_bytes(&record)?;
            if batch.len() >= BATCH || (bytes + size > BATCH_BYTES && !batch.is_empty()) {
                bytes = 0;
                waiting.push(publish_again(ctx, space, run, created, records, std::mem::take(&mut batch)).await?);
            }
            if waiting.len() >= AHEAD {
                records = wait_until_searchable(ctx, space, &mut waiting, records).await?;
                done(records);
            }
            bytes += size;
            batch.push(record);
        }
    }
    if !batch.is_empty() {
        waiting.push(publish_again(ctx, space, run, created, records, batch).await?);
    }
    records = wait_until_searchable(ctx, space, &mut waiting, records).await?;
    done(records);
    Ok(())
}

/// Returns the length of a record in a message. For a tool call, the text of the record is only a small part of it:
/// arguments and result are longer.
fn written_bytes(record: &Record) -> Result<usize, PortError> {
    let written = serde_json::to_vec(record).map_err(|source| {
        PortError::new("rebuild", ErrorKind::Internal, "a record cannot be written as JSON").caused_by(source)
    })?;
    Ok(written.len())
}

/// Publishes stored records again; returns the position and their number.
async fn publish_again(
    ctx: &Context,
    space: &SpaceId,
    run: &str,
    created: Option<DateTime<Utc>>,
    before: u64,
    records: Vec<Record>,
) -> Result<(Position, u64), PortError> {
    let (count, first) = (records.len() as u64, records.first().map(|it| it.id.to_string()));
    let message = RecordsAcceptedV1 {
        space: space.clone(),
        batch: format!("{run}-{before}-{}", first.unwrap_or_default()),
        created,
        records,
        curations: Vec::new(),
    };
    Ok((ctx.publish_message(&message).await?, count))
}

/// Waits until all pending messages are searchable; returns the number of searchable records then.
async fn wait_until_searchable(
    ctx: &Context,
    space: &SpaceId,
    waiting: &mut Vec<(Position, u64)>,
    mut records: u64,
) -> Result<u64, PortError> {
    for (position, count) in waiting.drain(..) {
        let mut wait = Wait::begin(Instant::now());
        while !ctx.backends.records.is_written(space, position).await? {
            let now = Instant::now();
            if wait.is_long(now) {
                let subject = RecordsAcceptedV1::SUBJECT;
                let mut ahead = ctx.backends.bus.unsettled(subject, space.as_str(), NOTICED).await?;
                ahead.retain(|it| *it <= position);
                if !wait.continue_with(ahead, now) {
                    let detail = format!("no writer has derived {space} again; is one running?");
                    return Err(PortError::new("rebuild", ErrorKind::Timeout, detail));
                }
            }
            sleep(PAUSE).await;
        }
        records += count;
    }
    Ok(records)
}

/// A wait for a message, which goes on as long as the messages before it are settled.
struct Wait {
    /// Beginning of the part of the wait that is judged next.
    since: Instant,
    /// The first unsettled messages up to the awaited one at that moment; `None` in the first part.
    ahead: Option<Vec<Position>>,
}

impl Wait {
    fn begin(now: Instant) -> Wait {
        Wait {
            since: now,
            ahead: None,
        }
    }

    /// Returns true if a part of the wait has ended.
    fn is_long(&self, now: Instant) -> bool {
        now.duration_since(self.since) > PATIENCE
    }

    /// Begins the next part, in which `ahead` is unsettled. Returns false if nothing was settled in the last one.
    fn continue_with(&mut self, ahead: Vec<Position>, now: Instant) -> bool {
        let before = self.ahead.replace(ahead.clone());
        self.since = now;
        before.is_none_or(|it| it.iter().any(|it| !ahead.contains(it)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn positions(numbers: &[u64]) -> Vec<Position> {
        numbers.iter().copied().map(Position).collect()
    }

    #[test]
    fn a_wait_goes_on_while_messages_ahead_are_settled() {
        let mut now = Instant::now();
        let mut wait = Wait::begin(now);
        for (ahead, goes_on) in [
            (&[3, 5, 8][..], true),
            (&[5, 8][..], true),
            (&[5, 8][..], false),
            (&[8][..], true),
            // A dead letter was replayed; this needs no writer.
            (&[5, 8][..], false),
            (&[][..], true),
            // It was settled without being written.
            (&[][..], false),
        ] {
            assert!(!wait.is_long(now + PATIENCE));
            now += PATIENCE + PAUSE;
            assert!(wait.is_long(now));
            assert_eq!(wait.continue_with(positions(ahead), now), goes_on, "{ahead:?}");
        }
    }
}
