use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use domain::id::SpaceId;

use crate::api::Rebuild;
use crate::auth::Access;
use crate::config::Right;
use crate::extract::{At, NoBody};
use crate::problem::Problem;
use crate::rebuild;
use crate::state::App;

/// Rebuilds the derived data of a space from its records, in a new generation of its index. The space stays searchable
/// meanwhile.
#[utoipa::path(post, path = "/v1/spaces/{space}/rebuild", tag = "admin", params(("space" = SpaceId, Path)), responses(
    (status = 202, description = "It has begun", body = Rebuild),
    (status = 409, description = "It is being rebuilt already", body = Problem, content_type = "application/problem+json"),
))]
pub(crate) async fn post(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At(name): At<String>,
    _: NoBody,
) -> Result<(StatusCode, Json<Rebuild>), Problem> {
    let space = access.enter(&name, Right::Admin)?;
    let info = app.space(&space).await?;
    let begun = rebuild::start(&app, &space, info.records)?;
    Ok((StatusCode::ACCEPTED, Json(begun)))
}

/// Reports the progress of the last rebuild of a space that this process started.
#[utoipa::path(get, path = "/v1/spaces/{space}/rebuild", tag = "admin", params(("space" = SpaceId, Path)), responses(
    (status = 200, description = "How far it is", body = Rebuild),
))]
pub(crate) async fn get(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At(name): At<String>,
) -> Result<Json<Rebuild>, Problem> {
    let space = access.enter(&name, Right::Admin)?;
    app.space(&space).await?;
    let known = app.rebuilds.get(&space);
    known
        .map(Json)
        .ok_or_else(|| Problem::not_found("the space was not rebuilt since this process began; POST begins"))
}
