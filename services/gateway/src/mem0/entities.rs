//! Users, agents, apps and runs: one space for each, if the key opens it.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::{Extension, Json};
use domain::id::SpaceId;
use domain::port::{Room, Selection, SpaceInfo};
use serde_json::{Value, json};

use crate::api::problem::Problem;
use crate::app::config::Right;
use crate::app::keys::access::Access;
use crate::app::opened_spaces;
use crate::app::state::App;
use crate::http::extract::{PathParameters, QueryParameters};
use crate::http::handlers::content::spaces;
use crate::mem0::memories::list::as_fields;
use crate::mem0::requests::request;
use crate::mem0::requests::scope::{Entities, Entity, Kind, check_entity_name};

/// Maximum number of entities on a page.
const PAGE: usize = 1_000;
/// Maximum number of spaces examined for one list.
const SPACES_MAX: usize = 10_000;
/// Number of spaces listed in one step.
const AT_ONCE: usize = 1_000;
/// Maximum number of spaces erased by one reset.
const RESET_MAX: usize = 1_000;

pub(super) async fn list_entities(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    QueryParameters(params): QueryParameters<BTreeMap<String, String>>,
) -> Result<Json<Value>, Problem> {
    access.require_right(Right::Read)?;
    let fields = as_fields(params);
    let number = request::integer_field(&fields, "page", 1, SPACES_MAX)?;
    let size = request::integer_field(&fields, "page_size", PAGE, PAGE)?;
    let all = opened_entities(&app, &access, SPACES_MAX).await?;
    let mut totals: BTreeMap<Kind, usize> = Kind::ALL.into_iter().map(|it| (it, 0)).collect();
    for (kind, ..) in &all {
        *totals.entry(*kind).or_default() += 1;
    }
    let mut results = Vec::new();
    for (kind, name, info) in all.iter().skip((number - 1) * size).take(size) {
        let name = match name {
            Some(name) => Some(name.clone()),
            None => name_kept(&app, *kind, &info.space).await?,
        };
        results.extend(name.map(|name| {
            json!({
                "id": name, "name": name, "type": kind.name(), "created_at": info.created_at,
                "updated_at": info.created_at, "total_memories": info.records, "owner": null, "metadata": {},
            })
        }));
    }
    let place = |number: usize| format!("{}/v1/entities/?page={number}&page_size={size}", app.config.mem0.prefix);
    Ok(Json(json!({
        "count": all.len(),
        "next": (number * size < all.len()).then(|| place(number + 1)),
        "previous": (number > 1).then(|| place(number - 1)),
        "results": results,
        "total_users": totals[&Kind::User],
        "total_agents": totals[&Kind::Agent],
        "total_apps": totals[&Kind::App],
        "total_runs": totals[&Kind::Run],
    })))
}

/// Returns entities whose spaces the key opens, at most `limit`, in the order of the names of the spaces.
pub(super) async fn opened_entities(
    app: &App,
    access: &Access,
    most: usize,
) -> Result<Vec<(Kind, Option<String>, SpaceInfo)>, Problem> {
    let prefix = &app.config.mem0.space_prefix;
    let (mut found, mut after) = (Vec::new(), None);
    while found.len() < most {
        let room = AT_ONCE.min(most - found.len());
        let page = opened_spaces::spaces_under(app, access, prefix, after.as_ref(), room).await?;
        let is_last = page.len() < room;
        after = page.last().map(|it| it.space.clone());
        found.extend(page.into_iter().filter_map(|info| {
            let (kind, name) = Entity::of_space(prefix, &info.space)?;
            Some((kind, name, info))
        }));
        if is_last {
            break;
        }
    }
    Ok(found)
}

/// Returns the name of an entity from the metadata of its records, for a space whose name holds only a digest of it.
pub(super) async fn name_kept(app: &App, kind: Kind, space: &SpaceId) -> Result<Option<String>, Problem> {
    let first = app
        .stores()
        .records
        .select(space, &Selection::default(), 0, Room::of_items(1))
        .await?;
    let prefix = &app.config.mem0.space_prefix;
    let entities = first.0.first().map(|it| Entities::of_record(prefix, it));
    Ok(entities.and_then(|it| it.get(kind).map(str::to_owned)))
}

/// Erases an entity with all its memories.
pub(super) async fn delete_entity(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    PathParameters((kind, name)): PathParameters<(String, String)>,
) -> Result<Json<Value>, Problem> {
    let kind =
        Kind::from_name(&kind).ok_or_else(|| Problem::not_found("the kinds are users, agents, apps and runs"))?;
    check_entity_name(kind, &name)?;
    let space = Entity { kind, name }.to_space_id(&app.config.mem0.space_prefix)?;
    erase_space(&app, &access, &space).await?;
    Ok(Json(json!({"message": "Entity deleted successfully!"})))
}

/// Erases all spaces that the key opens, within the limits of one request.
pub(super) async fn erase_all_spaces(
    State(app): State<App>,
    Extension(access): Extension<Access>,
) -> Result<Json<Value>, Problem> {
    access.require_right(Right::Admin)?;
    let prefix = &app.config.mem0.space_prefix;
    let all = opened_spaces::spaces_under(&app, &access, prefix, None, RESET_MAX + 1).await?;
    for info in all.iter().take(RESET_MAX) {
        erase_space(&app, &access, &info.space).await?;
    }
    let message = if all.len() > RESET_MAX {
        format!("{RESET_MAX} users are deleted; there are more, so send the request again")
    } else {
        "All memories are deleted.".to_owned()
    };
    Ok(Json(json!({"message": message})))
}

async fn erase_space(app: &App, access: &Access, space: &SpaceId) -> Result<(), Problem> {
    let (app, access) = (State(app.clone()), Extension(access.clone()));
    // 202 means that the space is deleted and that a store erases its data later. For a mem0 client this is a success.
    spaces::delete(app, access, PathParameters(space.to_string()))
        .await
        .map(drop)
}
