//! The ledger: which hints were said or not wanted, which pages were read.

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::{HintId, PageId, SessionId, SpaceId};
use domain::recall::{Note, NoteKind, erasures_scope, session_scope};
use host::clock;
use tracing::warn;
use uuid::Uuid;

use crate::problem::Problem;
use crate::state::App;

/// Scope of what is not wanted in any session.
const EVERYWHERE: &str = "recall";
/// Scope of the pages of a space.
const PAGES: &str = "pages";
const MINUTE: TimeDelta = TimeDelta::minutes(1);

/// What recall must know of a session.
pub(crate) struct Session {
    /// Hints that were said in it or are not wanted, sorted.
    pub(crate) silent: Vec<HintId>,
    /// Hints said in it within the last minute.
    pub(crate) recent: usize,
    /// When it was erased.
    pub(crate) erasures: Vec<Note>,
}

/// Returns what was said in a session and what is not wanted.
pub(crate) async fn session(app: &App, space: &SpaceId, session: &str) -> Result<Session, Problem> {
    let records = &app.stores().records;
    // First: an erasure that comes behind this is seen when its hints are noted.
    let erasures = records.notes(space, &erasures(space, session)).await?;
    let here = records.notes(space, &scope(session)).await?;
    let everywhere = records.notes(space, EVERYWHERE).await?;
    let since: DateTime<Utc> = clock::now() - MINUTE;
    let recent = here
        .iter()
        .filter(|it| it.kind == NoteKind::Said && it.at > since)
        .count();
    let mut silent: Vec<HintId> = here
        .iter()
        .chain(&everywhere)
        .filter(|it| is_silent(it.kind))
        .map(|it| HintId::from_uuid(it.subject))
        .collect();
    silent.sort_unstable();
    silent.dedup();
    Ok(Session {
        silent,
        recent,
        erasures,
    })
}

/// Notes that hints were said in a session that was erased then, as far as was known before they were sought. If another
/// gateway erased it meanwhile, nothing is left of them: the erasure is seen here, or it comes behind the note and takes it
/// along.
pub(crate) async fn said(
    app: &App,
    space: &SpaceId,
    (session, erased): (&str, &[Note]),
    hints: &[HintId],
) -> Result<(), Problem> {
    note(app, space, &scope(session), NoteKind::Said, hints).await?;
    let records = &app.stores().records;
    if records.notes(space, &erasures(space, session)).await? != erased {
        records.forget_notes(space, &scope(session)).await?;
    }
    Ok(())
}

/// Notes that hints are not wanted, in any session.
pub(crate) async fn dismissed(
    app: &App,
    space: &SpaceId,
    session: Option<&str>,
    hints: &[HintId],
) -> Result<(), Problem> {
    note(app, space, EVERYWHERE, NoteKind::Dismissed, hints).await?;
    match session {
        Some(session) => note(app, space, &scope(session), NoteKind::Dismissed, hints).await,
        None => Ok(()),
    }
}

/// Erases what was said and dismissed in a session; what is not wanted anywhere stays.
pub(crate) async fn forget(app: &App, space: &SpaceId, session: &str) -> Result<(), Problem> {
    // A message that is being answered would note its hints behind this.
    let _turn = app.sessions.turn(space, session).await;
    // A subject of its own each time: the clock of the gateway that erased it before may be ahead.
    let erasure = Uuid::from_u128(u128::from(app.batch_clock_us()));
    keep(app, space, &erasures(space, session), NoteKind::Erased, [erasure]).await?;
    Ok(app.stores().records.forget_notes(space, &scope(session)).await?)
}

/// Notes that a page was read; it only keeps the page from being archived, so a reader need not hear of a failure.
pub(crate) async fn read(app: &App, space: &SpaceId, page: PageId) {
    let notes = [Note {
        subject: page.uuid(),
        kind: NoteKind::Read,
        at: clock::now(),
    }];
    if let Err(error) = app
        .stores()
        .records
        .note(space, PAGES, &notes, app.config.recall_notes_max)
        .await
    {
        warn!(
            error = &error as &dyn std::error::Error,
            "a page was read and it is not noted"
        );
    }
}

async fn note(app: &App, space: &SpaceId, scope: &str, kind: NoteKind, hints: &[HintId]) -> Result<(), Problem> {
    keep(app, space, scope, kind, hints.iter().map(|it| it.uuid())).await
}

async fn keep(
    app: &App,
    space: &SpaceId,
    scope: &str,
    kind: NoteKind,
    subjects: impl IntoIterator<Item = Uuid>,
) -> Result<(), Problem> {
    let at = clock::now();
    let notes: Vec<Note> = subjects.into_iter().map(|subject| Note { subject, kind, at }).collect();
    let most = app.config.recall_notes_max;
    Ok(app.stores().records.note(space, scope, &notes, most).await?)
}

/// Scope of the erasures of a session, which has its id and not its name.
fn erasures(space: &SpaceId, session: &str) -> String {
    erasures_scope(SessionId::derive(space, session))
}

fn scope(session: &str) -> String {
    session_scope(session)
}

fn is_silent(kind: NoteKind) -> bool {
    match kind {
        NoteKind::Said | NoteKind::Dismissed => true,
        NoteKind::Read | NoteKind::Erased => false,
    }
}
