//! Exports. The id of an export holds its filters, sealed, so the server stores nothing. An export is the list of
//! memories that match its filters when it is fetched. No language model fills a schema; memories are returned
//! unchanged.

use axum::extract::State;
use axum::{Extension, Json};
use host::clock;
use serde_json::{Map, Value, json};

use super::list::{Gathered, filter_of, gather, spaces_to_search};
use super::request::{self, Fields, field, is_set};
use super::scope::Kind;
use crate::auth::Access;
use crate::config::Right;
use crate::extract::ObjectBody;
use crate::problem::Problem;
use crate::state::App;

/// Longest filters of an export, in bytes of JSON.
const FILTERS_BYTES_MAX: usize = 16 << 10;
/// Size limit of an export in bytes of JSON; the memory that exceeds it is the last one.
const BYTES_MAX: usize = 16 << 20;
/// Fields that select the memories of an export, in addition to the fields that name entities.
const FIELDS: [&str; 6] = [
    "filters",
    "metadata",
    "start_date",
    "end_date",
    "categories",
    "show_expired",
];
/// Purpose in the seal of the id of an export.
const EXPORT: &str = "mem0 export";
/// Text about the schema of an export.
const AS_THEY_ARE: &str = "no language model fills the schema: `memories` holds the memories as they are";

/// Creates an export: checks its filters and returns its id. Equal filters give the same id.
pub(super) async fn create(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    ObjectBody(fields): ObjectBody<Fields>,
) -> Result<Json<Value>, Problem> {
    check_schema(&fields)?;
    let wanted = wanted(&fields)?;
    let filter = filter_of(&wanted)?;
    spaces_to_search(&app, &access, &filter, Right::Read).await?;
    let id = id(&app, &wanted).await?;
    let message = format!("The export can be fetched; {AS_THEY_ARE}.");
    Ok(Json(json!({"id": id, "status": "SUCCEEDED", "message": message})))
}

/// Returns an export by its id, or by its filters.
pub(super) async fn get(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    ObjectBody(fields): ObjectBody<Fields>,
) -> Result<Json<Value>, Problem> {
    access.demand(Right::Read)?;
    let wanted = match request::text(&fields, "memory_export_id")? {
        Some(id) => opened(&app, id).await?,
        None => wanted(&fields)?,
    };
    let filter = filter_of(&wanted)?;
    let spaces = spaces_to_search(&app, &access, &filter, Right::Read).await?;
    let found = gather(&app, &spaces, &filter).await?;
    let (memories, is_cut) = shown(found, is_set(&wanted, "show_expired"));
    Ok(Json(json!({
        "id": id(&app, &wanted).await?,
        "status": "SUCCEEDED",
        "message": format!("The export is complete; {AS_THEY_ARE}."),
        "count": memories.len(),
        "memories": memories,
        "truncated": is_cut,
    })))
}

/// Checks that a schema is an object, or a text that contains one.
fn check_schema(fields: &Fields) -> Result<(), Problem> {
    let schema = field(fields, "schema").ok_or_else(|| Problem::invalid("schema: is missing"))?;
    let parsed = schema.as_str().map(serde_json::from_str::<Map<String, Value>>);
    if schema.is_object() || matches!(parsed, Some(Ok(_))) {
        return Ok(());
    }
    Err(Problem::invalid(
        "schema: is neither an object nor a text that holds one",
    ))
}

/// Returns the fields that select the memories of an export.
fn wanted(fields: &Fields) -> Result<Fields, Problem> {
    let names = FIELDS.into_iter().chain(Kind::ALL.map(Kind::field));
    let wanted: Fields = names
        .filter_map(|it| Some((it.to_owned(), field(fields, it)?.clone())))
        .collect();
    let bytes = json!(wanted).to_string().len();
    if bytes > FILTERS_BYTES_MAX {
        return Err(super::errors::beyond(format!(
            "filters: of an export have {bytes} bytes, more than {FILTERS_BYTES_MAX}; use get_all(), which takes longer ones"
        )));
    }
    Ok(wanted)
}

async fn id(app: &App, wanted: &Fields) -> Result<String, Problem> {
    let plain = json!(wanted).to_string();
    app.sealer().await?.seal(&[EXPORT], plain.as_bytes())
}

/// Returns the fields in the id of an export.
async fn opened(app: &App, id: &str) -> Result<Fields, Problem> {
    let plain = app.sealer().await?.open(&[EXPORT], id);
    let fields = plain.and_then(|it| serde_json::from_slice(&it).ok());
    fields.ok_or_else(|| Problem::not_found("there is no export of this id"))
}

/// Returns the memories in the form of mem0 up to the size limit, and whether some are missing.
fn shown(found: Gathered, is_expired_wanted: bool) -> (Vec<Value>, bool) {
    let today = clock::now().date_naive();
    let mut bytes = 0;
    let mut shown = Vec::new();
    for memory in found.memories {
        if !is_expired_wanted && memory.is_expired(today) {
            continue;
        }
        if bytes >= BYTES_MAX {
            return (shown, true);
        }
        let memory = Value::Object(memory.show());
        bytes += memory.to_string().len();
        shown.push(memory);
    }
    (shown, found.is_cut)
}
