use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use domain::id::{ReadingId, SpaceId};

use crate::api::{self, Backfill, BackfillReport, NewReadings, ReadingFilter, ReadingList, StoredReadings};
use crate::auth::Access;
use crate::config::Right;
use crate::extract::{At, ObjectBody, Params};
use crate::problem::Problem;
use crate::readings;
use crate::state::App;

/// Lists readings: replies of a language model about passages of sessions, their results and their cost.
#[utoipa::path(get, path = "/v1/spaces/{space}/readings", tag = "readings", params(("space" = SpaceId, Path), ReadingFilter), responses(
    (status = 200, description = "A page of readings", body = ReadingList),
))]
pub(crate) async fn list(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At(name): At<String>,
    Params(filter): Params<ReadingFilter>,
) -> Result<Json<ReadingList>, Problem> {
    let space = access.enter(&name, Right::Read)?;
    app.space(&space).await?;
    readings::list(&app, &space, &filter).await.map(Json)
}

/// Returns one reading with the reply of the model.
#[utoipa::path(get, path = "/v1/spaces/{space}/readings/{id}", tag = "readings",
    params(("space" = SpaceId, Path), ("id" = ReadingId, Path)), responses(
    (status = 200, description = "The reading", body = api::Reading),
))]
pub(crate) async fn get(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At((name, id)): At<(String, String)>,
) -> Result<Json<api::Reading>, Problem> {
    let space = access.enter(&name, Right::Read)?;
    app.space(&space).await?;
    readings::find(&app, &space, &id).await.map(Json)
}

/// Queues sessions with records that no language model has read. A writer with a language model then reads them.
#[utoipa::path(post, path = "/v1/spaces/{space}/readings", tag = "readings", request_body = Backfill,
    params(("space" = SpaceId, Path)), responses(
    (status = 200, description = "What would be read; it was a dry run", body = BackfillReport),
    (status = 202, description = "What is going to be read", body = BackfillReport),
    (status = 404, description = "There is no record of the session", body = Problem, content_type = "application/problem+json"),
))]
pub(crate) async fn post(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At(name): At<String>,
    ObjectBody(order): ObjectBody<Backfill>,
) -> Result<(StatusCode, Json<BackfillReport>), Problem> {
    let space = access.enter(&name, Right::Admin)?;
    app.space(&space).await?;
    let report = readings::backfill(&app, &space, &order).await?;
    let status = match order.dry_run {
        true => StatusCode::OK,
        false => StatusCode::ACCEPTED,
    };
    Ok((status, Json(report)))
}

/// Stores readings that were made in another space, so that a model does not have to read the same records again.
#[utoipa::path(put, path = "/v1/spaces/{space}/readings", tag = "readings", request_body = NewReadings,
    params(("space" = SpaceId, Path)), responses(
    (status = 200, description = "Each reading was stored, or left out since a record is missing", body = StoredReadings),
    (status = 422, description = "A reading cannot be used; none was stored", body = Problem, content_type = "application/problem+json"),
))]
pub(crate) async fn put(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At(name): At<String>,
    ObjectBody(new): ObjectBody<NewReadings>,
) -> Result<Json<StoredReadings>, Problem> {
    let space = access.enter(&name, Right::Write)?;
    app.space(&space).await?;
    readings::store(&app, &space, new).await.map(Json)
}
