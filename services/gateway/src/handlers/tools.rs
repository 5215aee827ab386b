use axum::extract::State;
use axum::{Extension, Json};
use domain::id::SpaceId;
use serde_json::Value;

use crate::api::{ToolList, ToolOutcome, ToolScope};
use crate::auth::Access;
use crate::config::Right;
use crate::extract::{At, Body, Params};
use crate::problem::Problem;
use crate::state::App;
use crate::{labels, tools, validate};

/// Lists the tools, as described to a model. They are the same in every space.
#[utoipa::path(get, path = "/v1/tools", tag = "tools", responses(
    (status = 200, description = "The tools, with the JSON schemas of their arguments", body = ToolList),
))]
pub(crate) async fn all(
    State(app): State<App>,
    Extension(access): Extension<Access>,
) -> Result<Json<ToolList>, Problem> {
    access.demand(Right::Read)?;
    let tools = tools::catalogue(&app).await?;
    Ok(Json(ToolList { tools }))
}

/// Lists the tools of a space that exists.
#[utoipa::path(get, path = "/v1/spaces/{space}/tools", tag = "tools", params(("space" = SpaceId, Path)), responses(
    (status = 200, description = "The tools, with the JSON schemas of their arguments", body = ToolList),
))]
pub(crate) async fn list(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At(name): At<String>,
) -> Result<Json<ToolList>, Problem> {
    let space = access.enter(&name, Right::Read)?;
    app.space(&space).await?;
    let tools = tools::catalogue(&app).await?;
    Ok(Json(ToolList { tools }))
}

/// Calls a tool. An invalid call returns a result with `error`, which tells the model how to correct it.
#[utoipa::path(post, path = "/v1/spaces/{space}/tools/{name}", tag = "tools",
    request_body(content = Object, description = "The arguments, as the schema of the tool has them", example = json!({"query": "the harbour", "limit": 5})),
    params(("space" = SpaceId, Path), ("name" = String, Path), ToolScope), responses(
    (status = 200, description = "A result, or an error to be read by the model", body = ToolOutcome),
))]
pub(crate) async fn call(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At((name, tool)): At<(String, String)>,
    Params(params): Params<ToolScope>,
    Body(arguments): Body<Value>,
) -> Result<Json<ToolOutcome>, Problem> {
    let space = access.enter(&name, Right::Read)?;
    let as_of = validate::moment("as_of", params.as_of.as_deref())?;
    let labels = labels::of_params(params.tag.as_deref(), params.filter.as_deref())?;
    app.space(&space).await?;
    let outcome = tools::call(&app, &space, (tool, arguments), as_of, labels).await?;
    Ok(Json(outcome))
}
