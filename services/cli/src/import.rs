//! Imports exports of Mnemic and of other programs. An import can be interrupted and repeated.
//!
//! `source` opens an input and `format` detects its format; `pieces` and `documents` read it piece by piece; `convert`
//! turns a piece into records; `batch` sends them; `state` stores the progress of an import.

mod convert;
mod formats;
mod input;
mod record_draft;
mod sending;
pub(super) mod source;

use std::collections::VecDeque;

use chrono::{DateTime, Utc};
use domain::id::SpaceId;

use crate::api::{Client, Error};
use crate::args::Import;
use crate::import::formats::format::Kind;
use crate::remote_commands::readings::waiting_line;
use crate::{Outcome, output};
use sending::state::{self, State};
use sending::tally::{Searchability, Tally, say_left_out};
use sending::{batch, dry_run, readings};
use source::Source;

/// Maximum number of batches that may not be searchable yet; above this number, sending waits a limited time for the
/// oldest one. Several writers do not finish batches in order, so each batch is checked.
const BEHIND_MAX: usize = 256;

/// The destination of records.
struct Target<'a> {
    client: Client,
    args: &'a Import,
    /// Identifies this run, so that the stored response of an earlier run is never returned for a request of this run.
    run: i64,
    /// False if the key lacks the right `read`, so that the server does not report whether a write is searchable.
    may_read: bool,
}

/// Imports a file into a space and waits until all of it is searchable.
pub(crate) async fn import_file(args: &Import) -> anyhow::Result<Outcome> {
    let source = source::open_source(args)?;
    if args.dry_run {
        return dry_run::preview_import(source, usize::from(args.batch));
    }
    let client = Client::new(&args.remote.url, args.remote.key.clone())?;
    client.create_space(&args.space).await?;
    let created_at = read_creation_time(&client, &args.space).await?;
    let target = Target {
        client,
        args,
        run: host::clock::now().timestamp_micros(),
        may_read: created_at.is_some(),
    };
    // No progress is kept without the right `read`, because the next import could not check that the server still has
    // the records of this one.
    let file = source.again.then_some(args.file.as_path()).filter(|_| target.may_read);
    let place = state::ImportRoute {
        file,
        space: &args.space,
        url: &args.remote.url,
        kind: source.kind,
        tags: &args.tag,
    };
    let mut state = State::load_progress(&place, created_at.unwrap_or_default());
    match import_source(&target, source, &mut state).await {
        Err(error) if matches!(error.downcast_ref::<Error>(), Some(Error::WriteFailed { .. })) => {
            // It is not known which pieces the write held, so the next import sends all of them again.
            state.forget_progress();
            output::print_error_line(&format!("{error:#}"));
            Ok(Outcome::Lacking)
        }
        outcome => outcome,
    }
}

/// Returns the time at which a space was created; `None` if the key may write to the space and not read it.
async fn read_creation_time(client: &Client, space: &SpaceId) -> anyhow::Result<Option<DateTime<Utc>>> {
    match client.get_space(space).await {
        Ok(it) => Ok(Some(it.created_at)),
        Err(Error::Refused { status: 403, .. }) => {
            output::print_error_line(
                "the key lacks the right `read`: all of the input is sent, without a wait until it is searchable",
            );
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// Sends the pieces that an earlier import did not send, and waits until all of them are searchable.
async fn import_source(target: &Target<'_>, mut source: Source, state: &mut State) -> anyhow::Result<Outcome> {
    let args = target.args;
    let mut is_continued = !args.restart && state.skip_imported_pieces(&mut *source.pieces)?;
    if is_continued {
        is_continued = has_earlier_import(target, source.kind, state).await?;
    }
    if !args.restart && !is_continued {
        state.reset_pieces_read();
        source = source::open_source(args)?;
    }
    let skipped = state.pieces_read();
    let (wrong_before, watermark) = state.earlier_outcome();
    let mut tally = Tally::new(source.bytes, wrong_before, watermark);
    tally.bar.set_position(source.pieces.position());
    loop {
        let batch = batch::read_batch(&mut source, state, usize::from(args.batch), &mut tally)?;
        batch::send_records(target, &batch.records, &mut tally).await?;
        readings::send_readings(target, &batch.readings, &mut tally).await?;
        tally
            .bar
            .suspend(|| state.save_progress(tally.wrong_in_all(), tally.watermarks.back()));
        tally.bar.set_position(source.pieces.position());
        if batch.end {
            break;
        }
    }
    tally.bar.finish_and_clear();
    let searchability = wait_if_allowed(target, &tally.watermarks).await?;
    tally.print_outcome(source.kind, skipped, state.pieces_read(), searchability);
    say_left_out(&tally.on_purpose, source.pieces.passed_over());
    if target.may_read {
        say_waiting(target).await;
    }
    Ok(match tally.wrong_in_all() {
        0 => Outcome::Done,
        _ => Outcome::Lacking,
    })
}

/// Returns false if the server no longer has the records of the earlier import, for example because an older backup was
/// restored: their last write is neither searchable nor on its way.
///
/// The server refuses the watermark of that write if, for example, its seal key was changed. The watermark is dropped
/// then, and only the wait for it is skipped: the records are stored in either case.
async fn has_earlier_import(target: &Target<'_>, kind: Kind, state: &mut State) -> anyhow::Result<bool> {
    let (_, Some(watermark)) = state.earlier_outcome() else {
        return Ok(true);
    };
    match target.client.get_write_progress(&target.args.space, &watermark).await {
        Ok(Some(progress)) if !progress.written && progress.backlog == 0 && progress.deriving == 0 => {
            output::print_error_line(&format!(
                "the server does not have the earlier import any more; starting with the first {}",
                kind.piece_name()
            ));
            Ok(false)
        }
        Ok(_) => Ok(true),
        Err(Error::Refused { status: 422, .. }) => {
            output::print_error_line(
                "the server does not accept the watermark of the earlier import; continuing without it",
            );
            state.drop_watermark();
            Ok(true)
        }
        Err(error) => Err(error.into()),
    }
}

/// Waits until the records that were sent are searchable, if the key may read the progress.
async fn wait_if_allowed(target: &Target<'_>, watermarks: &VecDeque<String>) -> anyhow::Result<Searchability> {
    if !target.may_read {
        return Ok(Searchability::Unknown);
    }
    Ok(if wait_until_searchable(target, watermarks).await? {
        Searchability::All
    } else {
        Searchability::StillWriting
    })
}

/// Waits until the records that were sent are searchable; returns false after too long a wait.
async fn wait_until_searchable(target: &Target<'_>, watermarks: &VecDeque<String>) -> anyhow::Result<bool> {
    /// Maximum number of waiting requests; each waits ten seconds.
    const HOLDS: u32 = 30;
    let mut holds = 0;
    for watermark in watermarks {
        while !target.client.wait_for_watermark(&target.args.space, watermark).await? {
            holds += 1;
            if holds == HOLDS {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Prints how many sessions wait to be read by a language model. An older server does not report it.
async fn say_waiting(target: &Target<'_>) {
    if let Ok(summary) = target.client.reading_summary(&target.args.space).await
        && let Some(line) = waiting_line(&summary, &target.args.space)
    {
        output::print_line(&line);
    }
}
