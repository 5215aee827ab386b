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

/// Creates a space, if there is none of that name. It has no settings: a body that says anything is refused.
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

/// Returns what a space holds.
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

/// Erases a space and everything in it, for good. While a store is away, 202 says that nobody can read the space any more and that
/// the gateway erases what that store holds by itself once it is back.
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
    // In a task of its own: a caller who goes away, or whose time runs out, leaves no space that is half erased.
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

/// What became of a deletion.
struct Deleted {
    /// The receipt; none of a space that was gone before.
    erasure: Option<ErasureId>,
    /// What is left to do, if anything is.
    left: Option<Deleting>,
}

/// Erases a space, as the key `by` asked.
///
/// What waits on the bus goes first, then the records, so that whatever is still on its way finds no space, and then what came
/// meanwhile. Somebody may have created the space again by then, here or at another gateway, and what it holds since stays: of
/// what was accepted before, the writer takes nothing into it. From the deletion of the records on the erasure is noted, and does
/// not depend on this request any more.
async fn erase(app: &App, space: &SpaceId, by: &str) -> Result<Deleted, Problem> {
    let stores = app.stores();
    // Nothing is begun while the records are away: what waits would be gone, and the space still there.
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

/// Erases what other stores than that of the records hold of a deleted space; returns true if its erasure was noted. For an
/// unknown space the index is asked all the same: an earlier version kept no notes.
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
