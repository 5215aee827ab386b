use axum::extract::State;
use axum::{Extension, Json};
use domain::id::SpaceId;
use serde_json::Value;

use crate::api::problem::Problem;
use crate::api::{ToolList, ToolOutcome, ToolScope};
use crate::app::config::Right;
use crate::app::keys::access::Access;
use crate::app::state::App;
use crate::http::extract::{Body, PathParameters, QueryParameters};
use crate::use_cases::validate::label_filter;
use crate::use_cases::{tools, validate};

/// Lists the tools, as described to a model. They are the same in every space.
#[utoipa::path(get, path = "/v1/tools", tag = "tools", responses(
    (status = 200, description = "The tools, with the JSON schemas of their arguments", body = ToolList),
))]
pub(crate) async fn all(
    State(app): State<App>,
    Extension(access): Extension<Access>,
) -> Result<Json<ToolList>, Problem> {
    access.require_right(Right::Read)?;
    let tools = tools::list_tools(&app).await?;
    Ok(Json(ToolList { tools }))
}

/// Lists the tools of a space that exists.
#[utoipa::path(get, path = "/v1/spaces/{space}/tools", tag = "tools", params(("space" = SpaceId, Path)), responses(
    (status = 200, description = "The tools, with the JSON schemas of their arguments", body = ToolList),
))]
pub(crate) async fn list(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters(name): PathParameters<String>,
) -> Result<Json<ToolList>, Problem> {
    let space = access.authorize_space(&name, Right::Read)?;
    app.require_space(&space).await?;
    let tools = tools::list_tools(&app).await?;
    Ok(Json(ToolList { tools }))
}

/// Calls a tool. An invalid call returns a result with `error`, which tells the model how to correct it.
#[utoipa::path(post, path = "/v1/spaces/{space}/tools/{name}", tag = "tools",
    request_body(content = Object, description = "The arguments, as the schema of the tool describes them", example = json!({"query": "the harbour", "limit": 5})),
    params(("space" = SpaceId, Path), ("name" = String, Path), ToolScope), responses(
    (status = 200, description = "A result, or an error for the model to read", body = ToolOutcome),
))]
pub(crate) async fn call(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters((name, tool)): PathParameters<(String, String)>,
    QueryParameters(params): QueryParameters<ToolScope>,
    Body(arguments): Body<Value>,
) -> Result<Json<ToolOutcome>, Problem> {
    let space = access.authorize_space(&name, Right::Read)?;
    let as_of = validate::parse_time_field("as_of", params.as_of.as_deref())?;
    let labels = label_filter::of_params(params.tag.as_deref(), params.filter.as_deref())?;
    app.require_space(&space).await?;
    let outcome = tools::call_tool(&app, access.name(), &space, tool, arguments, as_of, labels).await?;
    Ok(Json(outcome))
}
