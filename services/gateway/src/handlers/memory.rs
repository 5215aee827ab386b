use axum::extract::State;
use axum::{Extension, Json};
use chrono::{DateTime, Utc};
use domain::entity::Entity;
use domain::fact::Fact;
use domain::id::{EntityId, FactId, MergeId, SpaceId, UnitId};
use domain::merge::Merge;
use host::clock;

use crate::api::{
    AsOf, EntityFilter, EntityPage, FactFilter, FactPage, MergeFilter, MergePage, UnitFilter, UnitPage, UnitView,
};
use crate::auth::Access;
use crate::config::Right;
use crate::cursor::{Cursors, Paged};
use crate::extract::{At, Params};
use crate::filling::Looks;
use crate::problem::Problem;
use crate::state::App;
use crate::{kept, selected, standing, validate};

/// Longest name in a filter, in bytes.
const NAME_BYTES_MAX: usize = 256;

/// Lists the units in use, in the order of their latest changes. A unit that was merged names the unit that replaces
/// it.
#[utoipa::path(get, path = "/v1/spaces/{space}/units", tag = "memory", params(("space" = SpaceId, Path), UnitFilter), responses(
    (status = 200, description = "A page of units", body = UnitPage),
))]
pub(crate) async fn units(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At(name): At<String>,
    Params(filter): Params<UnitFilter>,
) -> Result<Json<UnitPage>, Problem> {
    let space = access.enter(&name, Right::Read)?;
    app.space(&space).await?;
    let as_of = moment(filter.as_of.as_deref())?;
    let cursors = Cursors::of(&app, "units", space.as_str(), &filter).await?;
    let place = (cursors.start(&filter)?.unwrap_or(0), filter.limit()?);
    let selection = selected::unit_selection(&app, &space, &filter).await?;
    let mut looks = Looks::new(place);
    while let Some((after, room)) = looks.next() {
        looks.take(app.stores().graph.select(&space, &selection, after, room).await?);
    }
    let (units, next) = looks.done();
    let items = standing::shown(&app, &space, units, as_of).await?;
    let next = next.map(|it| cursors.behind(it)).transpose()?;
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
    At((name, id)): At<(String, String)>,
    Params(params): Params<AsOf>,
) -> Result<Json<UnitView>, Problem> {
    let space = access.enter(&name, Right::Read)?;
    let as_of = moment(params.as_of.as_deref())?;
    app.space(&space).await?;
    let missing = || kept::missing(&space, "unit", "units");
    let id: UnitId = id.parse().map_err(|_| missing())?;
    let found = app.stores().graph.units(&space, &[id]).await?.into_iter().next();
    let unit = found.ok_or_else(missing)?;
    if as_of.is_some_and(|as_of| unit.observed_at > as_of) {
        return Err(kept::not_yet("unit"));
    }
    let shown = standing::shown(&app, &space, vec![unit], as_of).await?.pop();
    shown.map(Json).ok_or_else(missing)
}

/// Lists facts that hold and facts that ended.
#[utoipa::path(get, path = "/v1/spaces/{space}/facts", tag = "memory", params(("space" = SpaceId, Path), FactFilter), responses(
    (status = 200, description = "A page of facts", body = FactPage),
))]
pub(crate) async fn facts(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At(name): At<String>,
    Params(filter): Params<FactFilter>,
) -> Result<Json<FactPage>, Problem> {
    list_facts(&app, &access, &name, &filter).await.map(Json)
}

/// Returns a page of the facts of the space called `name`, if the key may read it.
pub(crate) async fn list_facts(
    app: &App,
    access: &Access,
    name: &str,
    filter: &FactFilter,
) -> Result<FactPage, Problem> {
    let as_of = moment(filter.as_of.as_deref())?;
    let now = as_of.unwrap_or_else(clock::now);
    let subject = folded("subject", filter.subject.as_deref())?;
    let predicate = folded("predicate", filter.predicate.as_deref())?;
    let keep = |fact: Fact| {
        let fact = match as_of {
            Some(as_of) => fact.known_at(as_of)?,
            None => fact,
        };
        let about = |it: &String| same(&fact.subject, it) || fact.entity.is_some_and(|id| id.to_string() == *it);
        let wanted = subject.as_ref().is_none_or(about)
            && predicate.as_ref().is_none_or(|it| same(&fact.predicate, it))
            && filter.aspect.is_none_or(|it| it == fact.aspect)
            && filter.origin.is_none_or(|it| it == fact.origin)
            && filter.current.is_none_or(|it| it == fact.holds_at(now));
        wanted.then_some(fact)
    };
    kept::list(app, (access, name), filter, keep).await.map(|Json(it)| it)
}

/// Returns one fact.
#[utoipa::path(get, path = "/v1/spaces/{space}/facts/{id}", tag = "memory",
    params(("space" = SpaceId, Path), ("id" = FactId, Path), AsOf), responses(
    (status = 200, description = "The fact", body = Fact),
))]
pub(crate) async fn fact(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At((name, id)): At<(String, String)>,
    Params(params): Params<AsOf>,
) -> Result<Json<Fact>, Problem> {
    let as_of = moment(params.as_of.as_deref())?;
    let (_, fact): (SpaceId, Fact) = kept::get(&app, &access, (&name, &id)).await?;
    match as_of {
        Some(as_of) => fact.known_at(as_of).map(Json).ok_or_else(|| kept::not_yet("fact")),
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
    At(name): At<String>,
    Params(filter): Params<EntityFilter>,
) -> Result<Json<EntityPage>, Problem> {
    let as_of = moment(filter.as_of.as_deref())?;
    let wanted = folded("name", filter.name.as_deref())?;
    let keep = |entity: Entity| {
        let named = |name: &String| {
            let mut names = std::iter::once(&entity.name)
                .chain(&entity.aliases)
                .chain(&entity.roles);
            names.any(|it| same(it, name))
        };
        (named_by(&entity, as_of) && wanted.as_ref().is_none_or(named)).then_some(entity)
    };
    kept::list(&app, (&access, &name), &filter, keep).await
}

/// Returns one entity.
#[utoipa::path(get, path = "/v1/spaces/{space}/entities/{id}", tag = "memory",
    params(("space" = SpaceId, Path), ("id" = EntityId, Path), AsOf), responses(
    (status = 200, description = "The entity", body = Entity),
))]
pub(crate) async fn entity(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At((name, id)): At<(String, String)>,
    Params(params): Params<AsOf>,
) -> Result<Json<Entity>, Problem> {
    let as_of = moment(params.as_of.as_deref())?;
    let (_, entity): (SpaceId, Entity) = kept::get(&app, &access, (&name, &id)).await?;
    if !named_by(&entity, as_of) {
        return Err(kept::not_yet("entity"));
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
    At(name): At<String>,
    Params(filter): Params<MergeFilter>,
) -> Result<Json<MergePage>, Problem> {
    let keep = |merge: Merge| {
        let wanted = filter.of.is_none_or(|it| it == merge.of) && filter.undone.is_none_or(|it| it == merge.undone);
        wanted.then_some(merge)
    };
    kept::list(&app, (&access, &name), &filter, keep).await
}

/// Returns one merge.
#[utoipa::path(get, path = "/v1/spaces/{space}/merges/{id}", tag = "memory",
    params(("space" = SpaceId, Path), ("id" = MergeId, Path)), responses(
    (status = 200, description = "The merge", body = Merge),
))]
pub(crate) async fn merge(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    At((name, id)): At<(String, String)>,
) -> Result<Json<Merge>, Problem> {
    kept::get(&app, &access, (&name, &id)).await.map(|(_, it)| Json(it))
}

/// Parses `as_of`.
pub(crate) fn moment(as_of: Option<&str>) -> Result<Option<DateTime<Utc>>, Problem> {
    Ok(validate::moment("as_of", as_of)?.map(|it| it.to_utc()))
}

/// Returns true if an entity had been named by `as_of`.
fn named_by(entity: &Entity, as_of: Option<DateTime<Utc>>) -> bool {
    as_of.is_none_or(|as_of| entity.first_seen.is_none_or(|it| it <= as_of))
}

/// Returns a name in a filter in the form in which names are compared, or an error if it is invalid.
fn folded(field: &str, name: Option<&str>) -> Result<Option<String>, Problem> {
    let Some(name) = name else { return Ok(None) };
    validate::content(field, name, NAME_BYTES_MAX).map_err(Problem::invalid)?;
    let folded = name.trim().to_lowercase();
    if folded.is_empty() {
        return Err(Problem::invalid(format!("{field}: is empty; leave it out instead")));
    }
    Ok(Some(folded))
}

fn same(name: &str, folded: &str) -> bool {
    name.to_lowercase() == folded
}
