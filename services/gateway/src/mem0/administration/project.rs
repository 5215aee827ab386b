//! The single project. Its settings are those of the server; an update is accepted only if it changes nothing.

use axum::Json;
use serde_json::{Value, json};

use crate::api::problem::Problem;
use crate::http::extract::ObjectBody;
use crate::mem0::requests::errors::unsupported_problem;
use crate::mem0::requests::request::Fields;

/// Name of the single organisation and of its single project.
pub(crate) const PROJECT: &str = "mnemic";

/// Describes the project.
pub(crate) async fn get_project() -> Json<Value> {
    Json(project_json())
}

/// Accepts an update that changes nothing.
///
/// # Errors
/// 501 for any other update.
pub(crate) async fn update_project(ObjectBody(fields): ObjectBody<Fields>) -> Result<Json<Value>, Problem> {
    let mut changing = fields.iter().filter(|(name, new_value)| !is_so(name, new_value));
    if let Some((name, _)) = changing.next() {
        return Err(unsupported_problem(&format!("{name}: {}", instead_of(name))));
    }
    let mut project = project_json();
    project["message"] = json!("Nothing was changed: the project already has these values.");
    Ok(Json(project))
}

/// Returns true if a setting of the project already has this value: texts keep their own language, memories do not
/// decay, and every other setting is empty.
fn is_so(name: &str, new_value: &Value) -> bool {
    match name {
        "multilingual" => new_value.is_null() || *new_value == json!(true),
        "decay" => new_value.is_null() || *new_value == json!(false),
        // These fields select the project and the version of the API; they are not settings.
        "version" | "org_id" | "project_id" => true,
        _ => new_value.is_null() || *new_value == json!("") || *new_value == json!([]),
    }
}

/// Returns why a setting cannot be changed, and the alternative.
fn instead_of(name: &str) -> &'static str {
    match name {
        "custom_categories" => "memories have no categories; use metadata, and filters of it",
        "custom_instructions" | "agent_custom_instructions" => {
            "messages are stored unchanged, and no instruction changes that; use get_profile() for the derived data"
        }
        "multilingual" => "texts are kept in the language in which they were written; use texts in one language",
        "decay" => "memories do not decay; use expiration_date to let a memory end",
        _ => "there is one project, and it is set up in the settings of the server; use mnemic.toml",
    }
}

fn project_json() -> Value {
    json!({
        "id": PROJECT, "project_id": PROJECT, "name": "Mnemic", "description": null, "custom_instructions": null,
        "agent_custom_instructions": null, "custom_categories": [], "multilingual": true, "decay": false,
    })
}

/// Returns the problem for every other request about organisations and projects.
pub(crate) async fn refuse_change() -> Problem {
    unsupported_problem("there is one project, and it is set up in the settings of the server; use mnemic.toml")
}
