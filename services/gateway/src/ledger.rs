//! The ledger: hints that were given or dismissed, and pages that were read.

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::{HintId, PageId, SessionId, SpaceId};
use domain::recall::{Note, NoteKind, erasures_scope, session_scope};
use host::clock;
use tracing::warn;
use uuid::Uuid;

use crate::problem::Problem;
use crate::state::App;

/// Scope of hints that are dismissed in every session.
const EVERYWHERE: &str = "recall";
/// Scope of the pages of a space.
const PAGES: &str = "pages";
const MINUTE: TimeDelta = TimeDelta::minutes(1);

/// State of a session for recall.
pub(crate) struct Session {
    /// Hints that were given in it or are dismissed, sorted.
    pub(crate) silent: Vec<HintId>,
    /// Number of hints given in it within the last minute.
    pub(crate) recent: usize,
    /// Notes of its erasures.
    pub(crate) erasures: Vec<Note>,
}

/// Returns the hints that were given in a session or are dismissed.
pub(crate) async fn session(app: &App, space: &SpaceId, session: &str) -> Result<Session, Problem> {
    let records = &app.stores().records;
    // Read first: an erasure after this point is seen when the hints are noted.
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

/// Notes that hints were given in a session whose erasures were known when the search began. If another gateway erases
/// the session meanwhile, no hint stays: either this call sees the erasure, or the erasure comes after the note and
/// removes it.
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

/// Notes that hints are dismissed in every session.
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

/// Erases the hints that were given and dismissed in a session; hints that are dismissed in every session stay.
pub(crate) async fn forget(app: &App, space: &SpaceId, session: &str) -> Result<(), Problem> {
    // Wait for a message in progress, which would otherwise note its hints after the erasure.
    let _turn = app.sessions.turn(space, session).await;
    // A new subject each time, because the clock of a gateway that erased the session earlier may be ahead.
    let erasure = Uuid::from_u128(u128::from(app.batch_clock_us()));
    keep(app, space, &erasures(space, session), NoteKind::Erased, [erasure]).await?;
    Ok(app.stores().records.forget_notes(space, &scope(session)).await?)
}

/// Notes that a page was read. The note only keeps the page from being archived, so a failure is not reported to the
/// reader.
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

/// Returns the scope of the erasures of a session, which contains its id and not its name.
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
