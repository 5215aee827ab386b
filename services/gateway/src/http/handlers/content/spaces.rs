use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use domain::PortError;
use domain::id::{ErasureId, SpaceId};
use domain::port::SpaceInfo;
use host::clock;
use host::metrics::Operation;
use tokio::time::{Instant, timeout};
use tracing::{Instrument, warn};

use crate::api::problem::Problem;
use crate::api::{Deleting, Paged, Paging, Space, SpacePage};
use crate::app::config::Right;
use crate::app::cursor::Cursors;
use crate::app::keys::access::Access;
use crate::app::opened_spaces;
use crate::app::seal::Sealer;
use crate::app::state::App;
use crate::http::extract::{NoBody, PathParameters, QueryParameters};
use crate::use_cases::administration::erasures;

/// Creates a space if the name is free. A space has no settings, so a body other than an empty object is refused.
#[utoipa::path(put, path = "/v1/spaces/{space}", tag = "spaces", params(("space" = SpaceId, Path)), responses(
    (status = 201, description = "The space was created", body = Space),
    (status = 200, description = "The space already existed", body = Space),
))]
pub(crate) async fn put(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters(name): PathParameters<String>,
    _: NoBody,
) -> Result<(StatusCode, Json<Space>), Problem> {
    let space: SpaceId = name
        .parse()
        .map_err(|error: domain::id::InvalidSpace| Problem::invalid_request(error.to_string()))?;
    if !access.opens_space(space.as_str()) {
        return Err(Problem::missing_right(Right::Write).with_detail("the key does not open a space with this name"));
    }
    access.require_right(Right::Write)?;
    let created = app.stores().records.create_space(&space, clock::now()).await?;
    let info = app.require_space(&space).await?;
    let status = if created { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(to_api_space(app.sealer().await?, info)?)))
}

/// Returns the size of a space.
#[utoipa::path(get, path = "/v1/spaces/{space}", tag = "spaces", params(("space" = SpaceId, Path)), responses(
    (status = 200, description = "The space", body = Space),
))]
pub(crate) async fn get(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters(name): PathParameters<String>,
) -> Result<Json<Space>, Problem> {
    let space = access.authorize_space(&name, Right::Read)?;
    let info = app.require_space(&space).await?;
    Ok(Json(to_api_space(app.sealer().await?, info)?))
}

/// Erases a space and everything in it permanently.
///
/// If a store is not available or the erasure takes long, the response is 202: the space can no longer be read, and
/// the gateway erases the remaining data.
#[utoipa::path(delete, path = "/v1/spaces/{space}", tag = "spaces", params(("space" = SpaceId, Path)), responses(
    (status = 204, description = "The space is erased from every store", headers(("location" = String, description = "The receipt"))),
    (status = 202, description = "The space is deleted, but a store has not erased its data yet", body = Deleting, headers(("location" = String, description = "The receipt"))),
))]
pub(crate) async fn delete(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters(name): PathParameters<String>,
) -> Result<Response, Problem> {
    let started = Instant::now();
    let space = access.authorize_space(&name, Right::Admin)?;
    let Ok(turn) = Arc::clone(&app.erasing).acquire_owned().await else {
        return Err(Problem::unavailable());
    };
    let (eraser, erased) = (app.clone(), space.clone());
    let work = async move {
        let outcome = erase_space(&eraser, &erased, access.name()).await;
        eraser
            .context
            .metrics
            .observe_operation(Operation::Delete, outcome.is_ok(), started.elapsed());
        drop(turn);
        outcome
    };
    // A separate task, so that a caller that disconnects or a request that times out leaves no half-erased space.
    let mut task = tokio::spawn(work.in_current_span());
    let outcome = match timeout(Duration::from_millis(app.config.request_ms_max) / 2, &mut task).await {
        Ok(outcome) => outcome,
        Err(_) => match find_unfinished_deletion(&app, &space).await {
            Some(deleted) => Ok(Ok(deleted)),
            None => task.await,
        },
    };
    let erasure_outcome = outcome.unwrap_or_else(|_| Err(Problem::internal_error()))?;
    let receipt = |id: ErasureId| [(header::LOCATION, format!("/v1/spaces/{name}/erasures/{id}"))];
    let location = erasure_outcome.erasure.map(receipt);
    Ok(match erasure_outcome.left {
        None => (StatusCode::NO_CONTENT, location, ()).into_response(),
        Some(deleting) => (StatusCode::ACCEPTED, location, Json(deleting)).into_response(),
    })
}

/// Lists the spaces that the key opens.
#[utoipa::path(get, path = "/v1/spaces", tag = "spaces", params(Paging), responses(
    (status = 200, description = "A page of spaces", body = SpacePage),
))]
pub(crate) async fn list(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    QueryParameters(paging): QueryParameters<Paging>,
) -> Result<Json<SpacePage>, Problem> {
    access.require_right(Right::Read)?;
    let limit = paging.page_limit()?;
    let cursors = Cursors::for_list(&app, "spaces", &access.space_patterns().join(","), &paging).await?;
    let after: Option<SpaceId> = cursors.start_position(&paging)?;
    let found = opened_spaces::spaces_under(&app, &access, "", after.as_ref(), limit).await?;
    let next = cursors.next_cursor(&found, limit, |it| it.space.clone())?;
    let sealer = app.sealer().await?;
    let items: Result<Vec<Space>, Problem> = found.into_iter().map(|it| to_api_space(sealer, it)).collect();
    Ok(Json(SpacePage { items: items?, next }))
}

/// Result of a deletion.
struct Deleted {
    /// The receipt; `None` if the space did not exist.
    erasure: Option<ErasureId>,
    /// The remaining work, if any.
    left: Option<Deleting>,
}

impl Deleted {
    /// Returns the deletion of a space that is not erased in every store yet.
    fn unfinished(space: &SpaceId, erasure: Option<ErasureId>) -> Deleted {
        let left = Deleting {
            space: space.clone(),
            detail: "the space can no longer be read; the gateway erases its remaining data without another \
                     request (until then, GET .../progress reports `erasing`)"
                .to_owned(),
            erasure,
        };
        Deleted {
            erasure,
            left: Some(left),
        }
    }
}

/// Returns the deletion of a space that is hidden and not erased in every store yet, if there is one.
async fn find_unfinished_deletion(app: &App, space: &SpaceId) -> Option<Deleted> {
    let records = &app.stores().records;
    let noted = records.unfinished_erasures(Some(space), 1).await.ok()?.pop()?;
    let is_hidden = records.space(space).await.ok()?.is_none();
    let erasure = ErasureId::of_space(space, &noted.created_at.to_rfc3339());
    is_hidden.then(|| Deleted::unfinished(space, Some(erasure)))
}

/// Erases a space on the request of the key `by`.
///
/// The order is: messages that wait on the bus, then the records, so that messages in flight find no space, then
/// everything written meanwhile. By then another caller may have created the space again, here or at another gateway.
/// The contents of the new space stay, and the writer adds no records to it that were accepted before. Once the records
/// are deleted, the erasure is noted and no longer depends on this request.
async fn erase_space(app: &App, space: &SpaceId, by: &str) -> Result<Deleted, Problem> {
    let stores = app.stores();
    // Nothing starts while the record store is not available: otherwise the queue would be empty and the space would
    // still exist.
    let erasure = match stores.records.space(space).await? {
        Some(info) => Some(erasures::keep_receipt(app, &info, by).await?),
        None => None,
    };
    stores.bus.erase(space.as_str()).await?;
    let known = delete_from_records(app, space).await?;
    match erase_rest_of_space(app, space).await {
        Ok(noted) if noted || known => Ok(Deleted { erasure, left: None }),
        Ok(_) => Err(Problem::unknown_space(space)),
        Err(error) if known || is_noted(app, space).await => {
            warn!(%space, error = &error as &dyn std::error::Error, "a deleted space is not erased in every store yet");
            app.unfinished.notify_one();
            Ok(Deleted::unfinished(space, erasure))
        }
        Err(error) => Err(error.into()),
    }
}

/// Deletes a space from the record store; returns false if it is unknown. The store may fail, for example because the
/// disk is full, after it noted the deletion and hid the space. The gateway then continues the erasure from the note.
async fn delete_from_records(app: &App, space: &SpaceId) -> Result<bool, PortError> {
    match app.stores().records.delete_space(space).await {
        Err(error) if find_unfinished_deletion(app, space).await.is_some() => {
            warn!(%space, error = &error as &dyn std::error::Error, "records of a deleted space are not erased yet");
            Ok(true)
        }
        outcome => outcome,
    }
}

/// Erases the contents of a deleted space in all stores except the record store; returns true if its erasure was noted.
/// For an unknown space the index is still searched, because an earlier version kept no notes.
async fn erase_rest_of_space(app: &App, space: &SpaceId) -> Result<bool, PortError> {
    let stores = app.stores();
    let is_erased = stores.records.space(space).await?.is_none();
    if is_erased {
        stores.bus.erase(space.as_str()).await?;
    }
    let noted = erasures::finish_erasure_of_space(&app.context, space).await?;
    if is_erased && !noted && stores.records.space(space).await?.is_none() {
        stores.index.erase(space).await?;
    }
    Ok(noted)
}

async fn is_noted(app: &App, space: &SpaceId) -> bool {
    let noted = app.stores().records.unfinished_erasures(Some(space), 1).await;
    noted.is_ok_and(|it| !it.is_empty())
}

fn to_api_space(sealer: &Sealer, info: SpaceInfo) -> Result<Space, Problem> {
    let watermark = sealer.seal_watermark(&info.space, info.written)?;
    Ok(Space {
        space: info.space,
        created_at: info.created_at,
        records: info.records,
        units: info.units,
        watermark,
    })
}
