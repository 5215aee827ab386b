//! Lists of memories, and the spaces that a request searches.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::http::Uri;
use axum::{Extension, Json};
use domain::id::SpaceId;
use serde_json::{Value, json};

use crate::api::problem::Problem;
use crate::app::config::Right;
use crate::app::keys::access::Access;
use crate::app::opened_spaces;
use crate::app::state::App;
use crate::http::extract::{ObjectBody, QueryParameters};
use crate::mem0::filters::filter::{Filter, Scope};
use crate::mem0::memories::gather::gather_memories;
use crate::mem0::requests::errors::beyond_bounds_problem;
use crate::mem0::requests::request::{self, Fields, is_set, present_field};
use crate::mem0::requests::scope::{Entity, Kind};

/// Default and maximum number of memories on a page.
const PAGE: usize = 100;
const PAGE_MAX: usize = 1_000;
const PAGES_MAX: usize = 1_000_000;
/// Number of spaces read in one step.
const AT_ONCE: usize = 1_000;
/// Fields of a request that restrict it like the fields of the same name in its `filters`, in addition to entities,
/// metadata and dates.
pub(crate) const SELECTORS: [&str; 7] = [
    "categories",
    "category",
    "keywords",
    "memory_id",
    "memory_ids",
    "created_at",
    "updated_at",
];
/// Those that clients send empty if they do not restrict a request.
const MAY_BE_EMPTY: [&str; 3] = ["categories", "category", "keywords"];
/// Parameters that restrict nothing outside of `filters`, or only the number of memories in a list.
const NOT_FOR_ERASURES: [&str; 14] = [
    "AND",
    "OR",
    "NOT",
    "id",
    "ids",
    "limit",
    "memory",
    "page",
    "page_size",
    "query",
    "show_expired",
    "text",
    "timestamp",
    "top_k",
];
/// Maximum number of spaces that `*` matches.
const SPACES_MAX: usize = 100;

/// Lists memories as in the hosted service: filters in the body, the page in the query string.
pub(crate) async fn list_memories_by_body(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    QueryParameters(params): QueryParameters<BTreeMap<String, String>>,
    ObjectBody(mut fields): ObjectBody<Fields>,
) -> Result<Json<Value>, Problem> {
    for (name, value) in params {
        fields.entry(name).or_insert(Value::String(value));
    }
    let prefix = &app.config.mem0.prefix;
    let place = |number: usize, size: usize| format!("{prefix}/v3/memories/?page={number}&page_size={size}");
    list_page(&app, &access, &fields, place).await
}

/// Lists memories as in the open-source server: all parameters in the query string.
pub(crate) async fn list_memories_by_query(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    uri: Uri,
    QueryParameters(params): QueryParameters<BTreeMap<String, String>>,
) -> Result<Json<Value>, Problem> {
    // The router has removed the prefix from the path.
    let path = format!("{}{}", app.config.mem0.prefix, uri.path());
    let query = uri.query().unwrap_or_default();
    let place = |number: usize, _: usize| address_of_page(&path, query, number);
    list_page(&app, &access, &as_fields(params), place).await
}

/// Returns the address of a page of a list: the path and the query string of the request, which are percent-encoded,
/// with another page.
fn address_of_page(path: &str, query: &str, number: usize) -> String {
    let is_kept = |it: &&str| !it.is_empty() && it.split('=').next() != Some("page");
    let mut params: Vec<String> = query.split('&').filter(is_kept).map(str::to_owned).collect();
    params.push(format!("page={number}"));
    format!("{path}?{}", params.join("&"))
}

/// Returns query parameters as fields of a request.
pub(crate) fn as_fields(params: BTreeMap<String, String>) -> Fields {
    params
        .into_iter()
        .map(|(name, value)| (name, Value::String(value)))
        .collect()
}

/// Returns a page of a list; `place` returns the address of a page from its number and size.
async fn list_page(
    app: &App,
    access: &Access,
    fields: &Fields,
    place: impl Fn(usize, usize) -> String,
) -> Result<Json<Value>, Problem> {
    let number = request::integer_field(fields, "page", 1, PAGES_MAX)?;
    let field_name = ["page_size", "top_k", "limit"]
        .into_iter()
        .find(|it| present_field(fields, it).is_some());
    let size = request::integer_field(fields, field_name.unwrap_or("page_size"), PAGE, PAGE_MAX)?;
    let filter = filter_of(fields)?;
    let spaces = spaces_to_search(app, access, &filter, Right::Read).await?;
    let found = gather_memories(app, &spaces, &filter, is_set(fields, "show_expired")).await?;
    let count = found.memories.len();
    let shown = found.memories.iter().skip((number - 1) * size).take(size);
    Ok(Json(json!({
        "count": count,
        "next": (number * size < count).then(|| place(number + 1, size)),
        "previous": (number > 1).then(|| place(number - 1, size)),
        "results": shown.map(|it| Value::Object(it.to_json())).collect::<Vec<_>>(),
        "truncated": found.is_cut,
    })))
}

/// Returns the filter of a request: its `filters`, and the other fields that restrict it.
pub(crate) fn filter_of(fields: &Fields) -> Result<Filter, Problem> {
    let mut all = Vec::new();
    match present_field(fields, "filters") {
        None => {}
        // In a query string, the value is text.
        Some(Value::String(text)) => {
            let parsed = serde_json::from_str(text).map_err(|_| Problem::invalid_request("filters: is not JSON"))?;
            all.push(Filter::from_json(&parsed)?);
        }
        Some(filters) => all.push(Filter::from_json(filters)?),
    }
    for kind in Kind::ALL {
        if let Some(name) = present_field(fields, kind.field_name()) {
            all.push(Filter::from_json(&json!({kind.field_name(): name}))?);
        }
    }
    if let Some(metadata) = request::read_metadata(fields)? {
        refuse_null_metadata(fields)?;
        let metadata: BTreeMap<String, String> = metadata.into_iter().collect();
        all.push(Filter::from_json(&json!({"metadata": metadata}))?);
    }
    for (name, operator) in [("start_date", "gte"), ("end_date", "lte")] {
        if let Some(moment) = present_field(fields, name) {
            all.push(Filter::from_json(&json!({"created_at": {operator: moment}}))?);
        }
    }
    for name in SELECTORS {
        // In a query string, a value is text; whatever its form, it must not match more than its field in `filters`.
        let is_left_out = |it: &Value| is_empty(it) && MAY_BE_EMPTY.contains(&name);
        if let Some(value) = present_field(fields, name).filter(|it| !is_left_out(it)) {
            all.push(Filter::from_json(&json!({name: value}))?);
        }
    }
    Ok(Filter::All(all))
}

/// Returns the filter of an erasure by its query parameters. A parameter that would restrict a list, but not the
/// erasure, is refused: if it were ignored, more would be erased than the caller named.
pub(crate) fn filter_of_erasure(params: BTreeMap<String, String>) -> Result<Filter, Problem> {
    for (name, value) in &params {
        if NOT_FOR_ERASURES.contains(&name.as_str()) {
            return Err(Problem::invalid_request(format!(
                "{name}: does not restrict what is erased; leave it out, or put a condition into `filters`"
            )));
        }
        if value.trim().is_empty() {
            return Err(Problem::invalid_request(format!(
                "{name}: is empty, and would not restrict what is erased; leave it out"
            )));
        }
    }
    for name in ["filters", "metadata"] {
        let parsed = params.get(name).map(|it| serde_json::from_str::<Value>(it));
        if parsed.is_some_and(|it| it.is_ok_and(|it| has_gap(&it))) {
            return Err(Problem::invalid_request(format!(
                "{name}: has a null or an empty part, which would not restrict what is erased; leave it out"
            )));
        }
    }
    filter_of(&as_fields(params))
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::String(text) => text.is_empty(),
        Value::Array(all) => all.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    }
}

/// Returns true if a value is or contains a null, an empty list or an empty object.
fn has_gap(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(all) => all.is_empty() || all.iter().any(has_gap),
        Value::Object(fields) => fields.is_empty() || fields.values().any(has_gap),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Refuses metadata with a null as a filter: a value that is left out would match every memory.
fn refuse_null_metadata(fields: &Fields) -> Result<(), Problem> {
    let Some(value) = present_field(fields, "metadata") else {
        return Ok(());
    };
    let parsed = value.as_str().and_then(|it| serde_json::from_str::<Value>(it).ok());
    let mut entries = parsed.as_ref().unwrap_or(value).as_object().into_iter().flatten();
    match entries.find(|(_, value)| value.is_null()) {
        None => Ok(()),
        Some((name, _)) => Err(Problem::invalid_request(format!(
            "metadata.{name}: is null, which restricts nothing; leave it out, or name a value"
        ))),
    }
}

/// Returns the spaces that may hold memories that match a filter, including spaces that do not exist yet.
///
/// # Errors
/// 400 if the filter names no entity or too many; 404 if the key does not open a space that it names.
pub(crate) async fn spaces_to_search(
    app: &App,
    access: &Access,
    filter: &Filter,
    right: Right,
) -> Result<Vec<SpaceId>, Problem> {
    let scopes = filter.scopes_to_search().filter(|it| !it.is_empty()).ok_or_else(|| {
        Problem::invalid_request(
            "filters: name no user; one of user_id, agent_id, app_id and run_id is needed, `*` for all",
        )
    })?;
    let prefix = &app.config.mem0.space_prefix;
    let mut spaces = Vec::new();
    for scope in scopes {
        match scope {
            Scope::One(entity) => spaces.push(access.authorize_space(entity.to_space_id(prefix)?.as_str(), right)?),
            Scope::Every(kind) => spaces.extend(spaces_of_kind(app, access, kind, right).await?),
        }
        if spaces.len() > SPACES_MAX {
            return Err(beyond_bounds_problem(format!(
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
    access.require_right(right)?;
    let prefix = &app.config.mem0.space_prefix;
    let (mut found, mut after) = (Vec::new(), None);
    while found.len() <= SPACES_MAX {
        let page = opened_spaces::spaces_under(app, access, prefix, after.as_ref(), AT_ONCE).await?;
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
