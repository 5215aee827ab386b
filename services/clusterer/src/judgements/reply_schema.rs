//! Structured output: JSON schemas for the replies of language models.

use serde_json::{Value, json};

/// Returns the schema of an object that has all of these properties and no others.
pub(crate) fn object_schema(properties: &Value) -> Value {
    let names: Vec<&String> = properties.as_object().into_iter().flat_map(|it| it.keys()).collect();
    json!({ "type": "object", "required": names, "properties": properties, "additionalProperties": false })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_requires_each_of_its_properties_and_allows_no_other() {
        let schema = object_schema(&json!({ "name": { "type": "string" }, "lines": { "type": "array" } }));
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["properties"]["name"]["type"], "string");
        assert_eq!(schema["additionalProperties"], false);
        let mut required: Vec<&str> = schema["required"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(Value::as_str)
            .collect();
        required.sort_unstable();
        assert_eq!(required, ["lines", "name"]);
    }
}
