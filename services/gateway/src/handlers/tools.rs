use axum::extract::State;
use axum::{Extension, Json};
use domain::id::SpaceId;
use serde_json::Value;

use crate::api::{ToolList, ToolOutcome};
use crate::auth::Access;
use crate::config::Right;
use crate::extract::{At, Body};
use crate::problem::Problem;
use crate::state::App;
use crate::tools;

/// Lists the tools, as a model is told of them.
#[utoipa::path(get, path = "/v1/spaces/{space}/tools", tag = "tools", params(("space" = SpaceId, Path)), responses(
    (status = 200, description = "The tools", body = ToolList),
    (status = "default", description = "A problem", body = Problem, content_type = "application/problem+json"),
))]
pub(crate) async fn list(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At(name): At<String>,
) -> Result<Json<ToolList>, Problem> {
    let space = access.enter(&name, Right::Read)?;
    app.space(&space).await?;
    Ok(Json(ToolList {
        tools: tools::catalogue(),
    }))
}

/// Calls a tool. A call that cannot be used is a result with `error`, which the model can read.
#[utoipa::path(post, path = "/v1/spaces/{space}/tools/{name}", tag = "tools", request_body = Object,
    params(("space" = SpaceId, Path), ("name" = String, Path)), responses(
    (status = 200, description = "A result, or an error to be read by the model", body = ToolOutcome),
    (status = "default", description = "A problem", body = Problem, content_type = "application/problem+json"),
))]
pub(crate) async fn call(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At((name, tool)): At<(String, String)>,
    Body(arguments): Body<Value>,
) -> Result<Json<ToolOutcome>, Problem> {
    let space = access.enter(&name, Right::Read)?;
    app.space(&space).await?;
    Ok(Json(tools::call(&app, &space, &tool, arguments).await))
}
