use axum::extract::State;
use axum::{Extension, Json};
use domain::derived::{Derived, DerivedId, DerivedKind};
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
    let after = paging.start::<FactId>()?.map(FactId::uuid);
    let graph = &app.stores().graph;
    let items = graph.list_derived(&space, DerivedKind::Fact, after, limit).await?;
    let items: Vec<Fact> = items.into_iter().filter_map(as_fact).collect();
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
    let id = DerivedId {
        kind: DerivedKind::Fact,
        id: uuid(&id, "fact")?,
    };
    let found = app.stores().graph.derived(&space, &[id]).await?.pop();
    found.and_then(as_fact).map(Json).ok_or_else(|| missing("fact"))
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
    let after = paging.start::<EntityId>()?.map(EntityId::uuid);
    let graph = &app.stores().graph;
    let items = graph.list_derived(&space, DerivedKind::Entity, after, limit).await?;
    let items: Vec<Entity> = items.into_iter().filter_map(as_entity).collect();
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
    let id = DerivedId {
        kind: DerivedKind::Entity,
        id: uuid(&id, "entity")?,
    };
    let found = app.stores().graph.derived(&space, &[id]).await?.pop();
    found.and_then(as_entity).map(Json).ok_or_else(|| missing("entity"))
}

fn as_fact(item: Derived) -> Option<Fact> {
    match item {
        Derived::Fact(it) => Some(it),
        Derived::Entity(_) | Derived::Topic(_) | Derived::Member(_) | Derived::Page(_) | Derived::Merge(_) => None,
    }
}

fn as_entity(item: Derived) -> Option<Entity> {
    match item {
        Derived::Entity(it) => Some(it),
        Derived::Fact(_) | Derived::Topic(_) | Derived::Member(_) | Derived::Page(_) | Derived::Merge(_) => None,
    }
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
