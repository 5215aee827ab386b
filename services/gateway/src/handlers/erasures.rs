use axum::extract::State;
use axum::{Extension, Json};
use domain::erasure::Receipt;
use domain::id::{ErasureId, SpaceId};

use crate::api::{Erasure, ErasureCheck, ErasurePage, Paging};
use crate::auth::Access;
use crate::config::Right;
use crate::cursor::{Cursors, Paged};
use crate::erasures;
use crate::extract::{At, NoBody, Params};
use crate::problem::Problem;
use crate::state::App;

/// Lists the receipts of erasures for the name of a space, also if the space itself was erased.
#[utoipa::path(get, path = "/v1/spaces/{space}/erasures", tag = "erasures", params(("space" = SpaceId, Path), Paging), responses(
    (status = 200, description = "A page of receipts", body = ErasurePage),
))]
pub(crate) async fn list(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At(name): At<String>,
    Params(paging): Params<Paging>,
) -> Result<Json<ErasurePage>, Problem> {
    let space = access.enter(&name, Right::Read)?;
    let limit = paging.limit()?;
    let cursors = Cursors::of(&app, "erasures", space.as_str(), &paging).await?;
    let after = cursors.start(&paging)?;
    let found = app.stores().receipts.list(&space, after, limit).await?;
    if found.is_empty() {
        // A name that never belonged to a space has no receipts.
        app.space(&space).await?;
    }
    let next = cursors.next(&found, limit, |it| it.id)?;
    let mut items = Vec::with_capacity(found.len());
    for receipt in found {
        items.push(erasures::completed(&app, receipt).await?.into());
    }
    Ok(Json(ErasurePage { items, next }))
}

/// Returns the receipt of an erasure: its scope, the time of the request and the time of its completion. The receipt of
/// an erasure of records exists once the watermark is reached.
#[utoipa::path(get, path = "/v1/spaces/{space}/erasures/{id}", tag = "erasures",
    params(("space" = SpaceId, Path), ("id" = ErasureId, Path)), responses(
    (status = 200, description = "The receipt", body = Erasure),
    (status = 404, description = "There is none of this id, or not yet", body = Problem, content_type = "application/problem+json"),
))]
pub(crate) async fn get(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At((name, id)): At<(String, String)>,
) -> Result<Json<Erasure>, Problem> {
    let space = access.enter(&name, Right::Read)?;
    Ok(Json(find(&app, &space, &id).await?.into()))
}

/// Searches every store for the erased data and reports the results.
///
/// It reads the whole space, which takes some seconds with 100,000 records. To check files, use `mnemic erasures
/// check`.
#[utoipa::path(post, path = "/v1/spaces/{space}/erasures/{id}/check", tag = "erasures",
    params(("space" = SpaceId, Path), ("id" = ErasureId, Path)), responses(
    (status = 200, description = "What is there", body = ErasureCheck),
    (status = 404, description = "There is no receipt of this id, or not yet", body = Problem, content_type = "application/problem+json"),
))]
pub(crate) async fn check(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At((name, id)): At<(String, String)>,
    _: NoBody,
) -> Result<Json<ErasureCheck>, Problem> {
    let space = access.enter(&name, Right::Admin)?;
    let receipt = find(&app, &space, &id).await?;
    Ok(Json(erasures::check::check(&app, receipt).await?))
}

async fn find(app: &App, space: &SpaceId, id: &str) -> Result<Receipt, Problem> {
    let missing = || {
        Problem::not_found(format!(
            "there is no receipt of this id; GET /v1/spaces/{space}/erasures lists what there is, and an erasure of a moment ago has \
             one once its watermark is reached"
        ))
    };
    let id: ErasureId = id.parse().map_err(|_| missing())?;
    let receipt = app.stores().receipts.get(space, id).await?.ok_or_else(missing)?;
    Ok(erasures::completed(app, receipt).await?)
}
