use axum::Extension;
use axum::extract::{Request, State};
use axum::response::Response;
use domain::id::SpaceId;

use crate::api::ProblemDocument;
use crate::api::problem::Problem;
use crate::app::config::Right;
use crate::app::keys::access::Access;
use crate::app::request_time_limit::Patience;
use crate::app::state::App;
use crate::http::edge::TraceId;
use crate::http::extract::{PathParameters, check_json_headers, read_bounded_body};
use crate::mcp::{self, Memory, result_text};

/// Speaks the Model Context Protocol (streamable HTTP, without sessions).
///
/// It offers the tools of the catalogue, and `remember`, `ask`, `recall` and `curate`, as far as the rights of the key
/// allow.
#[utoipa::path(post, path = "/v1/spaces/{space}/mcp", tag = "tools",
    request_body(content = Object, description = "A message of the protocol", example = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})),
    params(("space" = SpaceId, Path)), responses(
    (status = 200, description = "The reply to the message; the result of a tool reports its errors", body = Object),
    (status = 202, description = "The notification was accepted"),
    (status = "default", description = "A problem, or an error of the protocol", body = ProblemDocument, content_type = "application/problem+json"),
))]
pub(crate) async fn post(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    Extension(TraceId(trace_id)): Extension<TraceId>,
    Extension(patience): Extension<Patience>,
    PathParameters(name): PathParameters<String>,
    request: Request,
) -> Result<Response, Problem> {
    let request = read_bounded_body(request, &app).await?;
    let space = access.authorize_space(&name, Right::Read).map_err(in_terms_of_tools)?;
    app.may_ask(&space).await.map_err(in_terms_of_tools)?;
    let memory = Memory {
        app,
        space,
        access,
        trace_id,
        patience: Some(patience),
    };
    let is_json = check_json_headers(request.headers()).is_ok();
    Ok(mcp::answer_request(memory, request, is_json).await)
}

/// Returns the problem without advice about HTTP requests, because an agent has only tools.
fn in_terms_of_tools(problem: Problem) -> Problem {
    if problem.is_unknown_space() {
        problem.with_detail(result_text::NO_SPACE)
    } else {
        problem
    }
}
