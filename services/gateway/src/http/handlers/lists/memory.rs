use axum::extract::State;
use axum::{Extension, Json};
use chrono::{DateTime, Utc};
use domain::entity::Entity;
use domain::fact::Fact;
use domain::id::{EntityId, FactId, MergeId, SpaceId, UnitId};
use domain::merge::Merge;

use crate::api::problem::Problem;
use crate::api::{
    AsOf, EntityFilter, EntityPage, FactFilter, FactPage, MergeFilter, MergePage, Paged, UnitFilter, UnitPage, UnitView,
};
use crate::app::config::Right;
use crate::app::cursor::Cursors;
use crate::app::keys::access::Access;
use crate::app::state::App;
use crate::http::extract::{PathParameters, QueryParameters};
use crate::use_cases::lists::facts::list_facts;
use crate::use_cases::lists::list_page::Looks;
use crate::use_cases::lists::{derived_items, merged_units, record_selection};
use crate::use_cases::validate::name_filter::{case_folded_name, is_same_name};
use crate::use_cases::validate::parse_as_of;

/// Lists the units in use, in the order of their latest changes. A unit that was merged names the unit that replaces
/// it.
#[utoipa::path(get, path = "/v1/spaces/{space}/units", tag = "memory", params(("space" = SpaceId, Path), UnitFilter), responses(
    (status = 200, description = "A page of units", body = UnitPage),
))]
pub(crate) async fn units(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters(name): PathParameters<String>,
    QueryParameters(filter): QueryParameters<UnitFilter>,
) -> Result<Json<UnitPage>, Problem> {
    let space = access.authorize_space(&name, Right::Read)?;
    app.require_space(&space).await?;
    let as_of = parse_as_of(filter.as_of.as_deref())?;
    let cursors = Cursors::for_list(&app, "units", space.as_str(), &filter).await?;
    let (after, limit) = (cursors.start_position(&filter)?.unwrap_or(0), filter.page_limit()?);
    let selection = record_selection::unit_selection(&app, &space, &filter).await?;
    let mut looks = Looks::new(after, limit);
    while let Some((after, room)) = looks.next_read() {
        let (found, after) = app.stores().graph.select(&space, &selection, after, room).await?;
        looks.add_result(found, after);
    }
    let (units, next) = looks.into_page();
    let items = merged_units::units_with_merges(&app, &space, units, as_of).await?;
    let next = next.map(|it| cursors.cursor_after(it)).transpose()?;
    Ok(Json(UnitPage { items, next }))
}

/// Returns one unit with its merges: the unit that replaces it, and the units that were merged into it.
#[utoipa::path(get, path = "/v1/spaces/{space}/units/{id}", tag = "memory",
    params(("space" = SpaceId, Path), ("id" = UnitId, Path), AsOf), responses(
    (status = 200, description = "The unit", body = UnitView),
))]
pub(crate) async fn unit(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters((name, id)): PathParameters<(String, String)>,
    QueryParameters(params): QueryParameters<AsOf>,
) -> Result<Json<UnitView>, Problem> {
    let space = access.authorize_space(&name, Right::Read)?;
    let as_of = parse_as_of(params.as_of.as_deref())?;
    app.require_space(&space).await?;
    let missing = || derived_items::missing_item_problem(&space, "unit", "units");
    let id: UnitId = id.parse().map_err(|_| missing())?;
    let found = app.stores().graph.units(&space, &[id]).await?.into_iter().next();
    let unit = found.ok_or_else(missing)?;
    if as_of.is_some_and(|as_of| unit.observed_at > as_of) {
        return Err(derived_items::not_yet("unit"));
    }
    let unit_view = merged_units::units_with_merges(&app, &space, vec![unit], as_of)
        .await?
        .pop();
    unit_view.map(Json).ok_or_else(missing)
}

/// Lists facts that hold and facts that ended.
#[utoipa::path(get, path = "/v1/spaces/{space}/facts", tag = "memory", params(("space" = SpaceId, Path), FactFilter), responses(
    (status = 200, description = "A page of facts", body = FactPage),
))]
pub(crate) async fn facts(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters(name): PathParameters<String>,
    QueryParameters(filter): QueryParameters<FactFilter>,
) -> Result<Json<FactPage>, Problem> {
    list_facts(&app, &access, &name, &filter).await.map(Json)
}

/// Returns one fact.
#[utoipa::path(get, path = "/v1/spaces/{space}/facts/{id}", tag = "memory",
    params(("space" = SpaceId, Path), ("id" = FactId, Path), AsOf), responses(
    (status = 200, description = "The fact", body = Fact),
))]
pub(crate) async fn fact(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters((name, id)): PathParameters<(String, String)>,
    QueryParameters(params): QueryParameters<AsOf>,
) -> Result<Json<Fact>, Problem> {
    let as_of = parse_as_of(params.as_of.as_deref())?;
    let (_, fact): (SpaceId, Fact) = derived_items::get_derived_item(&app, &access, &name, &id).await?;
    match as_of {
        Some(as_of) => fact
            .known_at(as_of)
            .map(Json)
            .ok_or_else(|| derived_items::not_yet("fact")),
        None => Ok(Json(fact)),
    }
}

/// Lists entities: people, places and whatever else has a name.
#[utoipa::path(get, path = "/v1/spaces/{space}/entities", tag = "memory", params(("space" = SpaceId, Path), EntityFilter), responses(
    (status = 200, description = "A page of entities", body = EntityPage),
))]
pub(crate) async fn entities(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters(name): PathParameters<String>,
    QueryParameters(filter): QueryParameters<EntityFilter>,
) -> Result<Json<EntityPage>, Problem> {
    let as_of = parse_as_of(filter.as_of.as_deref())?;
    let name_filter = case_folded_name("name", filter.name.as_deref())?;
    let keep = |entity: Entity| {
        let has_name = |name: &String| {
            let mut names = std::iter::once(&entity.name)
                .chain(&entity.aliases)
                .chain(&entity.roles);
            names.any(|it| is_same_name(it, name))
        };
        (named_by(&entity, as_of) && name_filter.as_ref().is_none_or(has_name)).then_some(entity)
    };
    let listed = derived_items::list_derived_items(&app, &access, &name, &filter, keep).await;
    listed.map(Json)
}

/// Returns one entity.
#[utoipa::path(get, path = "/v1/spaces/{space}/entities/{id}", tag = "memory",
    params(("space" = SpaceId, Path), ("id" = EntityId, Path), AsOf), responses(
    (status = 200, description = "The entity", body = Entity),
))]
pub(crate) async fn entity(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters((name, id)): PathParameters<(String, String)>,
    QueryParameters(params): QueryParameters<AsOf>,
) -> Result<Json<Entity>, Problem> {
    let as_of = parse_as_of(params.as_of.as_deref())?;
    let (_, entity): (SpaceId, Entity) = derived_items::get_derived_item(&app, &access, &name, &id).await?;
    if !named_by(&entity, as_of) {
        return Err(derived_items::not_yet("entity"));
    }
    Ok(Json(entity))
}

/// Lists the merges of entities and units, with the reasons.
#[utoipa::path(get, path = "/v1/spaces/{space}/merges", tag = "memory", params(("space" = SpaceId, Path), MergeFilter), responses(
    (status = 200, description = "A page of merges", body = MergePage),
))]
pub(crate) async fn merges(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters(name): PathParameters<String>,
    QueryParameters(filter): QueryParameters<MergeFilter>,
) -> Result<Json<MergePage>, Problem> {
    let keep = |merge: Merge| {
        let is_selected =
            filter.of.is_none_or(|it| it == merge.of) && filter.undone.is_none_or(|it| it == merge.undone);
        is_selected.then_some(merge)
    };
    let listed = derived_items::list_derived_items(&app, &access, &name, &filter, keep).await;
    listed.map(Json)
}

/// Returns one merge.
#[utoipa::path(get, path = "/v1/spaces/{space}/merges/{id}", tag = "memory",
    params(("space" = SpaceId, Path), ("id" = MergeId, Path)), responses(
    (status = 200, description = "The merge", body = Merge),
))]
pub(crate) async fn merge(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters((name, id)): PathParameters<(String, String)>,
) -> Result<Json<Merge>, Problem> {
    derived_items::get_derived_item(&app, &access, &name, &id)
        .await
        .map(|(_, it)| Json(it))
}

/// Returns true if an entity had been named by `as_of`.
fn named_by(entity: &Entity, as_of: Option<DateTime<Utc>>) -> bool {
    as_of.is_none_or(|as_of| entity.first_seen.is_none_or(|it| it <= as_of))
}
