use std::time::Duration;

use axum::extract::State;
use axum::{Extension, Json};
use domain::id::SpaceId;
use domain::port::Position;

use crate::api::{Progress, Waiting};
use crate::auth::Access;
use crate::config::Right;
use crate::extract::{At, Params};
use crate::problem::Problem;
use crate::state::App;
use crate::{query, watermark};

/// Reports whether a write is searchable; with `wait_ms`, waits for it.
#[utoipa::path(get, path = "/v1/spaces/{space}/progress", tag = "records", params(("space" = SpaceId, Path), Waiting), responses(
    (status = 200, description = "How far writing is", body = Progress),
    (status = 504, description = "It is not searchable within wait_ms", body = Problem, content_type = "application/problem+json"),
))]
pub(crate) async fn get(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At(name): At<String>,
    Params(waiting): Params<Waiting>,
) -> Result<Json<Progress>, Problem> {
    let space = access.enter(&name, Right::Read)?;
    let info = match app.space(&space).await {
        Ok(info) => info,
        Err(unknown) => return erasing(&app, space).await?.map(Json).ok_or(unknown),
    };
    let given = watermark::given(&app, &space, waiting.watermark.as_deref()).await?;
    let position = given.unwrap_or(info.written);
    let most = app.config.request_ms_max;
    let patience = waiting.wait_ms.unwrap_or(0);
    if patience > most {
        return Err(Problem::invalid(format!("wait_ms: is more than {most}")));
    }
    let written = query::wait_written(&app, &space, position, Duration::from_millis(patience)).await?;
    if !written && waiting.wait_ms.is_some() {
        return Err(query::not_written(&app, &space, position).await?);
    }
    let backlog = app.backlog(&space).await?;
    let deriving = app.deriving(&space).await?;
    Ok(Json(Progress {
        watermark: watermark::print(&app, &space, position).await?,
        written,
        backlog,
        deriving,
        erasing: false,
    }))
}

/// Returns the progress of a deleted space if a store still holds some of its data.
async fn erasing(app: &App, space: SpaceId) -> Result<Option<Progress>, Problem> {
    let unfinished = app.stores().records.unfinished_erasures(Some(&space), 1).await?;
    if unfinished.is_empty() {
        return Ok(None);
    }
    Ok(Some(Progress {
        watermark: watermark::print(app, &space, Position(0)).await?,
        written: false,
        backlog: 0,
        deriving: 0,
        erasing: true,
    }))
}
