//! Versions of a record. If a caller puts a record under an existing id, it becomes a record of its own that replaces
//! the previous version from then on.
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

use crate::api::{Accepted, Item, ItemStatus};
use crate::auth::Access;
use crate::problem::{Problem, ProblemCode};
use crate::state::App;
use crate::{accept, watermark};

/// Maximum number of versions of a record.
pub(crate) const VERSIONS_MAX: u32 = 1_000;
/// Number of versions read in one step.
const AT_ONCE: u32 = 250;
/// Separator between the id of a record and the number of a version.
const MARK: &str = "#v";
/// Longest wait of a new version for earlier writes to its space, and the pause between two checks.
const SETTLED_IN: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(20);
/// Maximum number of version numbers that are tried, because another request may take one first.
const ATTEMPTS: u32 = 8;

/// Returns the id of version `number` of the record with the caller's id `of`.
pub(crate) fn id(of: &str, number: u32) -> String {
    match number {
        1 => of.to_owned(),
        _ => format!("{of}{MARK}{number}"),
    }
}

/// Returns the id of the record and the version number that `id` names.
pub(crate) fn parsed(id: &str) -> Option<(&str, u32)> {
    let (of, number) = id.rsplit_once(MARK)?;
    let is_number = number.bytes().all(|it| it.is_ascii_digit()) && !number.starts_with('0');
    let number = number.parse().ok().filter(|it| is_number && *it > 1)?;
    Some((of, number))
}

/// Returns the stored versions of a record, by the caller's id of the record or of a version; the first version first.
pub(crate) async fn stored(app: &App, space: &SpaceId, name: &str) -> Result<Vec<Record>, Problem> {
    let of = parsed(name).map_or(name, |it| it.0);
    let mut found: Vec<Record> = Vec::new();
    for first in (1..=VERSIONS_MAX).step_by(AT_ONCE as usize) {
        let numbers = first..first + AT_ONCE;
        let ids: Vec<RecordId> = numbers.map(|it| RecordId::derive(space, &id(of, it))).collect();
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

/// A record that a caller puts under an id.
pub(crate) struct Update {
    /// The record in the request.
    pub(crate) said: Map<String, Value>,
    /// Whether the record must already exist.
    pub(crate) must_exist: bool,
}

/// Puts a record under an id: as a new record if the id is free, else as its newest version. Content equal to the
/// newest version changes nothing.
///
/// # Errors
/// 412 if `must_exist` and the record does not exist; 409 if it has [`VERSIONS_MAX`] versions.
pub(crate) async fn put(
    app: &App,
    by: &Access,
    space: &SpaceId,
    name: &str,
    update: Update,
) -> Result<Accepted, Problem> {
    let Update { said, must_exist } = update;
    if let Some((of, _)) = parsed(name) {
        return Err(Problem::invalid(format!(
            "id: names a version; put the next one under `{of}`"
        )));
    }
    if said.get("id").is_some_and(|it| it != name) {
        return Err(Problem::invalid("id: is another one than in the path; leave it out"));
    }
    settle(app, space).await?;
    let newest = stored(app, space, name).await?.pop();
    if must_exist && newest.is_none() {
        return Err(missing(name));
    }
    let newest_number = newest.as_ref().map_or(0, number_of);
    for number in newest_number + 1..=newest_number + ATTEMPTS {
        if number > VERSIONS_MAX {
            return Err(Problem::conflict(format!(
                "the record has {VERSIONS_MAX} versions; erase it, or use another id"
            )));
        }
        let record = version(name, number, said.clone(), newest.as_ref());
        if let Some(newest) = &newest
            && says_the_same(&record, newest)
        {
            return unchanged(app, space, newest).await;
        }
        match accept::accept(app, by, space, vec![Value::Object(record)], None).await {
            // Another request has put a version meanwhile that is not stored yet.
            Err(problem) if problem.status == StatusCode::CONFLICT.as_u16() && !problem.items.is_empty() => {}
            outcome => return outcome,
        }
    }
    Err(Problem::conflict(
        "others put versions of this record at the same time; send it again",
    ))
}

/// Waits a limited time until all earlier writes to a space are stored, because the newest version depends on them.
async fn settle(app: &App, space: &SpaceId) -> Result<(), Problem> {
    let until = Instant::now() + SETTLED_IN;
    while app.backlog(space).await? > 0 && Instant::now() < until {
        sleep(LOOK).await;
    }
    Ok(())
}

fn number_of(record: &Record) -> u32 {
    record.version.as_ref().map_or(1, |it| it.number)
}

/// Returns the record of version `number`. Session and actor default to those of the previous version.
fn version(name: &str, number: u32, mut said: Map<String, Value>, before: Option<&Record>) -> Map<String, Value> {
    said.insert("id".to_owned(), json!(id(name, number)));
    if number > 1 {
        said.insert("version".to_owned(), json!({"of": name, "number": number}));
    }
    if let Some(before) = before {
        let is_left_out = |it: &Map<String, Value>, field: &str| it.get(field).is_none_or(Value::is_null);
        if is_left_out(&said, "session") {
            said.insert("session".to_owned(), json!(before.session_name));
        }
        if is_left_out(&said, "actor") && !before.actor.is_empty() {
            said.insert("actor".to_owned(), json!(before.actor));
        }
    }
    said
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
    let given = record.get("tags").and_then(Value::as_array).into_iter().flatten();
    let tags: BTreeSet<String> = given.filter_map(|it| it.as_str().map(str::to_owned)).collect();
    tags.into_iter().collect()
}

async fn unchanged(app: &App, space: &SpaceId, newest: &Record) -> Result<Accepted, Problem> {
    let written = app.space(space).await?.written;
    Ok(Accepted {
        watermark: watermark::print(app, space, written).await?,
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

fn missing(name: &str) -> Problem {
    Problem::new(ProblemCode::NoRecord).detail(format!(
        "there is no record `{name}` to update, or it was erased; without If-Match it is made"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_versions_parse_to_their_record_and_number() {
        assert_eq!(id("a", 1), "a");
        assert_eq!(parsed(&id("a", 2)), Some(("a", 2)));
        assert_eq!(parsed(&id("a#v2", 31)), Some(("a#v2", 31)));
        for other in ["a", "a#v", "a#v1", "a#v02", "a#v-2", "a#v2x", "a#v99999999999"] {
            assert_eq!(parsed(other), None, "{other}");
        }
    }
}
