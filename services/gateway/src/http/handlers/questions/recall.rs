use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use domain::id::SpaceId;

use crate::api::problem::Problem;
use crate::api::{Dismissal, ProblemDocument, RecallRequest, RecallResponse};
use crate::app::config::Right;
use crate::app::keys::access::Access;
use crate::app::request_time_limit::Patience;
use crate::app::state::App;
use crate::http::edge::TraceId;
use crate::http::extract::{ObjectBody, PathParameters};
use crate::use_cases::recall;

/// Returns hints from the memory that are relevant to a message.
///
/// Most messages have no hints, and the response gives the reason. Recall does not repeat a hint in the same session.
#[utoipa::path(post, path = "/v1/spaces/{space}/recall", tag = "recall",
    request_body(content = RecallRequest, example = json!({"message": "Dinner at the new steak house on Friday?", "actor": "Ann", "session": "2026-05-07"})),
    params(("space" = SpaceId, Path)), responses(
    (status = 200, description = "Hints, or the reason why there are none", body = RecallResponse),
    (status = 504, description = "The time limit was reached", body = ProblemDocument, content_type = "application/problem+json"),
))]
pub(crate) async fn post(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    Extension(TraceId(trace_id)): Extension<TraceId>,
    Extension(patience): Extension<Patience>,
    PathParameters(name): PathParameters<String>,
    ObjectBody(request): ObjectBody<RecallRequest>,
) -> Result<Json<RecallResponse>, Problem> {
    let space = access.authorize_space(&name, Right::Read)?;
    patience.extend_limit(app.question_ms_max(request.budget.model_calls));
    let context = recall::RecallContext {
        request,
        by: access.name().to_owned(),
        trace_id,
    };
    recall::recall_hints(&app, &space, context).await.map(Json)
}

/// Dismisses hints. Recall does not give them again in any session of the space.
#[utoipa::path(post, path = "/v1/spaces/{space}/recall/dismiss", tag = "recall",
    request_body(content = Dismissal, example = json!({"session": "2026-05-07", "hints": ["8d0f2c6e-1a3b-5c4d-9e8f-7a6b5c4d3e2f"]})),
    params(("space" = SpaceId, Path)), responses(
    (status = 204, description = "The hints are dismissed"),
))]
pub(crate) async fn dismiss(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters(name): PathParameters<String>,
    ObjectBody(request): ObjectBody<Dismissal>,
) -> Result<StatusCode, Problem> {
    let space = access.authorize_space(&name, Right::Write)?;
    app.require_space(&space).await?;
    recall::dismiss_hints(&app, &space, &request).await?;
    Ok(StatusCode::NO_CONTENT)
}
