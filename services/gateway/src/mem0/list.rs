//! Lists of memories, and the spaces that a request searches.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::{Extension, Json};
use domain::id::SpaceId;
use domain::port::{Room, Selection};
use host::clock;
use serde_json::{Value, json};

use super::errors::beyond;
use super::filter::{Filter, Scope};
use super::memory::{self, Memory};
use super::request::{self, Fields, field, is_set};
use super::scope::{Entity, Kind};
use crate::auth::Access;
use crate::config::Right;
use crate::extract::{ObjectBody, Params};
use crate::filling::PAGE_BYTES_MAX;
use crate::opened;
use crate::problem::Problem;
use crate::state::App;

/// Default and maximum number of memories on a page.
const PAGE: usize = 100;
const PAGE_MAX: usize = 1_000;
const PAGES_MAX: usize = 1_000_000;
/// Maximum number of units read for one request.
const UNITS_MAX: usize = 10_000;
const AT_ONCE: usize = 1_000;
/// Minimum that a read counts towards the limit, even if it finds fewer units.
const LOOK: usize = 100;
/// Maximum number of spaces that `*` matches.
const SPACES_MAX: usize = 100;

/// Lists memories as in the hosted service: filters in the body, the page in the query string.
pub(super) async fn post(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    Params(params): Params<BTreeMap<String, String>>,
    ObjectBody(mut fields): ObjectBody<Fields>,
) -> Result<Json<Value>, Problem> {
    for (name, value) in params {
        fields.entry(name).or_insert(Value::String(value));
    }
    page(&app, &access, &fields).await
}

/// Lists memories as in the open-source server: all parameters in the query string.
pub(super) async fn get(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    Params(params): Params<BTreeMap<String, String>>,
) -> Result<Json<Value>, Problem> {
    page(&app, &access, &as_fields(params)).await
}

/// Returns query parameters as fields of a request.
pub(super) fn as_fields(params: BTreeMap<String, String>) -> Fields {
    params
        .into_iter()
        .map(|(name, value)| (name, Value::String(value)))
        .collect()
}

async fn page(app: &App, access: &Access, fields: &Fields) -> Result<Json<Value>, Problem> {
    let number = request::count(fields, "page", 1, PAGES_MAX)?;
    let given = ["page_size", "top_k", "limit"]
        .into_iter()
        .find(|it| field(fields, it).is_some());
    let size = request::count(fields, given.unwrap_or("page_size"), PAGE, PAGE_MAX)?;
    let filter = filter_of(fields)?;
    let spaces = spaces_to_search(app, access, &filter, Right::Read).await?;
    let mut found = gather(app, &spaces, &filter).await?;
    if !is_set(fields, "show_expired") {
        let today = clock::now().date_naive();
        found.memories.retain(|it| !it.is_expired(today));
    }
    let count = found.memories.len();
    let place = |number: usize| format!("{}/v3/memories/?page={number}&page_size={size}", app.config.mem0.prefix);
    let shown = found.memories.iter().skip((number - 1) * size).take(size);
    Ok(Json(json!({
        "count": count,
        "next": (number * size < count).then(|| place(number + 1)),
        "previous": (number > 1).then(|| place(number - 1)),
        "results": shown.map(|it| Value::Object(it.show())).collect::<Vec<_>>(),
        "truncated": found.is_cut,
    })))
}

/// Returns the filter of a request: its `filters`, and the other fields that restrict it.
pub(super) fn filter_of(fields: &Fields) -> Result<Filter, Problem> {
    let mut all = Vec::new();
    match field(fields, "filters") {
        None => {}
        // In a query string, the value is text.
        Some(Value::String(text)) => {
            let parsed = serde_json::from_str(text).map_err(|_| Problem::invalid("filters: is not JSON"))?;
            all.push(Filter::read(&parsed)?);
        }
        Some(given) => all.push(Filter::read(given)?),
    }
    for kind in Kind::ALL {
        if let Some(name) = field(fields, kind.field()) {
            all.push(Filter::read(&json!({kind.field(): name}))?);
        }
    }
    if let Some(metadata) = request::metadata(fields)? {
        let metadata: BTreeMap<String, String> = metadata.into_iter().collect();
        all.push(Filter::read(&json!({"metadata": metadata}))?);
    }
    for (name, operator) in [("start_date", "gte"), ("end_date", "lte")] {
        if let Some(moment) = field(fields, name) {
            all.push(Filter::read(&json!({"created_at": {operator: moment}}))?);
        }
    }
    if let Some(Value::Array(categories)) = field(fields, "categories")
        && !categories.is_empty()
    {
        all.push(Filter::Category);
    }
    Ok(Filter::All(all))
}

/// Returns the spaces that may hold memories that match a filter, including spaces that do not exist yet.
///
/// # Errors
/// 400 if the filter names no entity or too many; 404 if the key does not open a space that it names.
pub(super) async fn spaces_to_search(
    app: &App,
    access: &Access,
    filter: &Filter,
    right: Right,
) -> Result<Vec<SpaceId>, Problem> {
    let scopes = filter.scopes().filter(|it| !it.is_empty()).ok_or_else(|| {
        Problem::invalid("filters: name nobody; one of user_id, agent_id, app_id and run_id is needed, `*` for all")
    })?;
    let prefix = &app.config.mem0.space_prefix;
    let mut spaces = Vec::new();
    for scope in scopes {
        match scope {
            Scope::One(entity) => spaces.push(access.enter(entity.space(prefix)?.as_str(), right)?),
            Scope::Every(kind) => spaces.extend(spaces_of_kind(app, access, kind, right).await?),
        }
        if spaces.len() > SPACES_MAX {
            return Err(beyond(format!(
                "filters: are about more than {SPACES_MAX} users; name fewer"
            )));
        }
    }
    spaces.sort_unstable();
    spaces.dedup();
    Ok(spaces)
}

/// Returns the spaces of a kind that the key opens; one more than the limit if there are more.
async fn spaces_of_kind(app: &App, access: &Access, kind: Kind, right: Right) -> Result<Vec<SpaceId>, Problem> {
    access.demand(right)?;
    let prefix = &app.config.mem0.space_prefix;
    let (mut found, mut after) = (Vec::new(), None);
    while found.len() <= SPACES_MAX {
        let page = opened::spaces_under(app, access, prefix, after.as_ref(), AT_ONCE).await?;
        let is_last = page.len() < AT_ONCE;
        after = page.last().map(|it| it.space.clone());
        let of_kind = |it: &SpaceId| Entity::of_space(prefix, it).is_some_and(|it| it.0 == kind);
        found.extend(page.into_iter().map(|it| it.space).filter(of_kind));
        if is_last {
            break;
        }
    }
    found.truncate(SPACES_MAX + 1);
    Ok(found)
}

/// Memories that match a filter.
pub(super) struct Gathered {
    /// The newest first, ties by id.
    pub(super) memories: Vec<Memory>,
    /// Whether there are more units than the limit.
    pub(super) is_cut: bool,
}

/// Collects the memories in the spaces that match a filter.
pub(super) async fn gather(app: &App, spaces: &[SpaceId], filter: &Filter) -> Result<Gathered, Problem> {
    let mut found = Gathered {
        memories: Vec::new(),
        is_cut: false,
    };
    let mut left = UNITS_MAX;
    for space in spaces {
        let mut after = Some(0);
        while let Some(from) = after.filter(|_| left > 0) {
            let room = Room {
                items: left.min(AT_ONCE),
                bytes: PAGE_BYTES_MAX,
            };
            let everything = Selection::default();
            let (units, next) = app.stores().graph.select(space, &everything, from, room).await?;
            left = left.saturating_sub(units.len().max(LOOK));
            let memories = memory::load(app, space, units).await?.into_iter();
            let taken: Vec<Memory> = memories.filter(|it| filter.takes(it)).collect();
            app.mem0_places.put(space, taken.iter().map(|it| it.id));
            found.memories.extend(taken);
            after = next;
        }
        found.is_cut |= after.is_some();
    }
    found
        .memories
        .sort_by(|a, b| b.created_at.cmp(&a.created_at).then(a.id.cmp(&b.id)));
    Ok(found)
}
