//! The tools of the catalogue as listed over the protocol. The list is shorter than over HTTP, because a client puts
//! all of it into every conversation. Parts of a schema that are left out are still checked when a tool is called, and
//! the error names the argument and its limits.

use std::collections::BTreeSet;

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

use super::object_fields;
use crate::api::ToolSpec;

/// Parts of the schema of an argument that are kept.
const KEPT: [&str; 4] = ["type", "enum", "items", "description"];
/// Arguments whose names need no description.
const PLAIN: [&str; 15] = [
    "aggregation",
    "archived",
    "cue",
    "end_operator",
    "object",
    "offset",
    "ordering",
    "page",
    "person",
    "query",
    "relation",
    "start_operator",
    "subject",
    "tag",
    "topic",
];
/// Arguments that are listed only with the first tool that accepts them; the other tools accept them too.
const RARE: [&str; 2] = ["start_operator", "end_operator"];

/// Arguments that earlier tools in the list have.
#[derive(Default)]
struct KnownArguments {
    arguments: BTreeSet<String>,
    descriptions: BTreeSet<String>,
}

/// Returns the tools of the catalogue in the same order; all of them are read-only, and all accept `as_of`.
pub(super) fn shorten_tools(specs: Vec<ToolSpec>) -> Vec<Tool> {
    let mut listed = KnownArguments::default();
    specs.into_iter().map(|it| listed.shorten_tool(it)).collect()
}

impl KnownArguments {
    fn shorten_tool(&mut self, spec: ToolSpec) -> Tool {
        let mut schema_fields = object_fields(spec.input_schema);
        let mut properties = Map::new();
        for (name, schema) in object_fields(schema_fields.remove("properties").unwrap_or_default()) {
            if let Some(short) = self.shorten_argument_schema(&name, object_fields(schema)) {
                properties.insert(name, Value::Object(short));
            }
        }
        properties.insert("as_of".to_owned(), json!({"type": "string"}));
        let mut schema = Map::new();
        schema.insert("type".to_owned(), json!("object"));
        schema.insert("properties".to_owned(), Value::Object(properties));
        let required = schema_fields.remove("required").unwrap_or_default();
        if required.as_array().is_some_and(|it| !it.is_empty()) {
            schema.insert("required".to_owned(), required);
        }
        Tool::new(spec.name, spec.description, schema).with_annotations(ToolAnnotations::new().read_only(true))
    }

    /// Returns the short schema of an argument; `None` if it is rare and an earlier tool listed it.
    fn shorten_argument_schema(&mut self, name: &str, mut schema: Map<String, Value>) -> Option<Map<String, Value>> {
        schema.retain(|key, _| KEPT.contains(&key.as_str()));
        let is_new = self.arguments.insert(name.to_owned());
        if !is_new && RARE.contains(&name) {
            return None;
        }
        if !is_new {
            schema.retain(|key, _| key == "type");
            return Some(schema);
        }
        let description = schema.get("description").and_then(Value::as_str);
        let is_repeated = description.is_some_and(|it| !self.descriptions.insert(it.to_owned()));
        if is_repeated || PLAIN.contains(&name) {
            schema.remove("description");
        }
        Some(schema)
    }
}

#[cfg(test)]
mod tests {
    use super::shorten_tools;
    use crate::api::ToolSpec;
    use serde_json::{Value, json};

    fn example_spec(name: &str) -> ToolSpec {
        let properties = json!({
            "unit": {"type": "string", "format": "uuid", "description": "Id of a unit"},
            "within": {"type": "string", "description": "Id of a unit"},
            "offset": {"type": "integer", "minimum": 0, "default": 0, "description": "Number to skip"},
            "kind": {"type": "string", "enum": ["a", "b"]},
            "end_operator": {"type": "string", "enum": ["<", ">"], "description": "How the end compares"},
        });
        ToolSpec {
            name: name.into(),
            description: "Looks.".into(),
            input_schema: json!({"type": "object", "properties": properties, "required": ["unit"], "additionalProperties": false}),
        }
    }

    #[test]
    fn an_argument_is_described_once() {
        let listed = serde_json::to_value(shorten_tools(vec![example_spec("one"), example_spec("two")])).unwrap();
        let first = &listed[0]["inputSchema"];
        assert_eq!(
            first["properties"]["unit"],
            json!({"type": "string", "description": "Id of a unit"})
        );
        assert_eq!(first["properties"]["within"], json!({"type": "string"}));
        assert_eq!(first["properties"]["offset"], json!({"type": "integer"}));
        assert_eq!(
            first["properties"]["kind"],
            json!({"type": "string", "enum": ["a", "b"]})
        );
        assert_eq!(first["properties"]["end_operator"]["enum"], json!(["<", ">"]));
        assert_eq!(first["required"], json!(["unit"]));
        let second = &listed[1]["inputSchema"]["properties"];
        assert_eq!(second["unit"], json!({"type": "string"}));
        assert_eq!(second["kind"], json!({"type": "string"}));
        assert_eq!(second["end_operator"], Value::Null);
        for tool in listed.as_array().unwrap() {
            assert_eq!(tool["inputSchema"]["properties"]["as_of"], json!({"type": "string"}));
            assert_eq!(tool["annotations"]["readOnlyHint"], true);
        }
    }

    #[test]
    fn a_tool_without_arguments_still_takes_as_of() {
        let mut bare = example_spec("bare");
        bare.input_schema = json!({"type": "object", "properties": {}, "required": []});
        let listed = serde_json::to_value(shorten_tools(vec![bare])).unwrap();
        assert_eq!(
            listed[0]["inputSchema"],
            json!({"type": "object", "properties": {"as_of": {"type": "string"}}})
        );
    }
}
