use std::time::Duration;

use axum::extract::State;
use axum::{Extension, Json};
use domain::id::SpaceId;
use domain::port::Position;

use crate::api::problem::Problem;
use crate::api::{ProblemDocument, Progress, Waiting};
use crate::app::config::Right;
use crate::app::keys::access::Access;
use crate::app::state::App;
use crate::app::watermark;
use crate::http::extract::{PathParameters, QueryParameters};
use crate::use_cases::query;

/// Reports whether a write is searchable; with `wait_ms`, waits for it.
#[utoipa::path(get, path = "/v1/spaces/{space}/progress", tag = "records", params(("space" = SpaceId, Path), Waiting), responses(
    (status = 200, description = "Progress of the write", body = Progress),
    (status = 504, description = "The write did not become searchable within wait_ms", body = ProblemDocument, content_type = "application/problem+json"),
))]
pub(crate) async fn get(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters(name): PathParameters<String>,
    QueryParameters(waiting): QueryParameters<Waiting>,
) -> Result<Json<Progress>, Problem> {
    let space = access.authorize_space(&name, Right::Read)?;
    let info = match app.require_space(&space).await {
        Ok(info) => info,
        Err(unknown) => return progress_of_deleted_space(&app, space).await?.map(Json).ok_or(unknown),
    };
    let requested_position = watermark::position_in_request(&app, &space, waiting.watermark.as_deref()).await?;
    let position = requested_position.unwrap_or(info.written);
    let most = app.config.request_ms_max;
    let patience = waiting.wait_ms.unwrap_or(0);
    if patience > most {
        return Err(Problem::invalid_request(format!("wait_ms: is more than {most}")));
    }
    let written = query::wait_written(&app, &space, position, Duration::from_millis(patience)).await?;
    if !written && waiting.wait_ms.is_some() {
        return Err(query::not_written(&app, &space, position).await?);
    }
    let backlog = app.backlog_of_space(&space).await?;
    let deriving = app.count_deriving_batches(&space).await?;
    Ok(Json(Progress {
        watermark: watermark::from_position(&app, &space, position).await?,
        written,
        backlog,
        deriving,
        erasing: false,
    }))
}

/// Returns the progress of a deleted space if a store still holds some of its data.
async fn progress_of_deleted_space(app: &App, space: SpaceId) -> Result<Option<Progress>, Problem> {
    let unfinished = app.stores().records.unfinished_erasures(Some(&space), 1).await?;
    if unfinished.is_empty() {
        return Ok(None);
    }
    Ok(Some(Progress {
        watermark: watermark::from_position(app, &space, Position(0)).await?,
        written: false,
        backlog: 0,
        deriving: 0,
        erasing: true,
    }))
}
