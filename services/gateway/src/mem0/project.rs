//! The single project. Its settings are those of the server; an update is accepted only if it changes nothing.

use axum::Json;
use serde_json::{Value, json};

use super::errors::unsupported;
use super::request::Fields;
use crate::extract::ObjectBody;
use crate::problem::Problem;

/// Name of the single organisation and of its single project.
pub(super) const PROJECT: &str = "mnemic";

/// Describes the project.
pub(super) async fn get() -> Json<Value> {
    Json(shown())
}

/// Accepts an update that changes nothing.
///
/// # Errors
/// 501 for any other update.
pub(super) async fn update(ObjectBody(fields): ObjectBody<Fields>) -> Result<Json<Value>, Problem> {
    let mut changing = fields.iter().filter(|(name, wanted)| !is_so(name, wanted));
    if let Some((name, _)) = changing.next() {
        return Err(unsupported(&format!("{name}: {}", instead_of(name))));
    }
    let mut project = shown();
    project["message"] = json!("Nothing was changed: the project is so already.");
    Ok(Json(project))
}

/// Returns true if a setting of the project already has this value: texts keep their own language, memories do not
/// decay, and every other setting is empty.
fn is_so(name: &str, wanted: &Value) -> bool {
    match name {
        "multilingual" => wanted.is_null() || *wanted == json!(true),
        "decay" => wanted.is_null() || *wanted == json!(false),
        // These fields select the project and the version of the API; they are not settings.
        "version" | "org_id" | "project_id" => true,
        _ => wanted.is_null() || *wanted == json!("") || *wanted == json!([]),
    }
}

/// Returns why a setting cannot be changed, and the alternative.
fn instead_of(name: &str) -> &'static str {
    match name {
        "custom_categories" => "memories have no categories; use metadata, and filters of it",
        "custom_instructions" | "agent_custom_instructions" => {
            "messages are kept as they are, and no instruction changes that; use get_profile() for what is made of them"
        }
        "multilingual" => "texts are kept in the language in which they were written; use texts in one language",
        "decay" => "memories do not decay; use expiration_date for what is to end",
        _ => "there is one project, and it is set up in the settings of the server; use mnemic.toml",
    }
}

fn shown() -> Value {
    json!({
        "id": PROJECT, "project_id": PROJECT, "name": "Mnemic", "description": null, "custom_instructions": null,
        "agent_custom_instructions": null, "custom_categories": [], "multilingual": true, "decay": false,
    })
}

/// Returns the problem for every other request about organisations and projects.
pub(super) async fn unchangeable() -> Problem {
    unsupported("there is one project, and it is set up in the settings of the server; use mnemic.toml")
}
