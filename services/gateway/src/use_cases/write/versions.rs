//! Versions of a record (upsert). If a caller puts a record under an existing id, it becomes a separate record that
//! replaces the previous version from then on.
//!
//! Version 2 of `a` has the id `a#v2` and names the record whose version it is; the first version is `a` itself.
//! Records are never changed, so questions about an earlier time still see the earlier version.

use std::collections::BTreeSet;
use std::time::Duration;

use axum::http::StatusCode;
use domain::id::{RecordId, SpaceId};
use domain::record::Record;
use serde_json::{Map, Value, json};
use tokio::time::{Instant, sleep};

use crate::api::problem::{Problem, ProblemCode};
use crate::api::{Accepted, Item, ItemStatus};
use crate::app::keys::access::Access;
use crate::app::state::App;
use crate::app::watermark;
use crate::use_cases::validate::version_ids::{VERSIONS_MAX, parse_version_id, version_id};
use crate::use_cases::write::accept;

/// Number of versions read in one step.
const AT_ONCE: u32 = 250;
/// Longest wait of a new version for earlier writes to its space, and the pause between two checks.
const SETTLED_IN: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(20);
/// Maximum number of version numbers that are tried, because another request may take one first.
const ATTEMPTS: u32 = 8;

/// Returns the stored versions of a record, by the caller's id of the record or of a version; the first version first.
pub(crate) async fn read_versions(app: &App, space: &SpaceId, name: &str) -> Result<Vec<Record>, Problem> {
    let of = parse_version_id(name).map_or(name, |it| it.0);
    let mut found: Vec<Record> = Vec::new();
    for first in (1..=VERSIONS_MAX).step_by(AT_ONCE as usize) {
        let numbers = first..first + AT_ONCE;
        let ids: Vec<RecordId> = numbers
            .map(|it| RecordId::from_external_id(space, &version_id(of, it)))
            .collect();
        let some = app.stores().records.get(space, &ids).await?;
        if some.is_empty() {
            break;
        }
        found.extend(some);
    }
    // A record from before versions existed may have such an id, but is not a version.
    found.retain(|it| it.external_id == of || it.version.is_some());
    Ok(found)
}

/// Returns the ids of the `stored` versions of a record, and of those that are accepted and not stored yet.
pub(crate) async fn ids_of_versions(
    app: &App,
    space: &SpaceId,
    name: &str,
    stored: &[Record],
) -> Result<Vec<RecordId>, Problem> {
    let newest = stored.last().map_or(0, number_of);
    let of = parse_version_id(name).map_or(name, |it| it.0);
    let accepted = accepted_versions(app, space, of, newest).await?;
    let accepted = accepted.into_iter().map(|it| it.id);
    Ok(stored.iter().map(|it| it.id).chain(accepted).collect())
}

/// A version that was accepted and may not be stored yet.
struct AcceptedVersion {
    number: u32,
    id: RecordId,
}

/// Returns the versions of `of` that were accepted after the version `newest` was stored, by number.
async fn accepted_versions(app: &App, space: &SpaceId, of: &str, newest: u32) -> Result<Vec<AcceptedVersion>, Problem> {
    let records = &app.stores().records;
    let mut next: Vec<AcceptedVersion> = (newest + 1..=newest + ATTEMPTS)
        .map(|number| AcceptedVersion {
            number,
            id: RecordId::from_external_id(space, &version_id(of, number)),
        })
        .collect();
    let ids: Vec<RecordId> = next.iter().map(|it| it.id).collect();
    let claimed = records.claimed(space, &ids).await?;
    if claimed.is_empty() {
        return Ok(Vec::new());
    }
    // A record from before versions existed may have such an id, but is not a version. The versions among them were
    // stored a moment ago.
    let stored = records.get(space, &claimed).await?;
    let is_other = |id: &RecordId| {
        stored
            .iter()
            .any(|it| it.id == *id && it.external_id != of && it.version.is_none())
    };
    next.retain(|it| claimed.contains(&it.id) && !is_other(&it.id));
    Ok(next)
}

/// A record that a caller puts under an id.
pub(crate) struct Update {
    /// The record in the request.
    pub(crate) fields: Map<String, Value>,
    /// Whether the record must already exist.
    pub(crate) must_exist: bool,
    /// Whether the caller gives the content another time on purpose, which makes a new version of equal content.
    pub(crate) has_new_time: bool,
}

/// Puts a record under an id: as a new record if the id is free, else as its newest version. Content equal to the
/// newest version changes nothing, unless it has a new time on purpose. The newest version may be accepted and not
/// stored yet.
///
/// # Errors
/// 412 if `must_exist` and the record does not exist; 409 if it has [`VERSIONS_MAX`] versions.
pub(crate) async fn put_version(
    app: &App,
    by: &Access,
    space: &SpaceId,
    name: &str,
    update: Update,
) -> Result<Accepted, Problem> {
    let Update {
        fields,
        must_exist,
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
    let newest = read_versions(app, space, name).await?.pop();
    let newest_number = newest.as_ref().map_or(0, number_of);
    let pending = accepted_versions(app, space, name, newest_number).await?;
    let last_pending = pending.last().map(|it| it.number);
    if must_exist && newest.is_none() && last_pending.is_none() {
        return Err(no_record_problem(name));
    }
    // The id of the last version that is not stored yet is claimed for its content, so equal content is a duplicate of
    // it, and other content becomes the version after it.
    for number in last_pending.unwrap_or(newest_number + 1)..=newest_number + ATTEMPTS {
        if number > VERSIONS_MAX {
            return Err(Problem::conflict(format!(
                "the record has {VERSIONS_MAX} versions; erase it, or use another id"
            )));
        }
        let record = build_version(name, number, fields.clone(), newest.as_ref());
        if let Some(newest) = &newest
            && last_pending.is_none()
            && !has_new_time
            && says_the_same(&record, newest)
        {
            return unchanged_response(app, space, newest).await;
        }
        match accept::accept_batch(app, by, space, vec![Value::Object(record)], None).await {
            // Another request has put a version meanwhile that is not stored yet.
            Err(problem) if problem.status == StatusCode::CONFLICT.as_u16() && !problem.items.is_empty() => {}
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

/// Returns true if a version has the same content as the previous one. The time does not count, nor do invalid fields.
fn says_the_same(record: &Map<String, Value>, before: &Record) -> bool {
    let text = |field: &str| record.get(field).and_then(Value::as_str).unwrap_or_default();
    let metadata = serde_json::to_value(&before.metadata).unwrap_or_default();
    let own = record.get("metadata").cloned().unwrap_or_else(|| json!({}));
    text("text") == before.text
        && text("actor") == before.actor
        && text("session") == before.session_name
        && text("image_caption") == before.image_caption.as_deref().unwrap_or_default()
        && text("image_uri") == before.image_uri.as_deref().unwrap_or_default()
        && tags_of(record) == before.tags
        && own == metadata
        && record.get("tool").is_none_or(Value::is_null)
        && before.tool.is_none()
}

/// Returns the tags of an unparsed record in the form in which a record stores them.
fn tags_of(record: &Map<String, Value>) -> Vec<String> {
    let listed_tags = record.get("tags").and_then(Value::as_array).into_iter().flatten();
    let tags: BTreeSet<String> = listed_tags.filter_map(|it| it.as_str().map(str::to_owned)).collect();
    tags.into_iter().collect()
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

fn no_record_problem(name: &str) -> Problem {
    Problem::new(ProblemCode::NoRecord).with_detail(format!(
        "there is no record `{name}` to update, or it was erased; to create it, send the request without If-Match"
    ))
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
