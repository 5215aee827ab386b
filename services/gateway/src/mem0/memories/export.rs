//! Exports. The id of an export holds its filters, sealed, so the server stores nothing. An export is the list of
//! memories that match its filters when it is fetched. No language model fills a schema; memories are returned
//! unchanged.

use axum::extract::State;
use axum::{Extension, Json};
use serde_json::{Map, Value, json};

use crate::api::problem::Problem;
use crate::app::config::Right;
use crate::app::keys::access::Access;
use crate::app::state::App;
use crate::http::extract::ObjectBody;
use crate::mem0::memories::gather::{Gathered, gather_memories};
use crate::mem0::memories::list::{SELECTORS, filter_of, spaces_to_search};
use crate::mem0::requests::request::{self, Fields, is_set, present_field};
use crate::mem0::requests::scope::Kind;

/// Longest filters of an export, in bytes of JSON.
const FILTERS_BYTES_MAX: usize = 16 << 10;
/// Size limit of an export in bytes of JSON; the memory that exceeds it is the last one.
const BYTES_MAX: usize = 16 << 20;
/// Fields that select the memories of an export, in addition to [`SELECTORS`] and the fields that name entities.
const FIELDS: [&str; 5] = ["filters", "metadata", "start_date", "end_date", "show_expired"];
/// Purpose in the seal of the id of an export.
const EXPORT: &str = "mem0 export";
/// Text about the schema of an export.
const AS_THEY_ARE: &str = "no language model fills the schema: `memories` holds the memories as they are";

/// Creates an export: checks its filters and returns its id. Equal filters give the same id.
pub(crate) async fn create_export(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    ObjectBody(fields): ObjectBody<Fields>,
) -> Result<Json<Value>, Problem> {
    check_schema(&fields)?;
    let filter_fields = select_filter_fields(&fields)?;
    let filter = filter_of(&filter_fields)?;
    spaces_to_search(&app, &access, &filter, Right::Read).await?;
    let id = seal_export_id(&app, &filter_fields).await?;
    let message = format!("The export can be fetched; {AS_THEY_ARE}.");
    Ok(Json(json!({"id": id, "status": "SUCCEEDED", "message": message})))
}

/// Returns an export by its id, or by its filters.
pub(crate) async fn get_export(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    ObjectBody(fields): ObjectBody<Fields>,
) -> Result<Json<Value>, Problem> {
    access.require_right(Right::Read)?;
    let filter_fields = match request::text_field(&fields, "memory_export_id")? {
        Some(id) => open_export_id(&app, id).await?,
        None => select_filter_fields(&fields)?,
    };
    let filter = filter_of(&filter_fields)?;
    let spaces = spaces_to_search(&app, &access, &filter, Right::Read).await?;
    let found = gather_memories(&app, &spaces, &filter, is_set(&filter_fields, "show_expired")).await?;
    let (memories, is_cut) = show_memories(found);
    Ok(Json(json!({
        "id": seal_export_id(&app, &filter_fields).await?,
        "status": "SUCCEEDED",
        "message": format!("The export is complete; {AS_THEY_ARE}."),
        "count": memories.len(),
        "memories": memories,
        "truncated": is_cut,
    })))
}

/// Checks that a schema is an object, or a text that contains one.
fn check_schema(fields: &Fields) -> Result<(), Problem> {
    let schema = present_field(fields, "schema").ok_or_else(|| Problem::invalid_request("schema: is missing"))?;
    let parsed = schema.as_str().map(serde_json::from_str::<Map<String, Value>>);
    if schema.is_object() || matches!(parsed, Some(Ok(_))) {
        return Ok(());
    }
    Err(Problem::invalid_request(
        "schema: must be a JSON object, or a string that contains one",
    ))
}

/// Returns the fields that select the memories of an export.
fn select_filter_fields(fields: &Fields) -> Result<Fields, Problem> {
    let names = FIELDS.into_iter().chain(SELECTORS);
    let names = names.chain(Kind::ALL.map(Kind::field_name));
    let filter_fields: Fields = names
        .filter_map(|it| Some((it.to_owned(), present_field(fields, it)?.clone())))
        .collect();
    let bytes = json!(filter_fields).to_string().len();
    if bytes > FILTERS_BYTES_MAX {
        return Err(crate::mem0::requests::errors::beyond_bounds_problem(format!(
            "filters: have {bytes} bytes, more than the {FILTERS_BYTES_MAX} of an export; use get_all(), which accepts longer filters"
        )));
    }
    Ok(filter_fields)
}

async fn seal_export_id(app: &App, filter_fields: &Fields) -> Result<String, Problem> {
    let plain = json!(filter_fields).to_string();
    app.sealer().await?.seal_value(&[EXPORT], plain.as_bytes())
}

/// Returns the fields in the id of an export.
async fn open_export_id(app: &App, id: &str) -> Result<Fields, Problem> {
    let plain = app.sealer().await?.open_value(&[EXPORT], id);
    let fields = plain.and_then(|it| serde_json::from_slice(&it).ok());
    fields.ok_or_else(|| Problem::not_found("there is no export with this id"))
}

/// Returns the memories in the form of mem0 up to the size limit, and whether some are missing.
fn show_memories(found: Gathered) -> (Vec<Value>, bool) {
    let mut bytes = 0;
    let mut shown = Vec::new();
    for memory in found.memories {
        if bytes >= BYTES_MAX {
            return (shown, true);
        }
        let memory = Value::Object(memory.to_json());
        bytes += memory.to_string().len();
        shown.push(memory);
    }
    (shown, found.is_cut)
}
