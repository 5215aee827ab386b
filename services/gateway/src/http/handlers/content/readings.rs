use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use domain::id::{ReadingId, SpaceId};

use crate::api::problem::Problem;
use crate::api::{
    self, Backfill, BackfillReport, NewReadings, ProblemDocument, ReadingFilter, ReadingList, StoredReadings,
};
use crate::app::config::Right;
use crate::app::keys::access::Access;
use crate::app::state::App;
use crate::http::extract::{ObjectBody, PathParameters, QueryParameters};
use crate::use_cases::readings;

/// Lists readings: replies of a language model about passages of sessions, their results and their cost.
#[utoipa::path(get, path = "/v1/spaces/{space}/readings", tag = "readings", params(("space" = SpaceId, Path), ReadingFilter), responses(
    (status = 200, description = "A page of readings", body = ReadingList),
))]
pub(crate) async fn list(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters(name): PathParameters<String>,
    QueryParameters(filter): QueryParameters<ReadingFilter>,
) -> Result<Json<ReadingList>, Problem> {
    let space = access.authorize_space(&name, Right::Read)?;
    app.require_space(&space).await?;
    readings::list_readings(&app, &space, &filter).await.map(Json)
}

/// Returns one reading with the reply of the model.
#[utoipa::path(get, path = "/v1/spaces/{space}/readings/{id}", tag = "readings",
    params(("space" = SpaceId, Path), ("id" = ReadingId, Path)), responses(
    (status = 200, description = "The reading", body = api::Reading),
))]
pub(crate) async fn get(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters((name, id)): PathParameters<(String, String)>,
) -> Result<Json<api::Reading>, Problem> {
    let space = access.authorize_space(&name, Right::Read)?;
    app.require_space(&space).await?;
    readings::find_reading(&app, &space, &id).await.map(Json)
}

/// Queues sessions with records that no language model has read. A writer with a language model then reads them.
#[utoipa::path(post, path = "/v1/spaces/{space}/readings", tag = "readings", request_body = Backfill,
    params(("space" = SpaceId, Path)), responses(
    (status = 200, description = "The records that would be read; this was a dry run", body = BackfillReport),
    (status = 202, description = "The records that will be read", body = BackfillReport),
    (status = 404, description = "The session has no records", body = ProblemDocument, content_type = "application/problem+json"),
))]
pub(crate) async fn post(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters(name): PathParameters<String>,
    ObjectBody(order): ObjectBody<Backfill>,
) -> Result<(StatusCode, Json<BackfillReport>), Problem> {
    let space = access.authorize_space(&name, Right::Admin)?;
    app.require_space(&space).await?;
    let report = readings::backfill_readings(&app, &space, &order).await?;
    let status = match order.dry_run {
        true => StatusCode::OK,
        false => StatusCode::ACCEPTED,
    };
    Ok((status, Json(report)))
}

/// Stores readings that were made in another space, so that a model does not have to read the same records again.
#[utoipa::path(put, path = "/v1/spaces/{space}/readings", tag = "readings", request_body = NewReadings,
    params(("space" = SpaceId, Path)), responses(
    (status = 200, description = "Each reading was stored, or left out because a record is missing", body = StoredReadings),
    (status = 422, description = "A reading is invalid; none was stored", body = ProblemDocument, content_type = "application/problem+json"),
))]
pub(crate) async fn put(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters(name): PathParameters<String>,
    ObjectBody(new): ObjectBody<NewReadings>,
) -> Result<Json<StoredReadings>, Problem> {
    let space = access.authorize_space(&name, Right::Write)?;
    app.require_space(&space).await?;
    readings::store_readings(&app, &space, new).await.map(Json)
}
