use axum::extract::State;
use axum::{Extension, Json};
use domain::id::SpaceId;

use crate::api::{QueryRequest, QueryResponse};
use crate::auth::Access;
use crate::config::Right;
use crate::edge::{Patience, TraceId};
use crate::extract::{At, ObjectBody};
use crate::problem::Problem;
use crate::query;
use crate::state::App;

/// Asks a question: evidence inside a budget, a verdict, and an answer if wanted.
#[utoipa::path(post, path = "/v1/spaces/{space}/query", tag = "query", request_body = QueryRequest,
    params(("space" = SpaceId, Path)), responses(
    (status = 200, description = "Evidence, verdict and cost", body = QueryResponse),
    (status = 504, description = "The budget of time ran out", body = Problem, content_type = "application/problem+json"),
))]
pub(crate) async fn post(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    Extension(TraceId(trace_id)): Extension<TraceId>,
    Extension(patience): Extension<Patience>,
    At(name): At<String>,
    ObjectBody(request): ObjectBody<QueryRequest>,
) -> Result<Json<QueryResponse>, Problem> {
    let space = access.enter(&name, Right::Read)?;
    patience.extend(app.question_ms_max(&request.budget));
    query::ask(&app, access.name(), &space, request, trace_id)
        .await
        .map(Json)
}
