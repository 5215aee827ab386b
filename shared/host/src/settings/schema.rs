//! JSON schemas of sections, generated from the types of the settings. Editors check settings files with them, and
//! docs/SETTINGS.md is generated from them.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

/// Keywords of a schema that do not help a user who writes settings.
const LEFT_OUT: [&str; 3] = ["$schema", "title", "format"];

/// Returns the JSON schema (draft 7) of `T`, with the nested types written out in place.
pub fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft07().with(|it| it.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    tidy_schema(&mut schema);
    schema
}

/// Removes from a schema, and from the schemas inside it, `null` (which TOML does not have) and the keywords in
/// [`LEFT_OUT`].
fn tidy_schema(schema: &mut Value) {
    let Value::Object(schema) = schema else { return };
    shorten_default(schema);
    for keyword in LEFT_OUT {
        schema.remove(keyword);
    }
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|it| it != "null");
        if let [one] = types.as_slice() {
            let one = one.clone();
            schema.insert("type".to_owned(), one);
        }
    }
    if let Some(Value::String(description)) = schema.get_mut("description") {
        *description = description.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    for inside in ["properties", "patternProperties"] {
        if let Some(Value::Object(properties)) = schema.get_mut(inside) {
            properties.values_mut().for_each(tidy_schema);
        }
    }
    for inside in ["items", "additionalProperties"] {
        if let Some(inside) = schema.get_mut(inside) {
            tidy_schema(inside);
        }
    }
    for inside in ["oneOf", "anyOf", "allOf"] {
        if let Some(Value::Array(alternatives)) = schema.get_mut(inside) {
            alternatives.retain(|it| it["type"] != "null");
            alternatives.iter_mut().for_each(tidy_schema);
        }
    }
}

/// Shortens a default of type `f32` to its usual form, 0.85 instead of 0.8500000238418579. Removes the default `null`.
fn shorten_default(schema: &mut Map<String, Value>) {
    let is_float = schema.get("format").is_some_and(|it| it == "float");
    let Some(default) = schema.get_mut("default") else {
        return;
    };
    if default.is_null() {
        schema.remove("default");
    } else if let Some(value) = default.as_f64().filter(|_| is_float) {
        let short = (value as f32).to_string().parse::<f64>();
        *default = short.map_or(Value::Null, Value::from);
    }
}

#[cfg(test)]
mod tests {
    use adapters::models::endpoint::chat;
    use adapters::servers::server_options::neo4j;
    use serde_json::json;

    use super::*;
    use crate::telemetry;

    #[test]
    fn a_schema_has_defaults_as_they_are_written() {
        let telemetry = schema_of::<telemetry::Config>();
        let sample = &telemetry["properties"]["sample"];
        assert_eq!(
            (&sample["default"], &sample["maximum"]),
            (&json!(1.0), &json!(1.0)),
            "{sample}"
        );
        assert_eq!(telemetry["additionalProperties"], false);
        let neo4j = schema_of::<neo4j::Options>();
        assert_eq!(neo4j["properties"]["ca_file"]["type"], "string", "{neo4j}");
        let roles = &schema_of::<chat::Options>()["properties"]["roles"];
        assert!(
            roles["properties"]["answer"]["properties"]["model"].is_object(),
            "{roles}"
        );
    }
}
