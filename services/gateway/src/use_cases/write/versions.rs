//! Versions of a record (upsert). If a caller puts a record under an existing id, it becomes a separate record that
//! replaces the earlier versions from then on.
//!
//! Version 2 of `a` has the id `a#v2` and names the record whose version it is; the first version is `a` itself.
//! Records are never changed, so questions about an earlier time still see the earlier version.

mod condition;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use axum::http::StatusCode;
use domain::id::{RecordId, SpaceId};
use domain::record::Record;
use serde_json::{Map, Value, json};
use tokio::time::{Instant, sleep};

use crate::api::problem::Problem;
use crate::api::{Accepted, Item, ItemStatus};
use crate::app::keys::access::Access;
use crate::app::state::App;
use crate::app::watermark;
use crate::use_cases::lists::list_page::Filling;
use crate::use_cases::validate::version_ids::{VERSIONS_MAX, parse_version_id, version_id};
use crate::use_cases::write::accept;
pub(crate) use condition::Condition;

/// Number of version numbers that are looked up in one step, without their records.
const LOOKED_UP_AT_ONCE: u32 = 250;
/// Number of versions read in one step: each may hold a long text.
const READ_AT_ONCE: usize = 16;
/// Longest wait of a new version for earlier writes to its space, and the pause between two checks.
const SETTLED_IN: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(20);
/// Maximum number of version numbers that are tried, because another request may take one first.
const ATTEMPTS: u32 = 8;

/// A version that was accepted. It is stored, or will be.
struct AcceptedVersion {
    number: u32,
    id: RecordId,
}

/// Returns the caller's id of the record of which `name` is the id or the id of a version.
fn record_of(name: &str) -> &str {
    parse_version_id(name).map_or(name, |it| it.0)
}

/// Returns the accepted versions of `of`, by number. It reads only their ids, so its cost does not depend on their
/// sizes.
///
/// The search ends at a step without a version: the gaps that erased versions leave are shorter as a rule.
async fn accepted_versions(app: &App, space: &SpaceId, of: &str) -> Result<Vec<AcceptedVersion>, Problem> {
    let mut accepted = Vec::new();
    for first in (1..=VERSIONS_MAX).step_by(LOOKED_UP_AT_ONCE as usize) {
        let some: Vec<AcceptedVersion> = (first..first + LOOKED_UP_AT_ONCE)
            .map(|number| AcceptedVersion {
                number,
                id: RecordId::from_external_id(space, &version_id(of, number)),
            })
            .collect();
        let claimed = app.stores().records.claimed(space, &ids_of(&some)).await?;
        if claimed.is_empty() {
            break;
        }
        let claimed: BTreeSet<RecordId> = claimed.into_iter().collect();
        accepted.extend(some.into_iter().filter(|it| claimed.contains(&it.id)));
    }
    Ok(accepted)
}

fn ids_of(versions: &[AcceptedVersion]) -> Vec<RecordId> {
    versions.iter().map(|it| it.id).collect()
}

/// Returns true if a record that is stored under the id of a version of `of` is one. A record from before versions
/// existed may have such an id, but is not a version.
fn is_version(record: &Record, of: &str) -> bool {
    record.external_id == of || record.version.is_some()
}

/// Returns the stored ones of these versions of `of`, in the same order.
async fn stored_versions(
    app: &App,
    space: &SpaceId,
    of: &str,
    versions: &[AcceptedVersion],
) -> Result<Vec<Record>, Problem> {
    let mut stored = app.stores().records.get(space, &ids_of(versions)).await?;
    stored.retain(|it| is_version(it, of));
    Ok(stored)
}

/// The newest state of a record.
struct Newest {
    /// The newest stored version.
    stored: Option<Record>,
    /// The number of the newest version, if it is accepted and not stored yet.
    pending_number: Option<u32>,
}

/// Returns the newest state of a record. It reads one record, or a few more if the newest versions are not stored yet.
async fn newest_state(app: &App, space: &SpaceId, of: &str) -> Result<Newest, Problem> {
    let accepted = accepted_versions(app, space, of).await?;
    let (mut pending_number, mut step) = (None, 1);
    let mut left = accepted.as_slice();
    while !left.is_empty() {
        let (earlier, some) = left.split_at(left.len().saturating_sub(step));
        let found = app.stores().records.get(space, &ids_of(some)).await?;
        let mut found: BTreeMap<RecordId, Record> = found.into_iter().map(|it| (it.id, it)).collect();
        for version in some.iter().rev() {
            match found.remove(&version.id) {
                Some(record) if is_version(&record, of) => {
                    return Ok(Newest {
                        stored: Some(record),
                        pending_number,
                    });
                }
                Some(_) => {}
                None => pending_number = pending_number.or(Some(version.number)),
            }
        }
        (left, step) = (earlier, READ_AT_ONCE);
    }
    Ok(Newest {
        stored: None,
        pending_number,
    })
}

/// Returns the newest stored version of a record, by the caller's id of the record or of a version.
pub(crate) async fn newest_version(app: &App, space: &SpaceId, name: &str) -> Result<Option<Record>, Problem> {
    Ok(newest_state(app, space, record_of(name)).await?.stored)
}

/// Returns the newest stored versions of a record, as many as fit on one page; the first one first.
pub(crate) async fn newest_versions(app: &App, space: &SpaceId, name: &str) -> Result<Vec<Record>, Problem> {
    let of = record_of(name);
    let accepted = accepted_versions(app, space, of).await?;
    let mut page = Filling::new(accepted.len());
    for some in accepted.rchunks(READ_AT_ONCE) {
        let stored = stored_versions(app, space, of, some).await?;
        for record in stored.into_iter().rev() {
            if page.is_full() {
                break;
            }
            page.add_item(record);
        }
        if page.is_full() {
            break;
        }
    }
    page.items.reverse();
    Ok(page.items)
}

/// A page of the stored versions of a record.
pub(crate) struct VersionPage {
    /// The first version first.
    pub(crate) items: Vec<crate::api::Record>,
    /// The number after which the next page begins; `None` on the last page.
    pub(crate) next: Option<u32>,
}

/// Returns a page of the stored versions of a record, by the caller's id of the record or of a version: those with
/// numbers greater than `after`, at most `limit`.
pub(crate) async fn list_versions(
    app: &App,
    space: &SpaceId,
    name: &str,
    after: u32,
    limit: usize,
) -> Result<VersionPage, Problem> {
    let of = record_of(name);
    let mut accepted = accepted_versions(app, space, of).await?;
    accepted.retain(|it| it.number > after);
    let (mut page, mut last) = (Filling::new(limit), after);
    for some in accepted.chunks(READ_AT_ONCE) {
        for record in stored_versions(app, space, of, some).await? {
            if page.is_full() {
                return Ok(VersionPage {
                    items: page.items,
                    next: Some(last),
                });
            }
            last = number_of(&record);
            page.add_item(crate::api::Record::from(record));
        }
    }
    Ok(VersionPage {
        items: page.items,
        next: None,
    })
}

/// Returns the ids of all versions of a record, by the caller's id of the record or of a version: of those that are
/// stored, and of those that are accepted and not stored yet; the first one first. It reads only the further versions:
/// without reading them, no store can tell a version from a record of release 0.1.0 that has such an id.
pub(crate) async fn ids_of_versions(app: &App, space: &SpaceId, name: &str) -> Result<Vec<RecordId>, Problem> {
    let of = record_of(name);
    let accepted = accepted_versions(app, space, of).await?;
    let has_first = accepted.first().is_some_and(|it| it.number == 1);
    let (first, further) = accepted.split_at(usize::from(has_first));
    let mut ids = ids_of(first);
    for some in further.chunks(READ_AT_ONCE) {
        let stored = app.stores().records.get(space, &ids_of(some)).await?;
        let others: BTreeSet<RecordId> = stored.iter().filter(|it| !is_version(it, of)).map(|it| it.id).collect();
        ids.extend(ids_of(some).into_iter().filter(|it| !others.contains(it)));
    }
    Ok(ids)
}

/// A record that a caller puts under an id.
pub(crate) struct Update {
    /// The record in the request.
    pub(crate) fields: Map<String, Value>,
    /// The condition under which it is put.
    pub(crate) condition: Condition,
    /// Whether the caller gives the content another time on purpose, which makes a new version of equal content.
    pub(crate) has_new_time: bool,
}

/// Puts a record under an id: as a new record if the id is free, else as its newest version. Content equal to the
/// newest version changes nothing, unless it has a new time on purpose. The newest version may be accepted and not
/// stored yet.
///
/// The claim of the first id decides which of several requests creates a record that must not exist. A request with
/// the same content as a first version that is not stored yet is the same write.
///
/// # Errors
/// 412 if the condition is not met; 409 if the record has [`VERSIONS_MAX`] versions.
pub(crate) async fn put_version(
    app: &App,
    by: &Access,
    space: &SpaceId,
    name: &str,
    update: Update,
) -> Result<Accepted, Problem> {
    let Update {
        fields,
        condition,
        has_new_time,
    } = update;
    if let Some((of, _)) = parse_version_id(name) {
        return Err(Problem::invalid_request(format!(
            "id: names a version; put the next one under `{of}`"
        )));
    }
    if fields.get("id").is_some_and(|it| it != name) {
        return Err(Problem::invalid_request(
            "id: differs from the id in the path; leave it out",
        ));
    }
    wait_for_earlier_writes(app, space).await?;
    let state = newest_state(app, space, name).await?;
    condition.check_state(name, &state)?;
    let Newest {
        stored: newest,
        pending_number,
    } = state;
    let newest_number = newest.as_ref().map_or(0, number_of);
    // The id of the last version that is not stored yet is claimed for its content, so equal content is a duplicate of
    // it, and other content becomes the version after it.
    let first_number = pending_number.unwrap_or(newest_number + 1);
    for number in first_number..first_number + ATTEMPTS {
        if number > VERSIONS_MAX {
            return Err(Problem::conflict(format!(
                "the record has {VERSIONS_MAX} versions; erase it, or use another id"
            )));
        }
        let record = build_version(name, number, fields.clone(), newest.as_ref());
        if let Some(newest) = &newest
            && pending_number.is_none()
            && !has_new_time
            && says_the_same(app, &record, newest)
        {
            return unchanged_response(app, space, newest).await;
        }
        match accept::accept_batch(app, by, space, vec![Value::Object(record)], None).await {
            // Another request has put a version meanwhile that is not stored yet.
            Err(problem) if problem.status == StatusCode::CONFLICT.as_u16() && !problem.items.is_empty() => {
                condition.after_conflict(name)?;
            }
            outcome => return outcome,
        }
    }
    Err(Problem::conflict(
        "other requests put versions of this record at the same time; send it again",
    ))
}

/// Waits a limited time until all earlier writes to a space are stored, because the newest version depends on them.
async fn wait_for_earlier_writes(app: &App, space: &SpaceId) -> Result<(), Problem> {
    let until = Instant::now() + SETTLED_IN;
    while app.backlog_of_space(space).await? > 0 && Instant::now() < until {
        sleep(LOOK).await;
    }
    Ok(())
}

fn number_of(record: &Record) -> u32 {
    record.version.as_ref().map_or(1, |it| it.number)
}

/// Returns the record of version `number`. Session and actor default to those of the previous version.
fn build_version(
    name: &str,
    number: u32,
    mut fields: Map<String, Value>,
    before: Option<&Record>,
) -> Map<String, Value> {
    fields.insert("id".to_owned(), json!(version_id(name, number)));
    if number > 1 {
        fields.insert("version".to_owned(), json!({"of": name, "number": number}));
    }
    if let Some(before) = before {
        let is_left_out = |it: &Map<String, Value>, field: &str| it.get(field).is_none_or(Value::is_null);
        if is_left_out(&fields, "session") {
            fields.insert("session".to_owned(), json!(before.session_name));
        }
        if is_left_out(&fields, "actor") && !before.actor.is_empty() {
            fields.insert("actor".to_owned(), json!(before.actor));
        }
    }
    fields
}

/// Returns true if a version has the same content as the previous one. The time and the order do not count, and a
/// version without a `modality` keeps that of the previous one. An invalid version is not the same, so that it is
/// refused.
fn says_the_same(app: &App, version: &Map<String, Value>, before: &Record) -> bool {
    let Some(offered) = accept::checked_record(app, &before.space, Value::Object(version.clone())) else {
        return false;
    };
    let is_modality_given = version.get("modality").is_some_and(|it| !it.is_null());
    offered.session == before.session
        && offered.actor == before.actor
        && offered.text == before.text
        && offered.image_caption.as_deref().unwrap_or_default() == before.image_caption.as_deref().unwrap_or_default()
        && offered.image_uri.as_deref().unwrap_or_default() == before.image_uri.as_deref().unwrap_or_default()
        && offered.tool == before.tool
        && (!is_modality_given || offered.modality == before.modality)
        && offered.tags == before.tags
        && offered.metadata == before.metadata
}

async fn unchanged_response(app: &App, space: &SpaceId, newest: &Record) -> Result<Accepted, Problem> {
    let written = app.require_space(space).await?.written;
    Ok(Accepted {
        watermark: watermark::from_position(app, space, written).await?,
        items: vec![Item {
            index: 0,
            id: newest.external_id.clone(),
            record: Some(newest.id),
            status: ItemStatus::Duplicate,
            problem: None,
        }],
        left_out: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_versions_parse_to_their_record_and_number() {
        assert_eq!(version_id("a", 1), "a");
        assert_eq!(parse_version_id(&version_id("a", 2)), Some(("a", 2)));
        assert_eq!(parse_version_id(&version_id("a#v2", 31)), Some(("a#v2", 31)));
        for other in ["a", "a#v", "a#v1", "a#v02", "a#v-2", "a#v2x", "a#v99999999999"] {
            assert_eq!(parse_version_id(other), None, "{other}");
        }
    }
}
