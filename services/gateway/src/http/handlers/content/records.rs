use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::{Extension, Json};
use domain::id::{RecordId, SpaceId};
use host::metrics::Operation;
use serde_json::{Map, Value};
use tokio::time::Instant;

use crate::api::problem::Problem;
use crate::api::{
    Accepted, Curated, NewAct, NewBatch, NewCuration, NewRecord, Paged, ProblemDocument, Record, RecordFilter,
    RecordPage, RecordVersions, VersionFilter,
};
use crate::app::config::Right;
use crate::app::cursor::Cursors;
use crate::app::keys::access::Access;
use crate::app::state::App;
use crate::app::watermark;
use crate::http::extract::{ObjectBody, PathParameters, QueryParameters};
use crate::use_cases::lists::list_page::Looks;
use crate::use_cases::lists::record_selection;
use crate::use_cases::validate::version_ids;
use crate::use_cases::write::accept::{self, WriteInput};
use crate::use_cases::write::curate;
use crate::use_cases::write::versions::{self, Condition, Update};

const KEY_HEADER: &str = "idempotency-key";
const KEY_BYTES_MAX: usize = 256;

/// Accepts records, or chat messages as records.
///
/// 202 means that they are on disk, not yet that they are searchable. A space that does not exist is created, unless
/// the server's `create_spaces` is off.
#[utoipa::path(post, path = "/v1/spaces/{space}/records", tag = "records", request_body = NewBatch,
    params(("space" = SpaceId, Path), ("Idempotency-Key" = Option<String>, Header, description = "A repeated request with the same key gets the first response", max_length = 256, pattern = "^[!-~]([ -~]*[!-~])?$")),
    responses(
    (status = 202, description = "Each record was accepted, or its item gives the reason why not", body = Accepted),
    (status = 409, description = "Every record conflicts with a stored one, or the request with this Idempotency-Key is in progress", body = ProblemDocument, content_type = "application/problem+json"),
    (status = 422, description = "Every record is invalid, or the Idempotency-Key was used for another request", body = ProblemDocument, content_type = "application/problem+json"),
))]
pub(crate) async fn post(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters(name): PathParameters<String>,
    headers: HeaderMap,
    ObjectBody(input): ObjectBody<WriteInput>,
) -> Result<(StatusCode, Json<Accepted>), Problem> {
    let space = access.authorize_space(&name, Right::Write)?;
    let key = idempotency_key(&headers)?;
    let accepted = accept::accept_request(&app, &access, &space, input.into_records()?, key).await?;
    Ok((StatusCode::ACCEPTED, Json(accepted)))
}

/// Lists records in the order in which they were stored; filters select a session, an actor, a time.
#[utoipa::path(get, path = "/v1/spaces/{space}/records", tag = "records", params(("space" = SpaceId, Path), RecordFilter), responses(
    (status = 200, description = "A page of records", body = RecordPage),
))]
pub(crate) async fn list(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters(name): PathParameters<String>,
    QueryParameters(filter): QueryParameters<RecordFilter>,
) -> Result<Json<RecordPage>, Problem> {
    let space = access.authorize_space(&name, Right::Read)?;
    app.require_space(&space).await?;
    let cursors = Cursors::for_list(&app, "records", space.as_str(), &filter).await?;
    let (after, limit) = (cursors.start_position(&filter)?.unwrap_or(0), filter.page_limit()?);
    let selection = record_selection::record_selection(&app, &space, &filter).await?;
    let mut looks = Looks::new(after, limit);
    while let Some((after, room)) = looks.next_read() {
        let (found, after) = app.stores().records.select(&space, &selection, after, room).await?;
        looks.add_result(found, after);
    }
    let (records, next) = looks.into_page();
    let items = records.into_iter().map(Record::from).collect();
    let next = next.map(|it| cursors.cursor_after(it)).transpose()?;
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
    PathParameters((name, id)): PathParameters<(String, String)>,
) -> Result<Json<Record>, Problem> {
    let space = access.authorize_space(&name, Right::Read)?;
    app.require_space(&space).await?;
    if version_ids::parse_version_id(&id).is_none()
        && let Some(newest) = versions::newest_version(&app, &space, &id).await?
    {
        return Ok(Json(newest.into()));
    }
    let mut ids = vec![RecordId::from_external_id(&space, &id)];
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
        ("If-Match" = Option<String>, Header, description = "`*`: only if the record exists"),
        ("If-None-Match" = Option<String>, Header, description = "`*`: only if the record does not exist")),
    responses(
    (status = 202, description = "The record is on disk", body = Accepted),
    (status = 409, description = "The record has 1000 versions, or other requests put versions at the same time", body = ProblemDocument, content_type = "application/problem+json"),
    (status = 412, description = "`If-Match: *` was sent and there is no such record, or `If-None-Match: *` was sent and the record exists", body = ProblemDocument, content_type = "application/problem+json"),
))]
pub(crate) async fn put(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters((name, id)): PathParameters<(String, String)>,
    headers: HeaderMap,
    ObjectBody(record_fields): ObjectBody<Map<String, Value>>,
) -> Result<(StatusCode, Json<Accepted>), Problem> {
    let space = access.authorize_space(&name, Right::Write)?;
    let condition = condition_of_request(&headers)?;
    let input = WriteInput {
        records: Some(vec![Value::Object(record_fields)]),
        messages: None,
        session: None,
    };
    let mut records = input.into_records()?.records;
    let (Some(Value::Object(record_fields)), true) = (records.pop(), records.is_empty()) else {
        return Err(Problem::invalid_request(
            "is a message that becomes no record or several records",
        ));
    };
    let accepted = versions::put_version(
        &app,
        &access,
        &space,
        &id,
        Update {
            fields: record_fields,
            condition,
            has_new_time: false,
        },
    )
    .await?;
    Ok((StatusCode::ACCEPTED, Json(accepted)))
}

/// Returns the condition that `If-Match` or `If-None-Match` sets (RFC 9110, section 13.1).
///
/// # Errors
/// 422 if one of them has another value than `*`, or if the request has both.
fn condition_of_request(headers: &HeaderMap) -> Result<Condition, Problem> {
    let (must_exist, must_be_absent) = (is_any_tag(headers, "If-Match")?, is_any_tag(headers, "If-None-Match")?);
    match (must_exist, must_be_absent) {
        (false, false) => Ok(Condition::Unconditional),
        (true, false) => Ok(Condition::Exists),
        (false, true) => Ok(Condition::Absent),
        (true, true) => Err(Problem::invalid_request(
            "If-None-Match: contradicts If-Match; send only one of them",
        )),
    }
}

/// Returns true if the conditional header `name` is `*`, and false if the request does not have it.
///
/// # Errors
/// 422 if it has another value.
fn is_any_tag(headers: &HeaderMap, name: &str) -> Result<bool, Problem> {
    match headers.get(name).map(|it| it.as_bytes()) {
        None => Ok(false),
        Some(b"*") => Ok(true),
        Some(_) => Err(Problem::invalid_request(format!(
            "{name}: must be `*`; records have no entity tags"
        ))),
    }
}

/// Lists the versions of a record, the first one first.
#[utoipa::path(get, path = "/v1/spaces/{space}/records/{id}/versions", tag = "records", operation_id = "versions",
    params(("space" = SpaceId, Path), ("id" = String, Path), VersionFilter), responses(
    (status = 200, description = "All versions; a page of them if they have more than 4 MiB", body = RecordVersions),
))]
pub(crate) async fn versions(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters((name, id)): PathParameters<(String, String)>,
    QueryParameters(filter): QueryParameters<VersionFilter>,
) -> Result<Json<RecordVersions>, Problem> {
    let space = access.authorize_space(&name, Right::Read)?;
    app.require_space(&space).await?;
    let of = format!("{space}/{id}");
    let cursors = Cursors::for_list(&app, "versions", &of, &filter).await?;
    let after: Option<u32> = cursors.start_position(&filter)?;
    let limit = filter.page_limit()?;
    let page = versions::list_versions(&app, &space, &id, after.unwrap_or(0), limit).await?;
    if page.items.is_empty() && after.is_none() {
        return Err(no_record());
    }
    let next = page.next.map(|it| cursors.cursor_after(it)).transpose()?;
    Ok(Json(RecordVersions {
        items: page.items,
        next,
    }))
}

/// Erases one record permanently, by your id or Mnemic's, and everything that derives only from it.
///
/// By your id, also by that of one version such as `a#v2`, it erases all versions of the record. To erase one version,
/// use Mnemic's id of it, or the act `erase_record`.
#[utoipa::path(delete, path = "/v1/spaces/{space}/records/{id}", tag = "records",
    params(("space" = SpaceId, Path), ("id" = String, Path)), responses(
    (status = 202, description = "The record is erased once the watermark is reached", body = Curated),
))]
pub(crate) async fn delete(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters((name, record)): PathParameters<(String, String)>,
) -> Result<(StatusCode, Json<Curated>), Problem> {
    let started = Instant::now();
    let space = access.authorize_space(&name, Right::Admin)?;
    app.require_space(&space).await?;
    let outcome = erase_all_versions(&app, &space, record, access.name()).await;
    app.context
        .metrics
        .observe_operation(Operation::Delete, outcome.is_ok(), started.elapsed());
    outcome.map(|it| (StatusCode::ACCEPTED, Json(it)))
}

/// Erases all versions of a record, or the record with an id of Mnemic's; returns the act for the first version.
async fn erase_all_versions(app: &App, space: &SpaceId, record: String, by: &str) -> Result<Curated, Problem> {
    let versions = versions::ids_of_versions(app, space, &record).await?;
    if versions.is_empty() {
        let new = NewCuration {
            id: None,
            act: NewAct::EraseRecord { record },
            reason: String::new(),
        };
        return curate::accept_act(app, space, new, by, None).await;
    }
    let erasing = curate::erase_records(app, space, &versions, by).await?;
    Ok(Curated {
        watermark: watermark::from_position(app, space, erasing.position).await?,
        erasure: Some(erasing.erasure),
        curation: erasing.first,
    })
}

fn no_record() -> Problem {
    Problem::not_found("there is no record with this id")
}

pub(crate) fn idempotency_key(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
    let Some(value) = headers.get(KEY_HEADER) else {
        return Ok(None);
    };
    let key = value.to_str().unwrap_or_default();
    if key.is_empty() || key.len() > KEY_BYTES_MAX {
        return Err(Problem::invalid_request(format!(
            "Idempotency-Key: must be 1 to {KEY_BYTES_MAX} visible ASCII characters"
        )));
    }
    Ok(Some(key))
}
