use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use domain::id::SpaceId;
use host::metrics::Operation;
use tokio::time::Instant;

use crate::api::Erased;
use crate::auth::Access;
use crate::config::Right;
use crate::extract::At;
use crate::problem::Problem;
use crate::selected;
use crate::state::App;

/// Erases the records and recall history of a session permanently, by your name for it or Mnemic's id.
///
/// Each record is erased as by `DELETE .../records/{id}`. One request erases at most 1000 records, or 4 MiB; `more`
/// says whether to repeat it.
#[utoipa::path(delete, path = "/v1/spaces/{space}/sessions/{id}", tag = "sessions",
    params(("space" = SpaceId, Path), ("id" = String, Path)), responses(
    (status = 202, description = "They will be gone once the watermark is reached", body = Erased),
    (status = 404, description = "There is no record of this session", body = Problem, content_type = "application/problem+json"),
))]
pub(crate) async fn delete(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At((name, session)): At<(String, String)>,
) -> Result<(StatusCode, Json<Erased>), Problem> {
    let started = Instant::now();
    let space = access.enter(&name, Right::Admin)?;
    app.space(&space).await?;
    let outcome = selected::erase(&app, &space, &session, access.name()).await;
    app.context
        .metrics
        .operation(Operation::Delete, outcome.is_ok(), started.elapsed());
    outcome.map(|it| (StatusCode::ACCEPTED, Json(it)))
}
