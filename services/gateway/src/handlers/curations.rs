use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::{Extension, Json};
use domain::curation::Curation;
use domain::id::SpaceId;

use crate::api::{Curated, CurationPage, NewCuration, Paging};
use crate::auth::Access;
use crate::config::Right;
use crate::cursor::{Cursors, Paged};
use crate::extract::{At, ObjectBody, Params};
use crate::handlers::records::idempotency_key;
use crate::problem::Problem;
use crate::state::App;
use crate::{curate, kept};

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
    params(("space" = SpaceId, Path), ("Idempotency-Key" = Option<String>, Header, description = "Repeats are done once", max_length = 256, pattern = "^[!-~]([ -~]*[!-~])?$")),
    responses(
    (status = 202, description = "It will be done", body = Curated),
    (status = 404, description = "What it is about does not exist", body = Problem, content_type = "application/problem+json"),
    (status = 409, description = "The id stands for another act, an erasure was to be undone, or the request with this Idempotency-Key is in flight", body = Problem, content_type = "application/problem+json"),
    (status = 422, description = "It cannot be used, or the Idempotency-Key was used for another request", body = Problem, content_type = "application/problem+json"),
))]
pub(crate) async fn post(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At(name): At<String>,
    headers: HeaderMap,
    ObjectBody(new): ObjectBody<NewCuration>,
) -> Result<(StatusCode, Json<Curated>), Problem> {
    let space = access.enter(&name, curate::right(&new.act))?;
    let key = idempotency_key(&headers)?;
    app.space(&space).await?;
    let curated = curate::curate(&app, &space, new, (access.name(), key)).await?;
    Ok((StatusCode::ACCEPTED, Json(curated)))
}

/// Lists the decisions of people: the audit log.
#[utoipa::path(get, path = "/v1/spaces/{space}/curations", tag = "curations", params(("space" = SpaceId, Path), Paging), responses(
    (status = 200, description = "A page of acts", body = CurationPage),
))]
pub(crate) async fn list(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At(name): At<String>,
    Params(paging): Params<Paging>,
) -> Result<Json<CurationPage>, Problem> {
    let space = access.enter(&name, Right::Read)?;
    app.space(&space).await?;
    let limit = paging.limit()?;
    let cursors = Cursors::of(&app, "curations", space.as_str(), &paging).await?;
    let after = cursors.start(&paging)?;
    let items = app.stores().records.curations(&space, after, limit).await?;
    let next = cursors.next(&items, limit, |it| it.id)?;
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
    At((name, id)): At<(String, String)>,
) -> Result<Json<Curation>, Problem> {
    let space = access.enter(&name, Right::Read)?;
    app.space(&space).await?;
    let found = curate::called(&app, &space, &id).await?;
    found.map(Json).ok_or_else(|| kept::missing(&space, "act", "curations"))
}
