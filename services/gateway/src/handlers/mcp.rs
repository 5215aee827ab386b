use axum::Extension;
use axum::extract::{Request, State};
use axum::response::Response;
use domain::id::SpaceId;

use crate::auth::Access;
use crate::config::Right;
use crate::edge::TraceId;
use crate::extract::{At, bounded};
use crate::mcp::{self, Memory, told};
use crate::problem::Problem;
use crate::state::App;

/// Speaks the Model Context Protocol (streamable HTTP, without sessions).
///
/// It offers the tools of the catalogue, and `remember`, `ask`, `recall` and `curate`, as far as the rights of the key
/// allow.
#[utoipa::path(post, path = "/v1/spaces/{space}/mcp", tag = "tools",
    request_body(content = Object, description = "A message of the protocol", example = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})),
    params(("space" = SpaceId, Path)), responses(
    (status = 200, description = "The message that answers it; what a tool could not do is told in its result", body = Object),
    (status = 202, description = "A notification was taken"),
    (status = "default", description = "A problem, or an error of the protocol", body = Problem, content_type = "application/problem+json"),
))]
pub(crate) async fn post(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    Extension(TraceId(trace_id)): Extension<TraceId>,
    At(name): At<String>,
    request: Request,
) -> Result<Response, Problem> {
    let request = bounded(request, &app).await?;
    let space = access.enter(&name, Right::Read).map_err(in_terms_of_tools)?;
    app.may_ask(&space).await.map_err(in_terms_of_tools)?;
    let memory = Memory {
        app,
        space,
        access,
        trace_id,
    };
    Ok(mcp::answer(memory, request).await)
}

/// Returns the problem without advice about HTTP requests, because an agent has only tools.
fn in_terms_of_tools(problem: Problem) -> Problem {
    if problem.is_unknown_space() {
        problem.detail(told::NO_SPACE)
    } else {
        problem
    }
}
