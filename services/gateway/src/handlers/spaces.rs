use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use domain::id::SpaceId;
use domain::port::SpaceInfo;
use host::clock;
use host::metrics::Operation;
use tokio::time::Instant;
use tracing::{Instrument, warn};

use crate::api::{Paging, Space, SpacePage};
use crate::auth::Access;
use crate::config::Right;
use crate::cursor::Paged;
use crate::extract::{At, NoBody, Params};
use crate::problem::Problem;
use crate::state::App;
use crate::{cursor, watermark};

/// Pages of the store looked through for one page of a key that opens few spaces.
const LOOKS_MAX: usize = 100;

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
    Ok((status, Json(show(info))))
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
    Ok(Json(show(app.space(&space).await?)))
}

/// Erases a space and everything in it, for good.
#[utoipa::path(delete, path = "/v1/spaces/{space}", tag = "spaces", params(("space" = SpaceId, Path)), responses(
    (status = 204, description = "It is gone"),
))]
pub(crate) async fn delete(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At(name): At<String>,
) -> Result<StatusCode, Problem> {
    let started = Instant::now();
    let space = access.enter(&name, Right::Admin)?;
    let Ok(turn) = Arc::clone(&app.erasing).acquire_owned().await else {
        return Err(Problem::unavailable());
    };
    let work = async move {
        let outcome = erase(&app, &space).await;
        app.context
            .metrics
            .operation(Operation::Delete, outcome.is_ok(), started.elapsed());
        drop(turn);
        outcome
    };
    // In a task of its own: a caller who goes away, or whose time runs out, leaves no space that is half erased.
    let outcome = tokio::spawn(work.in_current_span()).await;
    outcome
        .unwrap_or_else(|_| Err(Problem::internal()))
        .map(|()| StatusCode::NO_CONTENT)
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
    let mut last: Option<SpaceId> = paging.start()?;
    let mut items = Vec::new();
    let mut looks = 0;
    loop {
        let page = app.stores().records.spaces(last.as_ref(), limit).await?;
        let ended = page.len() < limit;
        looks += 1;
        for info in page {
            last = Some(info.space.clone());
            if access.opens(info.space.as_str()) {
                items.push(show(info));
            }
            if items.len() == limit {
                let next = cursor::next(&items, limit, |it| it.space.clone());
                return Ok(Json(SpacePage { items, next }));
            }
        }
        if ended || looks == LOOKS_MAX {
            let next = last.filter(|_| !ended).map(|it| it.to_string());
            return Ok(Json(SpacePage { items, next }));
        }
    }
}

/// What waits goes first, then the records, so that whatever is still on its way finds no space, and then what came
/// meanwhile. Somebody may have made the space anew by then, here or at another gateway, and what it holds since stays: of
/// what was accepted before, the writer takes nothing into it. All are tried also for an unknown space, because an erasure
/// that broke off is asked for again.
async fn erase(app: &App, space: &SpaceId) -> Result<(), Problem> {
    let stores = app.stores();
    // Nothing is begun while the records are away: what waits would be gone, and the space still there.
    stores.records.space(space).await?;
    stores.bus.erase(space.as_str()).await?;
    let known = stores.records.delete_space(space).await?;
    if stores.records.space(space).await?.is_none() {
        stores.bus.erase(space.as_str()).await?;
    }
    if stores.records.space(space).await?.is_none() {
        stores.index.erase(space).await?;
    } else {
        warn!(%space, "made anew while it was erased; `mnemic doctor --repair` removes vectors that may be left of before");
    }
    if known {
        Ok(())
    } else {
        Err(Problem::unknown_space(space))
    }
}

fn show(info: SpaceInfo) -> Space {
    let watermark = watermark::print(&info.space, info.written);
    Space {
        space: info.space,
        created_at: info.created_at,
        records: info.records,
        units: info.units,
        watermark,
    }
}
