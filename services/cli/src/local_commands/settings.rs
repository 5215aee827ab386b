//! All settings as data: the sections with their schemas, a schema of the whole file, and an annotated sample file.

pub(crate) mod sample;

use anyhow::Context as _;
use host::Settings;
use host::host_schemas;
use host::settings::schema_of;
use serde_json::{Map, Value, json};

use crate::args::Local;

/// A section of the settings file.
pub(crate) struct Section {
    /// Name of the section.
    pub(crate) name: &'static str,
    /// The services that read the section.
    pub(crate) readers: &'static str,
    /// JSON schema of the section.
    pub(crate) schema: Value,
}

/// Returns the sections by name.
pub(crate) fn list_sections() -> Vec<Section> {
    let of_services = [
        ("clusterer", schema_of::<clusterer::Config>()),
        ("gateway", schema_of::<gateway::Config>()),
        ("reader", schema_of::<reader::Config>()),
        ("router", schema_of::<router::Config>()),
        ("writer", schema_of::<writer::Config>()),
    ];
    let all = host_schemas().into_iter().chain(of_services);
    let mut sections: Vec<Section> = all
        .map(|(name, schema)| Section {
            name,
            readers: readers_of_section(name),
            schema,
        })
        .collect();
    sections.sort_by_key(|it| it.name);
    sections
}

/// Returns the services that read a section.
fn readers_of_section(section: &'static str) -> &'static str {
    match section {
        "consumer" => "writer, clusterer",
        "embeddings" | "qdrant" => "gateway, writer, router",
        "language_model" => "writer, clusterer, reader; gateway (for the proxy)",
        "neo4j" => "gateway, writer, clusterer, router",
        "admin" | "backends" | "nats" | "process" | "telemetry" => "all services",
        service => service,
    }
}

/// Returns the JSON schema of a settings file.
pub(crate) fn file_schema() -> Value {
    let properties: Map<String, Value> = list_sections()
        .into_iter()
        .map(|it| (it.name.to_owned(), it.schema))
        .collect();
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Settings of Mnemic",
        "description": "The settings file of Mnemic, mnemic.toml. docs/SETTINGS.md describes each key.",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    })
}

/// The nested structure of a key that is not a plain value.
pub(crate) enum Inside<'a> {
    /// A table with its own keys, for example `[gateway.proxy]`.
    Table(&'a Value),
    /// A list of tables, for example `[[gateway.keys]]`.
    List(&'a Value),
    /// Named tables of the same form, for example `[language_model.roles.answer]`: the names, and the form.
    Named(Vec<&'a str>, &'a Value),
}

/// Returns the nested structure of a key; `None` for a plain value.
pub(crate) fn nested_structure(schema: &Value) -> Option<Inside<'_>> {
    if schema["items"]["properties"].is_object() {
        return Some(Inside::List(&schema["items"]));
    }
    let properties = schema["properties"].as_object()?;
    let mut forms = properties.values();
    match forms.next() {
        Some(first) if first["properties"].is_object() && forms.all(|it| it == first) => {
            Some(Inside::Named(properties.keys().map(String::as_str).collect(), first))
        }
        _ => Some(Inside::Table(schema)),
    }
}

/// Returns the keys of a table with their schemas, by name.
pub(crate) fn keys_of_table(table: &Value) -> impl Iterator<Item = (&str, &Value)> {
    table["properties"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, schema)| (name.as_str(), schema))
}

/// Returns the description of a table or key.
pub(crate) fn schema_description(schema: &Value) -> &str {
    schema["description"].as_str().unwrap_or_default()
}

/// Returns the allowed values of a key, if the schema lists them.
pub(crate) fn allowed_values(schema: &Value) -> Vec<&str> {
    let listed = schema["enum"].as_array().into_iter().flatten().flat_map(Value::as_str);
    // A setting that may be left out is a choice between its values and null.
    let alternatives = ["oneOf", "anyOf"].map(|it| schema[it].as_array());
    let alternatives = alternatives.into_iter().flatten().flatten();
    let of_alternatives = alternatives.flat_map(|it| match &it["const"] {
        Value::String(one) => vec![one.as_str()],
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => allowed_values(it),
    });
    listed.chain(of_alternatives).collect()
}

/// Returns the settings of the file, the environment and the command line.
pub(crate) fn load_settings(local: &Local) -> anyhow::Result<Settings> {
    let mut settings = Settings::load(local.config.as_deref())?;
    if let Some(data) = &local.data {
        let text = data
            .to_str()
            .with_context(|| format!("{} is not UTF-8", data.display()))?;
        settings.set_key("backends.dir", text)?;
    }
    Ok(settings)
}
