//! Selections of records by session, actor, time and units; lookup of a session, and its erasure.

use std::collections::BTreeSet;

use chrono::TimeDelta;
use domain::id::{RecordId, SessionId, SpaceId};
use domain::port::{Room, Selection};
use domain::record::Record;

use crate::api::{Erased, RecordFilter, UnitFilter};
use crate::filling::PAGE_BYTES_MAX;
use crate::problem::Problem;
use crate::state::App;
use crate::{curate, labels, ledger, validate, watermark};

/// Maximum number of records that one request erases; equal to the limit of a batch.
const ERASED_MAX: usize = 1_000;

/// Returns the selection for the filter of a list of records.
pub(crate) async fn selection(app: &App, space: &SpaceId, filter: &RecordFilter) -> Result<Selection, Problem> {
    let (session, actor) = (filter.session.as_deref(), filter.actor.as_deref());
    named([("session", session), ("actor", actor)])?;
    let (from, until) = (filter.from.as_deref(), filter.until.as_deref());
    let (from, until) = (validate::moment("from", from)?, validate::moment("until", until)?);
    Ok(Selection {
        session: meant(app, space, session).await?,
        actor: filter.actor.clone(),
        from,
        until,
        filter: labels::of_params(filter.tag.as_deref(), filter.filter.as_deref())?,
    })
}

/// Returns the selection for the filter of a list of units.
pub(crate) async fn unit_selection(app: &App, space: &SpaceId, filter: &UnitFilter) -> Result<Selection, Problem> {
    let (session, actor) = (filter.session.as_deref(), filter.actor.as_deref());
    named([("session", session), ("actor", actor)])?;
    let as_of = validate::moment("as_of", filter.as_of.as_deref())?;
    Ok(Selection {
        session: meant(app, space, session).await?,
        actor: filter.actor.clone(),
        from: None,
        // A unit observed exactly at that time was known then.
        until: as_of.and_then(|it| it.checked_add_signed(TimeDelta::nanoseconds(1))),
        filter: labels::of_params(filter.tag.as_deref(), filter.filter.as_deref())?,
    })
}

/// Checks the names in a filter.
fn named(names: [(&str, Option<&str>); 2]) -> Result<(), Problem> {
    for (field, text) in names {
        validate::name(field, text, validate::NAME_BYTES_MAX).map_err(Problem::invalid)?;
        if text.is_some_and(|it| it.trim().is_empty()) {
            return Err(Problem::invalid(format!("{field}: is empty; leave it out instead")));
        }
    }
    Ok(())
}

async fn meant(app: &App, space: &SpaceId, session: Option<&str>) -> Result<Option<SessionId>, Problem> {
    match session {
        Some(session) => called(app, space, session).await.map(Some),
        None => Ok(None),
    }
}

/// Returns the session with this name, which is the caller's or Mnemic's id, whether it has records or not.
pub(crate) async fn called(app: &App, space: &SpaceId, session: &str) -> Result<SessionId, Problem> {
    let named = SessionId::derive(space, session);
    match session.parse() {
        // Callers may use UUIDs as names of their sessions; those are not Mnemic's ids.
        Ok(told) if first(app, space, named).await?.is_none() => Ok(told),
        Ok(_) | Err(_) => Ok(named),
    }
}

/// Returns the record of a session that was stored first; `None` if there is none.
pub(crate) async fn first(app: &App, space: &SpaceId, session: SessionId) -> Result<Option<Record>, Problem> {
    let of = Selection {
        session: Some(session),
        ..Selection::default()
    };
    let (found, _) = app.stores().records.select(space, &of, 0, Room::of(1)).await?;
    Ok(found.into_iter().next())
}

/// Erases a session with the name `name`: its recall history at once, and at most one batch of its records, because a
/// watermark covers one batch. The next request erases the rest, also after a request that failed.
pub(crate) async fn erase(app: &App, space: &SpaceId, name: &str, by: &str) -> Result<Erased, Problem> {
    let session = called(app, space, name).await?;
    let of = Selection {
        session: Some(session),
        ..Selection::default()
    };
    let room = Room {
        items: ERASED_MAX,
        bytes: PAGE_BYTES_MAX,
    };
    let (found, next) = app.stores().records.select(space, &of, 0, room).await?;
    // First, because the name cannot be found after its records are erased.
    let mut names = BTreeSet::from([name.to_owned(), session.to_string()]);
    names.extend(found.first().map(|it| it.session_name.clone()));
    for it in &names {
        ledger::forget(app, space, it).await?;
    }
    if found.is_empty() {
        return Err(Problem::not_found(format!(
            "there is no record of this session; if they were accepted just now, wait for their watermark (GET /v1/spaces/{space}/progress)"
        )));
    }
    let records: Vec<RecordId> = found.iter().map(|it| it.id).collect();
    let erasing = curate::erase(app, space, &records, by).await?;
    Ok(Erased {
        watermark: watermark::print(app, space, erasing.position).await?,
        session,
        records: records.len() as u64,
        more: next.is_some(),
        erasure: erasing.erasure,
    })
}
