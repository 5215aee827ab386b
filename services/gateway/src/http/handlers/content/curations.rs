use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::{Extension, Json};
use domain::curation::Curation;
use domain::id::SpaceId;

use crate::api::problem::Problem;
use crate::api::{Curated, CurationPage, NewCuration, Paged, Paging, ProblemDocument};
use crate::app::config::Right;
use crate::app::cursor::Cursors;
use crate::app::keys::access::Access;
use crate::app::state::App;
use crate::http::extract::{ObjectBody, PathParameters, QueryParameters};
use crate::http::handlers::content::records::idempotency_key;
use crate::use_cases::lists::derived_items;
use crate::use_cases::write::curate;

/// Changes the memory by a decision of a person.
///
/// An act corrects or retires a fact, undoes a merge, pins or forgets a unit, erases a record, or undoes an earlier
/// act. 202 means that the act is on disk; the memory reflects it once the watermark is reached.
#[utoipa::path(post, path = "/v1/spaces/{space}/curations", tag = "curations",
    request_body(content = NewCuration, examples(
        ("correct a fact" = (value = json!({"id": "fix-1", "act": {"kind": "correct_fact", "fact": "5b1e6a52-6f0e-5c63-9a3f-6b1a4f1a7b10", "object": "Lisbon"}, "reason": "they said Lisbon"}))),
        ("retire a fact" = (value = json!({"act": {"kind": "retire_fact", "fact": "5b1e6a52-6f0e-5c63-9a3f-6b1a4f1a7b10"}}))),
        ("undo a merge" = (value = json!({"act": {"kind": "undo_merge", "merge": "0e8a4c1d-2b57-5d0e-8d5e-0a4f3c2b1a90"}, "reason": "two people of one name"}))),
        ("pin a unit" = (value = json!({"act": {"kind": "pin_unit", "unit": "a3c1f0d2-9b64-5e1a-8c7d-4e5f6a7b8c9d"}}))),
        ("forget a unit" = (value = json!({"act": {"kind": "forget_unit", "unit": "a3c1f0d2-9b64-5e1a-8c7d-4e5f6a7b8c9d"}}))),
        ("erase a record" = (value = json!({"act": {"kind": "erase_record", "record": "turn-17"}}))),
        ("undo an act" = (value = json!({"act": {"kind": "undo", "curation": "fix-1"}}))),
    )),
    params(("space" = SpaceId, Path), ("Idempotency-Key" = Option<String>, Header, description = "A repeated request with the same key is applied once", max_length = 256, pattern = "^[!-~]([ -~]*[!-~])?$")),
    responses(
    (status = 202, description = "The act is stored and will be applied", body = Curated),
    (status = 404, description = "The object of the act does not exist", body = ProblemDocument, content_type = "application/problem+json"),
    (status = 409, description = "The id belongs to another act, the act would undo an erasure, or the request with this Idempotency-Key is in progress", body = ProblemDocument, content_type = "application/problem+json"),
    (status = 422, description = "The act is invalid, or the Idempotency-Key was used for another request", body = ProblemDocument, content_type = "application/problem+json"),
))]
pub(crate) async fn post(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters(name): PathParameters<String>,
    headers: HeaderMap,
    ObjectBody(new): ObjectBody<NewCuration>,
) -> Result<(StatusCode, Json<Curated>), Problem> {
    let space = access.authorize_space(&name, curate::required_right(&new.act))?;
    let key = idempotency_key(&headers)?;
    app.require_space(&space).await?;
    let curated = curate::accept_act(&app, &space, new, access.name(), key).await?;
    Ok((StatusCode::ACCEPTED, Json(curated)))
}

/// Lists the decisions of people: the audit log.
#[utoipa::path(get, path = "/v1/spaces/{space}/curations", tag = "curations", params(("space" = SpaceId, Path), Paging), responses(
    (status = 200, description = "A page of acts", body = CurationPage),
))]
pub(crate) async fn list(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters(name): PathParameters<String>,
    QueryParameters(paging): QueryParameters<Paging>,
) -> Result<Json<CurationPage>, Problem> {
    let space = access.authorize_space(&name, Right::Read)?;
    app.require_space(&space).await?;
    let limit = paging.page_limit()?;
    let cursors = Cursors::for_list(&app, "curations", space.as_str(), &paging).await?;
    let after = cursors.start_position(&paging)?;
    let items = app.stores().records.curations(&space, after, limit).await?;
    let next = cursors.next_cursor(&items, limit, |it| it.id)?;
    Ok(Json(CurationPage { items, next }))
}

/// Returns one act, by your id or Mnemic's.
#[utoipa::path(get, path = "/v1/spaces/{space}/curations/{id}", tag = "curations",
    params(("space" = SpaceId, Path), ("id" = String, Path)), responses(
    (status = 200, description = "The act", body = Curation),
))]
pub(crate) async fn get(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters((name, id)): PathParameters<(String, String)>,
) -> Result<Json<Curation>, Problem> {
    let space = access.authorize_space(&name, Right::Read)?;
    app.require_space(&space).await?;
    let found = curate::find_act(&app, &space, &id).await?;
    found
        .map(Json)
        .ok_or_else(|| derived_items::missing_item_problem(&space, "act", "curations"))
}
