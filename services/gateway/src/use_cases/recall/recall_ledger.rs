//! The ledger: hints that were given or dismissed, and pages that were read.

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::{HintId, PageId, SessionId, SpaceId};
use domain::recall::{Note, NoteKind, erasures_scope, session_scope};
use host::clock;
use tokio::sync::OwnedMutexGuard;
use tracing::{Instrument, warn};
use uuid::Uuid;

use crate::api::problem::Problem;
use crate::app::state::App;

/// Scope of hints that are dismissed in every session.
const EVERYWHERE: &str = "recall";
/// Scope of the pages of a space.
const PAGES: &str = "pages";
const MINUTE: TimeDelta = TimeDelta::minutes(1);

/// State of a session for recall.
pub(crate) struct Session {
    /// Hints that were given in the session or are dismissed, sorted.
    pub(crate) silent: Vec<HintId>,
    /// Number of hints given in the session within the last minute.
    pub(crate) recent: usize,
    /// Notes of its erasures.
    pub(crate) erasures: Vec<Note>,
}

/// Returns the hints that were given in a session or are dismissed.
pub(crate) async fn read_session_state(app: &App, space: &SpaceId, session: &str) -> Result<Session, Problem> {
    let records = &app.stores().records;
    // Read first: an erasure after this point is seen when the hints are noted.
    let erasures = records.notes(space, &scope_of_erasures(space, session)).await?;
    let here = records.notes(space, &session_scope(session)).await?;
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

/// Hints that were given for a message of a session.
pub(crate) struct GivenHints {
    pub(crate) space: SpaceId,
    /// Name of the session.
    pub(crate) session: String,
    /// Notes of the erasures of the session, as they were when the search began.
    pub(crate) known_erasures: Vec<Note>,
    pub(crate) hints: Vec<HintId>,
    /// The turn of the message in its session.
    pub(crate) turn: OwnedMutexGuard<()>,
}

/// Notes that hints were given in a session. If another gateway erases the session meanwhile, no hint stays: either this
/// call sees the erasure, or the erasure comes after the note and removes it.
///
/// The work is completed even if the caller stops waiting; the message then keeps its turn until the end.
///
/// # Errors
/// If the store fails.
pub(crate) async fn note_given_hints(app: &App, given: GivenHints) -> Result<(), Problem> {
    let app = app.clone();
    let work = async move {
        let GivenHints {
            space,
            session,
            known_erasures,
            hints,
            turn: _turn,
        } = given;
        note_hints(&app, &space, &session_scope(&session), NoteKind::Said, &hints).await?;
        let records = &app.stores().records;
        if records.notes(&space, &scope_of_erasures(&space, &session)).await? != known_erasures {
            records.forget_notes(&space, &session_scope(&session)).await?;
        }
        Ok::<_, Problem>(())
    };
    let noted = tokio::spawn(work.in_current_span()).await;
    noted.unwrap_or_else(|_| Err(Problem::internal_error()))
}

/// Notes that hints are dismissed in every session.
pub(crate) async fn note_dismissed_hints(
    app: &App,
    space: &SpaceId,
    session: Option<&str>,
    hints: &[HintId],
) -> Result<(), Problem> {
    note_hints(app, space, EVERYWHERE, NoteKind::Dismissed, hints).await?;
    match session {
        Some(session) => note_hints(app, space, &session_scope(session), NoteKind::Dismissed, hints).await,
        None => Ok(()),
    }
}

/// Erases the hints that were given and dismissed in a session; hints that are dismissed in every session stay.
pub(crate) async fn erase_session_hints(app: &App, space: &SpaceId, session: &str) -> Result<(), Problem> {
    // Wait for a message in progress, which would otherwise note its hints after the erasure.
    let _turn = app.sessions.lock_session(space, session).await;
    // A new subject each time, because the clock of a gateway that erased the session earlier may be ahead.
    let erasure = Uuid::from_u128(u128::from(app.batch_clock_us()));
    store_notes(
        app,
        space,
        &scope_of_erasures(space, session),
        NoteKind::Erased,
        [erasure],
    )
    .await?;
    Ok(app
        .stores()
        .records
        .forget_notes(space, &session_scope(session))
        .await?)
}

/// Notes that a page was read. The note only keeps the page from being archived, so a failure is not reported to the
/// reader.
pub(crate) async fn note_page_read(app: &App, space: &SpaceId, page: PageId) {
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
            "the reading of a page cannot be noted"
        );
    }
}

async fn note_hints(app: &App, space: &SpaceId, scope: &str, kind: NoteKind, hints: &[HintId]) -> Result<(), Problem> {
    store_notes(app, space, scope, kind, hints.iter().map(|it| it.uuid())).await
}

async fn store_notes(
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
fn scope_of_erasures(space: &SpaceId, session: &str) -> String {
    erasures_scope(SessionId::from_name(space, session))
}

fn is_silent(kind: NoteKind) -> bool {
    match kind {
        NoteKind::Said | NoteKind::Dismissed => true,
        NoteKind::Read | NoteKind::Erased => false,
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use host::Context;

    use super::*;
    use crate::app::config::Config;

    const SESSION: &str = "mon";

    /// Notes a hint for a caller that leaves at once; returns the number of hints that are noted in the end.
    async fn note_and_leave(app: &App, space: &SpaceId, known_erasures: Vec<Note>) -> usize {
        let given = GivenHints {
            space: space.clone(),
            session: SESSION.to_owned(),
            known_erasures,
            hints: vec![HintId::from_uuid(Uuid::from_u128(7))],
            turn: app.sessions.lock_session(space, SESSION).await,
        };
        assert!(note_given_hints(app, given).now_or_never().is_none());
        drop(app.sessions.lock_session(space, SESSION).await);
        let noted = app.stores().records.notes(space, &session_scope(SESSION)).await;
        noted.unwrap().len()
    }

    #[tokio::test]
    async fn a_caller_that_leaves_ends_no_note_halfway() {
        let dir = tempfile::tempdir().unwrap();
        let context = Context::embedded_with_defaults(dir.path()).await.unwrap();
        let app = App::new(context, Config::default()).unwrap();
        let space: SpaceId = "s".parse().unwrap();
        app.stores().records.create_space(&space, clock::now()).await.unwrap();
        assert_eq!(note_and_leave(&app, &space, Vec::new()).await, 1);
        erase_session_hints(&app, &space, SESSION).await.unwrap();
        assert_eq!(note_and_leave(&app, &space, Vec::new()).await, 0, "erased meanwhile");
    }
}
