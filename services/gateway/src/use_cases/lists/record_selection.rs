//! Selections of records by session, actor, time and units; lookup of a session, and its erasure.

use chrono::TimeDelta;
use domain::id::{SessionId, SpaceId};
use domain::port::{Room, Selection};
use domain::record::Record;

use crate::api::problem::Problem;
use crate::api::{RecordFilter, UnitFilter};
use crate::app::state::App;
use crate::use_cases::validate;
use crate::use_cases::validate::label_filter;

/// Returns the selection for the filter of a list of records.
pub(crate) async fn record_selection(app: &App, space: &SpaceId, filter: &RecordFilter) -> Result<Selection, Problem> {
    let (session, actor) = (filter.session.as_deref(), filter.actor.as_deref());
    check_names([("session", session), ("actor", actor)])?;
    let (from, until) = (filter.from.as_deref(), filter.until.as_deref());
    let (from, until) = (
        validate::parse_time_field("from", from)?,
        validate::parse_time_field("until", until)?,
    );
    Ok(Selection {
        session: resolve_session_if_named(app, space, session).await?,
        actor: filter.actor.clone(),
        from,
        until,
        filter: label_filter::of_params(filter.tag.as_deref(), filter.filter.as_deref())?,
    })
}

/// Returns the selection for the filter of a list of units.
pub(crate) async fn unit_selection(app: &App, space: &SpaceId, filter: &UnitFilter) -> Result<Selection, Problem> {
    let (session, actor) = (filter.session.as_deref(), filter.actor.as_deref());
    check_names([("session", session), ("actor", actor)])?;
    let as_of = validate::parse_time_field("as_of", filter.as_of.as_deref())?;
    Ok(Selection {
        session: resolve_session_if_named(app, space, session).await?,
        actor: filter.actor.clone(),
        from: None,
        // A unit observed exactly at that time was known then.
        until: as_of.and_then(|it| it.checked_add_signed(TimeDelta::nanoseconds(1))),
        filter: label_filter::of_params(filter.tag.as_deref(), filter.filter.as_deref())?,
    })
}

/// Checks the names in a filter.
fn check_names(names: [(&str, Option<&str>); 2]) -> Result<(), Problem> {
    for (field, text) in names {
        validate::check_name(field, text, validate::NAME_BYTES_MAX).map_err(Problem::invalid_request)?;
        if text.is_some_and(|it| it.trim().is_empty()) {
            return Err(Problem::invalid_request(format!(
                "{field}: is empty; leave it out instead"
            )));
        }
    }
    Ok(())
}

async fn resolve_session_if_named(
    app: &App,
    space: &SpaceId,
    session: Option<&str>,
) -> Result<Option<SessionId>, Problem> {
    match session {
        Some(session) => resolve_session(app, space, session).await.map(Some),
        None => Ok(None),
    }
}

/// Returns the session with this name, which is the caller's or Mnemic's id, whether it has records or not.
pub(crate) async fn resolve_session(app: &App, space: &SpaceId, session: &str) -> Result<SessionId, Problem> {
    let id_by_name = SessionId::from_name(space, session);
    match session.parse() {
        // Callers may use UUIDs as names of their sessions; those are not Mnemic's ids.
        Ok(session_id) if first_record(app, space, id_by_name).await?.is_none() => Ok(session_id),
        Ok(_) | Err(_) => Ok(id_by_name),
    }
}

/// Returns the record of a session that was stored first; `None` if there is none.
pub(crate) async fn first_record(app: &App, space: &SpaceId, session: SessionId) -> Result<Option<Record>, Problem> {
    let of = Selection {
        session: Some(session),
        ..Selection::default()
    };
    let (found, _) = app.stores().records.select(space, &of, 0, Room::of_items(1)).await?;
    Ok(found.into_iter().next())
}
