use axum::extract::State;
use axum::{Extension, Json};
use domain::entity::Entity;
use domain::fact::Fact;
use domain::id::{EntityId, FactId, SpaceId, UnitId};
use domain::unit::{Status, Unit};
use uuid::Uuid;

use crate::api::{EntityPage, FactPage, Paging, UnitPage};
use crate::auth::Access;
use crate::config::Right;
use crate::cursor;
use crate::extract::{At, Params};
use crate::problem::Problem;
use crate::state::App;

/// Lists the units in use, in the order of their latest changes.
#[utoipa::path(get, path = "/v1/spaces/{space}/units", tag = "memory", params(("space" = SpaceId, Path), Paging), responses(
    (status = 200, description = "A page of units", body = UnitPage),
    (status = "default", description = "A problem", body = Problem, content_type = "application/problem+json"),
))]
pub(crate) async fn units(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At(name): At<String>,
    Params(paging): Params<Paging>,
) -> Result<Json<UnitPage>, Problem> {
    let space = access.enter(&name, Right::Read)?;
    app.space(&space).await?;
    let limit = paging.limit()?;
    let changes = app
        .stores()
        .graph
        .changes(&space, paging.start()?.unwrap_or(0), limit)
        .await?;
    let next = cursor::next(&changes, limit, |it| it.sequence);
    let items = changes
        .into_iter()
        .map(|it| it.unit)
        .filter(|it| in_use(it.status))
        .collect();
    Ok(Json(UnitPage { items, next }))
}

/// Returns one unit, whatever became of it.
#[utoipa::path(get, path = "/v1/spaces/{space}/units/{id}", tag = "memory",
    params(("space" = SpaceId, Path), ("id" = UnitId, Path)), responses(
    (status = 200, description = "The unit", body = Unit),
    (status = "default", description = "A problem", body = Problem, content_type = "application/problem+json"),
))]
pub(crate) async fn unit(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At((name, id)): At<(String, String)>,
) -> Result<Json<Unit>, Problem> {
    let space = access.enter(&name, Right::Read)?;
    app.space(&space).await?;
    let id = UnitId::from_uuid(uuid(&id, "unit")?);
    let found = app.stores().graph.units(&space, &[id]).await?.into_iter().next();
    found.map(Json).ok_or_else(|| missing("unit"))
}

/// Lists facts, current and retired.
#[utoipa::path(get, path = "/v1/spaces/{space}/facts", tag = "memory", params(("space" = SpaceId, Path), Paging), responses(
    (status = 200, description = "A page of facts", body = FactPage),
    (status = "default", description = "A problem", body = Problem, content_type = "application/problem+json"),
))]
pub(crate) async fn facts(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At(name): At<String>,
    Params(paging): Params<Paging>,
) -> Result<Json<FactPage>, Problem> {
    let space = access.enter(&name, Right::Read)?;
    app.space(&space).await?;
    let limit = paging.limit()?;
    let items = app.stores().graph.facts(&space, paging.start()?, limit).await?;
    let next = cursor::next(&items, limit, |it| it.id);
    Ok(Json(FactPage { items, next }))
}

/// Returns one fact.
#[utoipa::path(get, path = "/v1/spaces/{space}/facts/{id}", tag = "memory",
    params(("space" = SpaceId, Path), ("id" = FactId, Path)), responses(
    (status = 200, description = "The fact", body = Fact),
    (status = "default", description = "A problem", body = Problem, content_type = "application/problem+json"),
))]
pub(crate) async fn fact(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At((name, id)): At<(String, String)>,
) -> Result<Json<Fact>, Problem> {
    let space = access.enter(&name, Right::Read)?;
    app.space(&space).await?;
    let id = uuid(&id, "fact")?;
    let graph = &app.stores().graph;
    let found = graph.facts(&space, before(id).map(FactId::from_uuid), 1).await?;
    exactly(found, "fact", |it| it.id.uuid() == id)
}

/// Lists entities.
#[utoipa::path(get, path = "/v1/spaces/{space}/entities", tag = "memory", params(("space" = SpaceId, Path), Paging), responses(
    (status = 200, description = "A page of entities", body = EntityPage),
    (status = "default", description = "A problem", body = Problem, content_type = "application/problem+json"),
))]
pub(crate) async fn entities(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At(name): At<String>,
    Params(paging): Params<Paging>,
) -> Result<Json<EntityPage>, Problem> {
    let space = access.enter(&name, Right::Read)?;
    app.space(&space).await?;
    let limit = paging.limit()?;
    let items = app.stores().graph.entities(&space, paging.start()?, limit).await?;
    let next = cursor::next(&items, limit, |it| it.id);
    Ok(Json(EntityPage { items, next }))
}

/// Returns one entity.
#[utoipa::path(get, path = "/v1/spaces/{space}/entities/{id}", tag = "memory",
    params(("space" = SpaceId, Path), ("id" = EntityId, Path)), responses(
    (status = 200, description = "The entity", body = Entity),
    (status = "default", description = "A problem", body = Problem, content_type = "application/problem+json"),
))]
pub(crate) async fn entity(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At((name, id)): At<(String, String)>,
) -> Result<Json<Entity>, Problem> {
    let space = access.enter(&name, Right::Read)?;
    app.space(&space).await?;
    let id = uuid(&id, "entity")?;
    let graph = &app.stores().graph;
    let found = graph.entities(&space, before(id).map(EntityId::from_uuid), 1).await?;
    exactly(found, "entity", |it| it.id.uuid() == id)
}

/// Returns the first of a list that starts at the wanted id, if it is the wanted one.
fn exactly<T>(found: Vec<T>, what: &'static str, wanted: impl FnOnce(&T) -> bool) -> Result<Json<T>, Problem> {
    let first = found.into_iter().next();
    first.filter(wanted).map(Json).ok_or_else(|| missing(what))
}

fn in_use(status: Status) -> bool {
    match status {
        Status::Active | Status::Archived => true,
        Status::Merged | Status::Superseded => false,
    }
}

fn uuid(text: &str, what: &str) -> Result<Uuid, Problem> {
    Uuid::parse_str(text).map_err(|_| missing(what))
}

fn missing(what: &str) -> Problem {
    Problem::not_found(format!("there is no {what} of this id"))
}

/// The id before: a list that starts after it starts at `id`.
fn before(id: Uuid) -> Option<Uuid> {
    id.as_u128().checked_sub(1).map(Uuid::from_u128)
}
