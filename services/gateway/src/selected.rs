//! Records narrowed to a session, an actor, a time, and units; which session a caller means, and its erasure.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use domain::id::{RecordId, SessionId, SpaceId};
use domain::port::Selection;
use domain::record::Record;
use domain::unit::{Status, Unit};

use crate::api::{Erased, RecordFilter, UnitFilter};
use crate::problem::Problem;
use crate::state::App;
use crate::{curate, ledger, validate, watermark};

/// Looks into the store for one page of a restricted list.
const LOOKS_MAX: usize = 20;
/// Changes of units that one look reads.
const LOOK: usize = 1_000;
/// Records that one request erases: as many as one batch may bring.
const ERASED_MAX: usize = 1_000;

/// Reads what restricts a list of records.
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
    })
}

/// Which units are listed.
pub(crate) struct UnitSelection {
    session: Option<SessionId>,
    /// In lower case.
    actor: Option<String>,
    as_of: Option<DateTime<Utc>>,
}

impl UnitSelection {
    /// Reads what restricts a list of units.
    pub(crate) async fn read(app: &App, space: &SpaceId, filter: &UnitFilter) -> Result<UnitSelection, Problem> {
        let (session, actor) = (filter.session.as_deref(), filter.actor.as_deref());
        named([("session", session), ("actor", actor)])?;
        let as_of = validate::moment("as_of", filter.as_of.as_deref())?;
        Ok(UnitSelection {
            session: meant(app, space, session).await?,
            actor: actor.map(str::to_lowercase),
            as_of: as_of.map(|it| it.to_utc()),
        })
    }

    fn takes(&self, unit: &Unit) -> bool {
        let in_use = match unit.status {
            Status::Active | Status::Archived | Status::Merged => true,
            Status::Superseded => false,
        };
        in_use
            && self.session.is_none_or(|it| it == unit.session)
            && self.as_of.is_none_or(|it| unit.observed_at <= it)
            && self.actor.as_ref().is_none_or(|it| unit.actor.to_lowercase() == *it)
    }

    /// Returns up to `limit` units, behind a cursor, and the cursor to go on with.
    pub(crate) async fn list(
        &self,
        app: &App,
        space: &SpaceId,
        (after, limit): (u64, usize),
    ) -> Result<(Vec<Unit>, Option<u64>), Problem> {
        let mut page = Filling::new(after, limit);
        // One more than is wanted, to see whether there is more.
        let mut look = limit.saturating_add(1).min(LOOK);
        while let Some(wanted) = page.wanted() {
            let found = app.stores().graph.changes(space, page.after, look).await?;
            let mut next = if found.len() < look {
                None
            } else {
                found.last().map(|it| it.sequence)
            };
            look = (look * 2).min(LOOK);
            let mut taken = Vec::new();
            let mut last = page.after;
            for change in found {
                if taken.len() == wanted {
                    next = Some(last);
                    break;
                }
                last = change.sequence;
                taken.extend(Some(change.unit).filter(|it| self.takes(it)));
            }
            page.take(taken, next);
        }
        Ok(page.done())
    }
}

/// A page of a list, while it is being filled by looks into the store.
struct Filling<T> {
    items: Vec<T>,
    limit: usize,
    /// The cursor to go on with.
    after: u64,
    ended: bool,
    looks: usize,
}

impl<T> Filling<T> {
    fn new(after: u64, limit: usize) -> Filling<T> {
        Filling {
            items: Vec::new(),
            limit,
            after,
            ended: false,
            looks: 0,
        }
    }

    /// Returns how many are wanted of the next look; none if it is full, there is no more, or it looked often enough.
    fn wanted(&self) -> Option<usize> {
        let left = self.limit.saturating_sub(self.items.len());
        (left > 0 && !self.ended && self.looks < LOOKS_MAX).then_some(left)
    }

    /// Takes what a look found, and the cursor behind it, none at the end.
    fn take(&mut self, found: Vec<T>, next: Option<u64>) {
        self.looks += 1;
        self.items.extend(found);
        match next {
            Some(next) => self.after = next,
            None => self.ended = true,
        }
    }

    fn done(self) -> (Vec<T>, Option<u64>) {
        (self.items, (!self.ended).then_some(self.after))
    }
}

/// Checks names that restrict a list.
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

/// Returns the session that the caller calls `session`, by the caller's name or Mnemic's id, whether it has records or not.
pub(crate) async fn called(app: &App, space: &SpaceId, session: &str) -> Result<SessionId, Problem> {
    let named = SessionId::derive(space, session);
    match session.parse() {
        // Callers may name their sessions by ids of their own, which are none of Mnemic's.
        Ok(told) if first(app, space, named).await?.is_none() => Ok(told),
        Ok(_) | Err(_) => Ok(named),
    }
}

/// Returns the first record of a session that was stored, or none.
pub(crate) async fn first(app: &App, space: &SpaceId, session: SessionId) -> Result<Option<Record>, Problem> {
    let of = Selection {
        session: Some(session),
        ..Selection::default()
    };
    let (found, _) = app.stores().records.select(space, &of, 0, 1).await?;
    Ok(found.into_iter().next())
}

/// Returns up to `limit` records that a selection takes, behind a cursor, and the cursor to go on with.
pub(crate) async fn list(
    app: &App,
    space: &SpaceId,
    selection: &Selection,
    (after, limit): (u64, usize),
) -> Result<(Vec<Record>, Option<u64>), Problem> {
    let mut page = Filling::new(after, limit);
    while let Some(wanted) = page.wanted() {
        let select = app.stores().records.select(space, selection, page.after, wanted);
        let (found, next) = select.await?;
        page.take(found, next);
    }
    Ok(page.done())
}

/// Erases the session that the caller calls `name`: what recall said in it, at once, and of its records no more than one
/// batch holds, since a watermark tells of one batch. What is left, also by a request that broke off, is erased by the next one.
pub(crate) async fn erase(app: &App, space: &SpaceId, name: &str, by: &str) -> Result<Erased, Problem> {
    let session = called(app, space, name).await?;
    let of = Selection {
        session: Some(session),
        ..Selection::default()
    };
    let (found, next) = app.stores().records.select(space, &of, 0, ERASED_MAX).await?;
    // First: once its records are gone, nothing tells its name any more.
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
    let position = curate::erase(app, space, &records, by).await?;
    Ok(Erased {
        watermark: watermark::print(space, position),
        session,
        records: records.len() as u64,
        more: next.is_some(),
    })
}
