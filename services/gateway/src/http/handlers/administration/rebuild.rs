use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use domain::id::SpaceId;

use crate::api::problem::Problem;
use crate::api::{ProblemDocument, Rebuild};
use crate::app::config::Right;
use crate::app::keys::access::Access;
use crate::app::state::App;
use crate::http::extract::{NoBody, PathParameters};
use crate::use_cases::administration::rebuild;

/// Rebuilds the derived data of a space from its records, in a new generation of its index. The space stays searchable
/// meanwhile.
#[utoipa::path(post, path = "/v1/spaces/{space}/rebuild", tag = "admin", params(("space" = SpaceId, Path)), responses(
    (status = 202, description = "The rebuild has started", body = Rebuild),
    (status = 409, description = "The space is already being rebuilt", body = ProblemDocument, content_type = "application/problem+json"),
))]
pub(crate) async fn post(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters(name): PathParameters<String>,
    _: NoBody,
) -> Result<(StatusCode, Json<Rebuild>), Problem> {
    let space = access.authorize_space(&name, Right::Admin)?;
    let info = app.require_space(&space).await?;
    let begun = rebuild::start_rebuild(&app, &space, info.records)?;
    Ok((StatusCode::ACCEPTED, Json(begun)))
}

/// Reports the progress of the last rebuild of a space that this process started.
#[utoipa::path(get, path = "/v1/spaces/{space}/rebuild", tag = "admin", params(("space" = SpaceId, Path)), responses(
    (status = 200, description = "Progress of the rebuild", body = Rebuild),
))]
pub(crate) async fn get(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters(name): PathParameters<String>,
) -> Result<Json<Rebuild>, Problem> {
    let space = access.authorize_space(&name, Right::Admin)?;
    app.require_space(&space).await?;
    let known = app.rebuilds.get(&space);
    known.map(Json).ok_or_else(|| {
        Problem::not_found("the space was not rebuilt since this process started; POST starts a rebuild")
    })
}
