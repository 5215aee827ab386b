use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use domain::id::SpaceId;
use host::metrics::Operation;
use tokio::time::Instant;

use crate::api::problem::Problem;
use crate::api::{Erased, ProblemDocument};
use crate::app::config::Right;
use crate::app::keys::access::Access;
use crate::app::state::App;
use crate::http::extract::PathParameters;
use crate::use_cases::write::session_erasure;

/// Erases the records and recall history of a session permanently, by your name for it or Mnemic's id.
///
/// Each record is erased as by `DELETE .../records/{id}`. One request erases at most 1000 records, or 4 MiB; `more`
/// says whether to repeat it.
#[utoipa::path(delete, path = "/v1/spaces/{space}/sessions/{id}", tag = "sessions",
    params(("space" = SpaceId, Path), ("id" = String, Path)), responses(
    (status = 202, description = "The records are erased once the watermark is reached", body = Erased),
    (status = 404, description = "The session has no records", body = ProblemDocument, content_type = "application/problem+json"),
))]
pub(crate) async fn delete(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters((name, session)): PathParameters<(String, String)>,
) -> Result<(StatusCode, Json<Erased>), Problem> {
    let started = Instant::now();
    let space = access.authorize_space(&name, Right::Admin)?;
    app.require_space(&space).await?;
    let outcome = session_erasure::erase_session(&app, &space, &session, access.name()).await;
    app.context
        .metrics
        .observe_operation(Operation::Delete, outcome.is_ok(), started.elapsed());
    outcome.map(|it| (StatusCode::ACCEPTED, Json(it)))
}
