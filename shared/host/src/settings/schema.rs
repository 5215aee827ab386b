//! JSON schemas of the sections, made of the types that they are read as: editors check settings files with them, and
//! docs/SETTINGS.md is written from them.

use adapters::endpoint::{chat, embeddings};
use adapters::server_options::{nats, neo4j, qdrant};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use crate::{backends, bus, health, process, telemetry};

/// Keywords that say nothing to whoever writes settings.
const LEFT_OUT: [&str; 3] = ["$schema", "title", "format"];

/// Returns the JSON schema (draft 7) of what is read as `T`, with the types inside of it written out in place.
pub fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft07().with(|it| it.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    tidy(&mut schema);
    schema
}

/// Returns the sections that the host reads for every service, by name, each with its schema.
pub fn host_schemas() -> [(&'static str, Value); 10] {
    [
        ("admin", schema_of::<health::Config>()),
        ("backends", schema_of::<backends::Config>()),
        ("consumer", schema_of::<bus::Config>()),
        ("embeddings", schema_of::<embeddings::Options>()),
        ("language_model", schema_of::<chat::Options>()),
        ("nats", schema_of::<nats::Options>()),
        ("neo4j", schema_of::<neo4j::Options>()),
        ("process", schema_of::<process::Config>()),
        ("qdrant", schema_of::<qdrant::Options>()),
        ("telemetry", schema_of::<telemetry::Config>()),
    ]
}

/// Leaves out of a schema, and of those inside of it, what TOML does not have and what nobody reads.
fn tidy(schema: &mut Value) {
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
            properties.values_mut().for_each(tidy);
        }
    }
    for inside in ["items", "additionalProperties"] {
        if let Some(inside) = schema.get_mut(inside) {
            tidy(inside);
        }
    }
    for inside in ["oneOf", "anyOf", "allOf"] {
        if let Some(Value::Array(alternatives)) = schema.get_mut(inside) {
            alternatives.retain(|it| it["type"] != "null");
            alternatives.iter_mut().for_each(tidy);
        }
    }
}

/// Writes a default of four bytes as short as it reads, 0.85 and not 0.8500000238418579; takes away the default `null`.
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
    use serde_json::json;

    use super::*;

    /// Bounds of `[admin]` are those of its check.
    #[test]
    fn bounds_of_the_admin_port_are_those_that_are_checked() {
        let schema = schema_of::<health::Config>();
        let mut seen = 0;
        for (key, schema) in schema["properties"].as_object().unwrap() {
            let Some(least) = schema["minimum"].as_u64().filter(|it| *it > 0) else {
                continue;
            };
            let with = |value: u64| {
                let mut config = serde_json::to_value(health::Config::default()).unwrap();
                config[key] = json!(value);
                serde_json::from_value::<health::Config>(config).unwrap().check()
            };
            assert!(with(least).is_ok(), "{key}: {least}");
            let error = with(least - 1).unwrap_err().to_string();
            assert!(error.contains(key), "{error}");
            seen += 1;
        }
        assert_eq!(seen, 2);
    }

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
