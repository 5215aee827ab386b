//! Whether a write is searchable, and why not.

use std::time::Duration;

use domain::PortError;
use domain::id::SpaceId;
use domain::message::{Message, RecordsAcceptedV1, UnitsOrganisedV1, UnitsWrittenV1};
use domain::port::{DeadLetter, DeadLetterId, Position};
use tokio::time::{Instant, sleep};

use crate::api::Progress;
use crate::letters;
use crate::problem::Problem;
use crate::state::App;

/// Longest pause between two looks at whether a write is searchable.
const POLL_MAX: Duration = Duration::from_millis(20);
/// Dead letters of a space looked through for the reason why a write does not come: at most this many times this many.
const LETTERS_PAGES: usize = 20;
const LETTERS_PAGE: usize = 50;
/// Batches of a space that may wait for the writer, each looked up, before the space is behind without a look.
const UNSETTLED_MAX: usize = 8;

/// Waits until the write is searchable, for at most `patience`; false if it then is not.
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
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(false);
        }
        sleep(pause.min(left)).await;
        pause = (pause * 2).min(POLL_MAX);
    }
}

/// Says whether a batch that was accepted for a space before this is not searchable yet: it waits for the writer, is being
/// written, or comes again because its writer was killed half-way.
///
/// An answer without `degraded` has seen every batch accepted before its question, since:
///
/// 1. A batch is in the bus before it is acknowledged, and the writer settles it only after its records, its units and its
///    points are committed, in that order. A batch that is not among the unsettled ones was written as a whole.
/// 2. The writer marks a batch as written between the points and settling: one that is marked is searchable too.
/// 3. This is asked before the router reads the revision of the space, and the router reads all changes up to that revision,
///    and the index after that.
///
/// So a kill between two of the writer's commits leaves an unsettled, unmarked batch, which is found here until the next
/// delivery has been written. A batch that was given up is a dead letter, and not among them.
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

/// Says that a write is not searchable, how far the writer is, and why if it was given up.
pub(crate) async fn not_written(app: &App, space: &SpaceId, position: Position) -> Result<Problem, Problem> {
    let info = app.space(space).await?;
    let backlog = app.backlog(space).await?;
    let sealer = app.sealer().await?;
    let detail = match given_up(app, space, position).await? {
        Some(letter) => {
            let letter = letters::name(sealer, letter)?;
            format!("the write was given up and is kept as dead letter {letter}; an operator can replay it")
        }
        None => {
            format!("the write is not searchable yet; {backlog} accepted batches of this space wait for the writer")
        }
    };
    let mut problem = Problem::timeout(detail);
    let watermark = sealer.watermark(space, info.written)?;
    problem.progress = Some(Box::new(Progress {
        watermark,
        written: false,
        backlog,
        deriving: app.deriving(space).await?,
        erasing: false,
    }));
    Ok(problem)
}

/// Returns the dead letter that a write became.
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

/// Says whether a dead letter is the accepted batch at a position, or what the writer told of it.
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
