use std::sync::Arc;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use domain::PortError;
use domain::id::{ErasureId, SpaceId};
use domain::port::SpaceInfo;
use host::clock;
use host::metrics::Operation;
use tokio::time::Instant;
use tracing::{Instrument, warn};

use crate::api::{Deleting, Paging, Space, SpacePage};
use crate::auth::Access;
use crate::config::Right;
use crate::cursor::{Cursors, Paged};
use crate::extract::{At, NoBody, Params};
use crate::problem::Problem;
use crate::seal::Sealer;
use crate::state::App;
use crate::{erasures, opened};

/// Creates a space if the name is free. A space has no settings, so a body other than an empty object is refused.
#[utoipa::path(put, path = "/v1/spaces/{space}", tag = "spaces", params(("space" = SpaceId, Path)), responses(
    (status = 201, description = "It was created", body = Space),
    (status = 200, description = "It was there", body = Space),
))]
pub(crate) async fn put(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At(name): At<String>,
    _: NoBody,
) -> Result<(StatusCode, Json<Space>), Problem> {
    let space: SpaceId = name
        .parse()
        .map_err(|error: domain::id::InvalidSpace| Problem::invalid(error.to_string()))?;
    if !access.opens(space.as_str()) {
        return Err(Problem::forbidden(Right::Write).detail("the key does not open spaces of this name"));
    }
    access.demand(Right::Write)?;
    let created = app.stores().records.create_space(&space, clock::now()).await?;
    let info = app.space(&space).await?;
    let status = if created { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(show(app.sealer().await?, info)?)))
}

/// Returns the size of a space.
#[utoipa::path(get, path = "/v1/spaces/{space}", tag = "spaces", params(("space" = SpaceId, Path)), responses(
    (status = 200, description = "The space", body = Space),
))]
pub(crate) async fn get(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At(name): At<String>,
) -> Result<Json<Space>, Problem> {
    let space = access.enter(&name, Right::Read)?;
    let info = app.space(&space).await?;
    Ok(Json(show(app.sealer().await?, info)?))
}

/// Erases a space and everything in it permanently.
///
/// If a store is not available, the response is 202: nobody can read the space any more, and the gateway erases the
/// data in that store once it is available.
#[utoipa::path(delete, path = "/v1/spaces/{space}", tag = "spaces", params(("space" = SpaceId, Path)), responses(
    (status = 204, description = "It is gone from every store", headers(("location" = String, description = "The receipt"))),
    (status = 202, description = "It is deleted, and one store is still to erase what it holds", body = Deleting, headers(("location" = String, description = "The receipt"))),
))]
pub(crate) async fn delete(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At(name): At<String>,
) -> Result<Response, Problem> {
    let started = Instant::now();
    let space = access.enter(&name, Right::Admin)?;
    let Ok(turn) = Arc::clone(&app.erasing).acquire_owned().await else {
        return Err(Problem::unavailable());
    };
    let work = async move {
        let outcome = erase(&app, &space, access.name()).await;
        app.context
            .metrics
            .operation(Operation::Delete, outcome.is_ok(), started.elapsed());
        drop(turn);
        outcome
    };
    // A task of its own, so that a caller that disconnects or a request that times out leaves no half-erased space.
    let outcome = tokio::spawn(work.in_current_span()).await;
    let whole = outcome.unwrap_or_else(|_| Err(Problem::internal()))?;
    let receipt = |id: ErasureId| [(header::LOCATION, format!("/v1/spaces/{name}/erasures/{id}"))];
    let location = whole.erasure.map(receipt);
    Ok(match whole.left {
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
    Params(paging): Params<Paging>,
) -> Result<Json<SpacePage>, Problem> {
    access.demand(Right::Read)?;
    let limit = paging.limit()?;
    let cursors = Cursors::of(&app, "spaces", &access.patterns().join(","), &paging).await?;
    let after: Option<SpaceId> = cursors.start(&paging)?;
    let found = opened::spaces(&app, &access, after.as_ref(), limit).await?;
    let next = cursors.next(&found, limit, |it| it.space.clone())?;
    let sealer = app.sealer().await?;
    let items: Result<Vec<Space>, Problem> = found.into_iter().map(|it| show(sealer, it)).collect();
    Ok(Json(SpacePage { items: items?, next }))
}

/// Result of a deletion.
struct Deleted {
    /// The receipt; `None` if the space did not exist.
    erasure: Option<ErasureId>,
    /// The remaining work, if any.
    left: Option<Deleting>,
}

/// Erases a space on the request of the key `by`.
///
/// The order is: messages that wait on the bus, then the records, so that messages in flight find no space, then
/// everything written meanwhile. By then another caller may have created the space again, here or at another gateway.
/// The contents of the new space stay, and the writer adds no records to it that were accepted before. Once the records
/// are deleted, the erasure is noted and no longer depends on this request.
async fn erase(app: &App, space: &SpaceId, by: &str) -> Result<Deleted, Problem> {
    let stores = app.stores();
    // Nothing starts while the record store is not available: otherwise the queue would be empty and the space still
    // exist.
    let erasure = match stores.records.space(space).await? {
        Some(info) => Some(erasures::keep_receipt(app, &info, by).await?),
        None => None,
    };
    stores.bus.erase(space.as_str()).await?;
    let known = stores.records.delete_space(space).await?;
    match finished(app, space).await {
        Ok(noted) if noted || known => Ok(Deleted { erasure, left: None }),
        Ok(_) => Err(Problem::unknown_space(space)),
        Err(error) if known || is_noted(app, space).await => {
            warn!(%space, error = &error as &dyn std::error::Error, "a deleted space is not erased in every store yet");
            app.unfinished.notify_one();
            let left = Deleting {
                space: space.clone(),
                detail: "nobody can read the space any more; what a store that is away holds of it is erased once the store is \
                         back, without another request (GET .../progress says `erasing` until then)"
                    .to_owned(),
                erasure,
            };
            Ok(Deleted {
                erasure,
                left: Some(left),
            })
        }
        Err(error) => Err(error.into()),
    }
}

/// Erases the contents of a deleted space in all stores except the record store; returns true if its erasure was noted.
/// For an unknown space the index is still searched, because an earlier version kept no notes.
async fn finished(app: &App, space: &SpaceId) -> Result<bool, PortError> {
    let stores = app.stores();
    let gone = stores.records.space(space).await?.is_none();
    if gone {
        stores.bus.erase(space.as_str()).await?;
    }
    let noted = erasures::finish_one(&app.context, space).await?;
    if gone && !noted && stores.records.space(space).await?.is_none() {
        stores.index.erase(space).await?;
    }
    Ok(noted)
}

async fn is_noted(app: &App, space: &SpaceId) -> bool {
    let noted = app.stores().records.unfinished_erasures(Some(space), 1).await;
    noted.is_ok_and(|it| !it.is_empty())
}

fn show(sealer: &Sealer, info: SpaceInfo) -> Result<Space, Problem> {
    let watermark = sealer.watermark(&info.space, info.written)?;
    Ok(Space {
        space: info.space,
        created_at: info.created_at,
        records: info.records,
        units: info.units,
        watermark,
    })
}
