use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::{Extension, Json};
use domain::id::{RecordId, SpaceId};
use host::metrics::Operation;
use serde_json::{Map, Value};
use tokio::time::Instant;

use crate::accept::{FromMessages, Given};
use crate::api::{
    Accepted, Curated, NewAct, NewBatch, NewCuration, NewRecord, Record, RecordFilter, RecordPage, RecordVersions,
};
use crate::auth::Access;
use crate::config::Right;
use crate::cursor::{Cursors, Paged};
use crate::extract::{At, ObjectBody, Params};
use crate::filling::Looks;
use crate::problem::Problem;
use crate::state::App;
use crate::versions::Update;
use crate::{accept, curate, selected, versions};

const KEY_HEADER: &str = "idempotency-key";
const KEY_BYTES_MAX: usize = 256;

/// Accepts records, or chat messages as records.
///
/// 202 means that they are on disk, not yet that they are searchable. A space that does not exist is created, unless
/// the server's `create_spaces` is off.
#[utoipa::path(post, path = "/v1/spaces/{space}/records", tag = "records", request_body = NewBatch,
    params(("space" = SpaceId, Path), ("Idempotency-Key" = Option<String>, Header, description = "Repeats get the first response", max_length = 256, pattern = "^[!-~]([ -~]*[!-~])?$")),
    responses(
    (status = 202, description = "Each record was taken, or its item says why not", body = Accepted),
    (status = 409, description = "Every record contradicts what is stored, or the request with this Idempotency-Key is in flight", body = Problem, content_type = "application/problem+json"),
    (status = 422, description = "No record can be used, or the Idempotency-Key was used for another request", body = Problem, content_type = "application/problem+json"),
))]
pub(crate) async fn post(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At(name): At<String>,
    headers: HeaderMap,
    ObjectBody(given): ObjectBody<Given>,
) -> Result<(StatusCode, Json<Accepted>), Problem> {
    let space = access.enter(&name, Right::Write)?;
    let key = idempotency_key(&headers)?;
    let FromMessages { records, left_out } = given.records()?;
    let mut accepted = accept::accept(&app, &access, &space, records, key).await?;
    accepted.left_out = left_out;
    Ok((StatusCode::ACCEPTED, Json(accepted)))
}

/// Lists records in the order in which they were stored; filters select a session, an actor, a time.
#[utoipa::path(get, path = "/v1/spaces/{space}/records", tag = "records", params(("space" = SpaceId, Path), RecordFilter), responses(
    (status = 200, description = "A page of records", body = RecordPage),
))]
pub(crate) async fn list(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At(name): At<String>,
    Params(filter): Params<RecordFilter>,
) -> Result<Json<RecordPage>, Problem> {
    let space = access.enter(&name, Right::Read)?;
    app.space(&space).await?;
    let cursors = Cursors::of(&app, "records", space.as_str(), &filter).await?;
    let place = (cursors.start(&filter)?.unwrap_or(0), filter.limit()?);
    let selection = selected::selection(&app, &space, &filter).await?;
    let mut looks = Looks::new(place);
    while let Some((after, room)) = looks.next() {
        looks.take(app.stores().records.select(&space, &selection, after, room).await?);
    }
    let (records, next) = looks.done();
    let items = records.into_iter().map(Record::from).collect();
    let next = next.map(|it| cursors.behind(it)).transpose()?;
    Ok(Json(RecordPage { items, next }))
}

/// Returns one record, by your id or Mnemic's. If it has several versions, returns the newest, unless the id names a
/// version.
#[utoipa::path(get, path = "/v1/spaces/{space}/records/{id}", tag = "records",
    params(("space" = SpaceId, Path), ("id" = String, Path)), responses(
    (status = 200, description = "The record", body = Record),
))]
pub(crate) async fn get(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At((name, id)): At<(String, String)>,
) -> Result<Json<Record>, Problem> {
    let space = access.enter(&name, Right::Read)?;
    app.space(&space).await?;
    if versions::parsed(&id).is_none()
        && let Some(newest) = versions::stored(&app, &space, &id).await?.pop()
    {
        return Ok(Json(newest.into()));
    }
    let mut ids = vec![RecordId::derive(&space, &id)];
    ids.extend(id.parse::<RecordId>().ok());
    let found = app.stores().records.get(&space, &ids).await?.into_iter().next();
    found.map(|it| Json(it.into())).ok_or_else(no_record)
}

/// Puts a record under an id.
///
/// If the id exists with other content, the new record becomes its next version and replaces it from its `observed_at`
/// on. Questions about earlier times still use the earlier version. Content equal to the newest version changes
/// nothing. Session and actor default to those of the previous version.
#[utoipa::path(put, path = "/v1/spaces/{space}/records/{id}", tag = "records", request_body = NewRecord,
    params(("space" = SpaceId, Path), ("id" = String, Path),
        ("If-Match" = Option<String>, Header, description = "`*`: only if there is such a record")),
    responses(
    (status = 202, description = "It is on disk", body = Accepted),
    (status = 409, description = "It has 1000 versions, or others put versions at the same time", body = Problem, content_type = "application/problem+json"),
    (status = 412, description = "There is no such record, and `If-Match: *` was sent", body = Problem, content_type = "application/problem+json"),
))]
pub(crate) async fn put(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At((name, id)): At<(String, String)>,
    headers: HeaderMap,
    ObjectBody(said): ObjectBody<Map<String, Value>>,
) -> Result<(StatusCode, Json<Accepted>), Problem> {
    let space = access.enter(&name, Right::Write)?;
    let must_exist = match headers.get(header::IF_MATCH).map(|it| it.as_bytes()) {
        None => false,
        Some(b"*") => true,
        Some(_) => return Err(Problem::invalid("If-Match: is not `*`; records have no tags")),
    };
    let given = Given {
        records: Some(vec![Value::Object(said)]),
        messages: None,
        session: None,
    };
    let mut records = given.records()?.records;
    let (Some(Value::Object(said)), true) = (records.pop(), records.is_empty()) else {
        return Err(Problem::invalid(
            "is not one record, but a message that is none or several",
        ));
    };
    let accepted = versions::put(&app, &access, &space, &id, Update { said, must_exist }).await?;
    Ok((StatusCode::ACCEPTED, Json(accepted)))
}

/// Lists the versions of a record, the first one first.
#[utoipa::path(get, path = "/v1/spaces/{space}/records/{id}/versions", tag = "records", operation_id = "versions",
    params(("space" = SpaceId, Path), ("id" = String, Path)), responses(
    (status = 200, description = "All versions", body = RecordVersions),
))]
pub(crate) async fn versions(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At((name, id)): At<(String, String)>,
) -> Result<Json<RecordVersions>, Problem> {
    let space = access.enter(&name, Right::Read)?;
    app.space(&space).await?;
    let stored = versions::stored(&app, &space, &id).await?;
    if stored.is_empty() {
        return Err(no_record());
    }
    let items = stored.into_iter().map(Record::from).collect();
    Ok(Json(RecordVersions { items }))
}

/// Erases one record permanently, by your id or Mnemic's, and everything that derives only from it.
///
/// By your id, it erases all versions. It is a short form of the act `erase_record`.
#[utoipa::path(delete, path = "/v1/spaces/{space}/records/{id}", tag = "records",
    params(("space" = SpaceId, Path), ("id" = String, Path)), responses(
    (status = 202, description = "It will be gone once the watermark is reached", body = Curated),
))]
pub(crate) async fn delete(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At((name, record)): At<(String, String)>,
) -> Result<(StatusCode, Json<Curated>), Problem> {
    let started = Instant::now();
    let space = access.enter(&name, Right::Admin)?;
    app.space(&space).await?;
    let outcome = erase(&app, &space, record, access.name()).await;
    app.context
        .metrics
        .operation(Operation::Delete, outcome.is_ok(), started.elapsed());
    outcome.map(|it| (StatusCode::ACCEPTED, Json(it)))
}

/// Erases the later versions of a record, and then the record itself; returns the act for the record.
async fn erase(app: &App, space: &SpaceId, record: String, by: &str) -> Result<Curated, Problem> {
    let versions = versions::stored(app, space, &record).await?;
    let later = versions.into_iter().map(|it| it.external_id).filter(|it| *it != record);
    let mut all: Vec<String> = later.collect();
    all.reverse();
    all.push(record);
    let mut last = None;
    for record in all {
        let new = NewCuration {
            id: None,
            act: NewAct::EraseRecord { record },
            reason: String::new(),
        };
        last = Some(curate::curate(app, space, new, (by, None)).await?);
    }
    last.ok_or_else(no_record)
}

fn no_record() -> Problem {
    Problem::not_found("there is no record of this id")
}

pub(crate) fn idempotency_key(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
    let Some(value) = headers.get(KEY_HEADER) else {
        return Ok(None);
    };
    let key = value.to_str().unwrap_or_default();
    if key.is_empty() || key.len() > KEY_BYTES_MAX {
        return Err(Problem::invalid(format!(
            "Idempotency-Key: is not 1 to {KEY_BYTES_MAX} visible ASCII characters"
        )));
    }
    Ok(Some(key))
}
