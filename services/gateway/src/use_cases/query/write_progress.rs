//! Read your writes: checks whether a write is searchable, and why not.

use std::time::Duration;

use domain::PortError;
use domain::id::SpaceId;
use domain::message::{Message, RecordsAcceptedV1, UnitsOrganisedV1, UnitsWrittenV1};
use domain::port::{DeadLetter, DeadLetterId, Position};
use tokio::time::{Instant, sleep};

use crate::api::Progress;
use crate::api::problem::Problem;
use crate::app::seal::dead_letter_names;
use crate::app::state::App;

/// Longest pause between two checks whether a write is searchable.
const POLL_MAX: Duration = Duration::from_millis(20);
/// Maximum number of pages, and of dead letters on a page, that are searched for the reason why a write is not
/// searchable.
const LETTERS_PAGES: usize = 20;
const LETTERS_PAGE: usize = 50;
/// Number of unsettled batches of a space up to which each is checked; with more, the space counts as not up to date.
const UNSETTLED_MAX: usize = 8;

/// Waits at most `patience` until the write is searchable; returns false if it is not searchable then.
pub(crate) async fn wait_written(
    app: &App,
    space: &SpaceId,
    position: Position,
    patience: Duration,
) -> Result<bool, Problem> {
    let deadline = Instant::now() + patience;
    let mut pause = Duration::from_millis(1);
    loop {
        if position == Position(0) || app.stores().records.is_written(space, position).await? {
            return Ok(true);
        }
        let time_left = deadline.saturating_duration_since(Instant::now());
        if time_left.is_zero() {
            return Ok(false);
        }
        sleep(pause.min(time_left)).await;
        pause = (pause * 2).min(POLL_MAX);
    }
}

/// Returns true if a batch that was accepted for a space before this call is not searchable yet: it is queued, is being
/// written, or will be delivered again because its writer was killed.
///
/// A response without `degraded` includes every batch that was accepted before its question, because:
///
/// 1. A batch is in the bus before it is acknowledged, and the writer settles it only after its records, its units and its
///    points are committed, in that order. A batch that is not among the unsettled ones was written completely.
/// 2. The writer marks a batch as written after its points and before it is settled. A marked batch is searchable too.
/// 3. This check runs before the router reads the revision of the space. The router then reads all changes up to that
///    revision, and the index after that.
///
/// So if the writer is killed between two commits, the batch stays unsettled and unmarked, and is found here until the
/// next delivery has been written. A batch that was given up is a dead letter, and does not count here.
pub(crate) async fn is_behind(app: &App, space: &SpaceId) -> Result<bool, PortError> {
    let stores = app.stores();
    let unsettled = stores
        .bus
        .unsettled(RecordsAcceptedV1::SUBJECT, space.as_str(), UNSETTLED_MAX)
        .await?;
    if unsettled.len() == UNSETTLED_MAX {
        return Ok(true);
    }
    for position in unsettled {
        if !stores.records.is_written(space, position).await? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the problem for a write that is not searchable, with the progress of the writer, or the reason if the write
/// failed permanently.
pub(crate) async fn not_written(app: &App, space: &SpaceId, position: Position) -> Result<Problem, Problem> {
    let info = app.require_space(space).await?;
    let backlog = app.backlog_of_space(space).await?;
    let sealer = app.sealer().await?;
    let letter = given_up(app, space, position).await?;
    let letter = letter.map(|it| dead_letter_names::seal_name(sealer, it)).transpose()?;
    let detail = match &letter {
        Some(letter) => {
            format!("the write failed and is kept as dead letter {letter}; an operator can replay it")
        }
        None => {
            format!("the write is not searchable yet; {backlog} accepted batches of this space wait for the writer")
        }
    };
    let mut problem = Problem::timeout(detail);
    problem.dead_letter = letter;
    let watermark = sealer.seal_watermark(space, info.written)?;
    problem.progress = Some(Box::new(Progress {
        watermark,
        written: false,
        backlog,
        deriving: app.count_deriving_batches(space).await?,
        erasing: false,
    }));
    Ok(problem)
}

/// Returns the id of the dead letter that contains a write; `None` if there is none.
pub(crate) async fn given_up(app: &App, space: &SpaceId, position: Position) -> Result<Option<DeadLetterId>, Problem> {
    let mut after = 0;
    for _ in 0..LETTERS_PAGES {
        let letters = &app.stores().dead_letters;
        let page = letters.of_space(space.as_str(), after, LETTERS_PAGE).await?;
        if let Some(letter) = page.iter().find(|it| is_of(it, position)) {
            return Ok(Some(letter.id));
        }
        match page.last() {
            Some(last) if page.len() == LETTERS_PAGE => after = last.id,
            _ => break,
        }
    }
    Ok(None)
}

/// Returns true if a dead letter is the accepted batch at a position, or the writer's message about that batch.
fn is_of(letter: &DeadLetter, position: Position) -> bool {
    match letter.subject.as_str() {
        RecordsAcceptedV1::SUBJECT => letter.position == position,
        UnitsWrittenV1::SUBJECT => {
            serde_json::from_str(&letter.payload).is_ok_and(|it: UnitsWrittenV1| it.acts && it.position == position)
        }
        UnitsOrganisedV1::SUBJECT => {
            serde_json::from_str(&letter.payload).is_ok_and(|it: UnitsOrganisedV1| it.acts && it.position == position)
        }
        _ => false,
    }
}
