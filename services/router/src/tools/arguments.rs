//! Arguments of tools: schemas, and clear messages about values that do not fit them.

use domain::code::ToolCode;
use domain::id::UnitId;
use domain::message::{ToolErrorV1, ToolSpecV1};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::Look;

/// Maximum number of entries in a list.
pub(super) const LIMIT_MAX: u32 = 50;
/// Maximum offset of a page of a list.
pub(super) const OFFSET_MAX: u32 = 100_000;
/// Maximum length of a text argument in bytes.
const TEXT_MAX: usize = 4_000;

/// The argument that all tools about one unit share; they read their other fields themselves.
#[derive(Deserialize)]
struct Unit {
    #[serde(alias = "gist_id", alias = "event")]
    unit: UnitId,
}

impl Look {
    /// Returns the unit that the arguments name, the event that holds it and the gists that were read from it; none if
    /// they name no unit. The tool itself reports a missing unit by the name of its argument.
    pub(super) fn units_in_arguments(&self, arguments: &Value) -> Vec<UnitId> {
        let unit_argument: Option<Unit> = parse_arguments(arguments.clone()).ok();
        let with_others = |Unit { unit }| {
            let event = self.known_memory().event_of(unit);
            std::iter::once(unit).chain(event).chain(self.memory.gists_of(unit))
        };
        unit_argument.into_iter().flat_map(with_others).collect()
    }

    /// Returns an error if the unit does not exist.
    pub(super) fn require_known(&self, unit: UnitId) -> Result<(), ToolErrorV1> {
        if self.known_memory().has_unit(unit) {
            return Ok(());
        }
        Err(not_found(format!(
            "there is no unit {unit}; use ids that a tool or a query returned"
        )))
    }
}

/// Reads arguments. The error message names the path of a value that does not fit.
pub(super) fn parse_arguments<T: DeserializeOwned>(arguments: Value) -> Result<T, ToolErrorV1> {
    let arguments = match arguments {
        Value::Null => Map::new(),
        Value::Object(fields) => fields,
        // A list would be read as the fields in their order.
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            return Err(bad_arguments_error("the arguments are not an object"));
        }
    };
    serde_path_to_error::deserialize(Value::Object(arguments)).map_err(|error| {
        let path = error.path().to_string();
        let cause = error.inner();
        if matches!(path.as_str(), "" | "." | "?") {
            bad_arguments_error(&cause.to_string())
        } else {
            bad_arguments_error(&format!("{path}: {cause}"))
        }
    })
}

/// Returns an error if a number is out of range.
pub(super) fn require_in_range(name: &str, value: u32, least: u32, most: u32) -> Result<(), ToolErrorV1> {
    if (least..=most).contains(&value) {
        Ok(())
    } else {
        Err(bad_arguments_error(&format!("{name}: must be {least} to {most}")))
    }
}

/// Returns an error if limit or offset of a page is out of range.
pub(super) fn require_page_in_range(limit: u32, offset: u32) -> Result<(), ToolErrorV1> {
    require_in_range("limit", limit, 1, LIMIT_MAX)?;
    require_in_range("offset", offset, 0, OFFSET_MAX)
}

/// Returns an error if a text is empty or too long.
pub(super) fn require_text(name: &str, value: &str, what: &str) -> Result<(), ToolErrorV1> {
    if value.trim().is_empty() {
        return Err(bad_arguments_error(&format!("{name}: is empty; say {what}")));
    }
    if value.len() > TEXT_MAX {
        return Err(bad_arguments_error(&format!(
            "{name}: is longer than {TEXT_MAX} bytes; ask for less at once"
        )));
    }
    Ok(())
}

pub(super) fn bad_arguments_error(message: &str) -> ToolErrorV1 {
    ToolErrorV1::new(
        ToolCode::BadArguments,
        format!("{message}; check the schema of the tool, then call again"),
    )
}

pub(super) fn not_found(message: String) -> ToolErrorV1 {
    ToolErrorV1::new(ToolCode::NotFound, message)
}

/// Returns the description of a tool. Arguments that are not in `required` have a default or are optional.
pub(super) fn tool_spec(name: &str, description: &str, properties: Value, required: &[&str]) -> ToolSpecV1 {
    ToolSpecV1 {
        name: name.to_owned(),
        description: description.to_owned(),
        input_schema: json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false}),
    }
}

pub(super) fn unit_schema() -> Value {
    json!({"type": "string", "format": "uuid", "description": "Id of a unit that another tool gave"})
}

pub(super) fn text_schema(description: &str) -> Value {
    json!({"type": "string", "minLength": 1, "maxLength": TEXT_MAX, "description": description})
}

pub(super) fn limit_schema() -> Value {
    json!({"type": "integer", "minimum": 1, "maximum": LIMIT_MAX, "default": 10})
}

pub(super) fn offset_schema() -> Value {
    json!({"type": "integer", "minimum": 0, "maximum": OFFSET_MAX, "default": 0, "description": "Number to skip"})
}

pub(super) fn default_limit() -> u32 {
    10
}
