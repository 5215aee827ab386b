use axum::extract::State;
use axum::{Extension, Json};
use domain::erasure::Receipt;
use domain::id::{ErasureId, SpaceId};

use crate::api::problem::Problem;
use crate::api::{Erasure, ErasureCheck, ErasurePage, Paged, Paging, ProblemDocument};
use crate::app::config::Right;
use crate::app::cursor::Cursors;
use crate::app::keys::access::Access;
use crate::app::state::App;
use crate::http::extract::{NoBody, PathParameters, QueryParameters};
use crate::use_cases::administration::erasures;

/// Lists the receipts of erasures for the name of a space, also if the space itself was erased.
#[utoipa::path(get, path = "/v1/spaces/{space}/erasures", tag = "erasures", params(("space" = SpaceId, Path), Paging), responses(
    (status = 200, description = "A page of receipts", body = ErasurePage),
))]
pub(crate) async fn list(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters(name): PathParameters<String>,
    QueryParameters(paging): QueryParameters<Paging>,
) -> Result<Json<ErasurePage>, Problem> {
    let space = access.authorize_space(&name, Right::Read)?;
    let limit = paging.page_limit()?;
    let cursors = Cursors::for_list(&app, "erasures", space.as_str(), &paging).await?;
    let after = cursors.start_position(&paging)?;
    let found = app.stores().receipts.list(&space, after, limit).await?;
    if found.is_empty() {
        // A name that never belonged to a space has no receipts.
        app.require_space(&space).await?;
    }
    let next = cursors.next_cursor(&found, limit, |it| it.id)?;
    let mut items = Vec::with_capacity(found.len());
    for receipt in found {
        items.push(erasures::complete_receipt(&app, receipt).await?.into());
    }
    Ok(Json(ErasurePage { items, next }))
}

/// Returns the receipt of an erasure: its scope, the time of the request and the time of its completion. The receipt of
/// an erasure of records exists once the watermark is reached.
#[utoipa::path(get, path = "/v1/spaces/{space}/erasures/{id}", tag = "erasures",
    params(("space" = SpaceId, Path), ("id" = ErasureId, Path)), responses(
    (status = 200, description = "The receipt", body = Erasure),
    (status = 404, description = "There is no receipt with this id, or not yet", body = ProblemDocument, content_type = "application/problem+json"),
))]
pub(crate) async fn get(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters((name, id)): PathParameters<(String, String)>,
) -> Result<Json<Erasure>, Problem> {
    let space = access.authorize_space(&name, Right::Read)?;
    Ok(Json(find_receipt(&app, &space, &id).await?.into()))
}

/// Searches every store for the erased data and reports the results.
///
/// It reads the whole space, which takes some seconds with 100,000 records. To check files, use `mnemic erasures
/// check`.
#[utoipa::path(post, path = "/v1/spaces/{space}/erasures/{id}/check", tag = "erasures",
    params(("space" = SpaceId, Path), ("id" = ErasureId, Path)), responses(
    (status = 200, description = "The result of the search", body = ErasureCheck),
    (status = 404, description = "There is no receipt with this id, or not yet", body = ProblemDocument, content_type = "application/problem+json"),
))]
pub(crate) async fn check(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters((name, id)): PathParameters<(String, String)>,
    _: NoBody,
) -> Result<Json<ErasureCheck>, Problem> {
    let space = access.authorize_space(&name, Right::Admin)?;
    let receipt = find_receipt(&app, &space, &id).await?;
    Ok(Json(erasures::store_search::check_erasure(&app, receipt).await?))
}

async fn find_receipt(app: &App, space: &SpaceId, id: &str) -> Result<Receipt, Problem> {
    let missing = || {
        Problem::not_found(format!(
            "there is no receipt with this id; GET /v1/spaces/{space}/erasures lists the receipts, and a new erasure \
             has one once its watermark is reached"
        ))
    };
    let id: ErasureId = id.parse().map_err(|_| missing())?;
    let receipt = app.stores().receipts.get(space, id).await?.ok_or_else(missing)?;
    Ok(erasures::complete_receipt(app, receipt).await?)
}
