//! Results of tools as data.

use serde_json::{Value, json};

use super::{asked, whole};
use crate::harness::Gateway;

async fn result_of(gateway: &Gateway, tool: &str, arguments: Value) -> Value {
    let call = json!({"name": tool, "arguments": arguments});
    let message = asked(gateway, "", "tools/call", call).await;
    message["result"].clone()
}

/// Checks a result against the schema of its tool: types of the fields, and required fields.
fn assert_fits(schema: &Value, data: &Value) {
    for name in schema["required"].as_array().unwrap() {
        assert!(data.get(name.as_str().unwrap()).is_some(), "{name} is missing: {data}");
    }
    for (name, field) in data.as_object().unwrap() {
        let wanted = &schema["properties"][name]["type"];
        let kind = match field {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) if wanted == "integer" => "integer",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        let alternatives = wanted.as_array();
        let fits = wanted.is_null() || wanted == kind || alternatives.is_some_and(|it| it.contains(&json!(kind)));
        assert!(fits, "{name}: {field} is not {wanted}");
    }
}

#[tokio::test]
async fn structured_results_match_the_listed_schema() {
    let gateway = whole("").await;
    let listed = asked(&gateway, "", "tools/list", json!({})).await;
    let tools = listed["result"]["tools"].as_array().unwrap().clone();
    let schema = |name: &str| {
        let tool = tools.iter().find(|it| it["name"] == name).unwrap();
        tool["outputSchema"].clone()
    };
    let record = json!({"id": "m1", "text": "I moved to Oslo.", "actor": "Ann"});
    let calls = [
        ("remember", json!({"records": [record, {"text": ""}]})),
        ("ask", json!({"question": "Where does Ann live?"})),
    ];
    for (tool, arguments) in calls {
        let result = result_of(&gateway, tool, arguments).await;
        assert_fits(&schema(tool), &result["structuredContent"]);
    }
    let kept = result_of(&gateway, "remember", json!({"records": [record, {"text": ""}]})).await;
    let kept = &kept["structuredContent"];
    assert_eq!(*kept, json!({"kept": 0, "known": 1, "rejected": 1, "searchable": true}));
    let found = result_of(&gateway, "ask", json!({"question": "Where does Ann live?"})).await;
    let evidence = found["structuredContent"]["evidence"].as_str().unwrap();
    assert_eq!(evidence, "2 Mar 2026:\nAnn: I moved to Oslo.");
    assert_eq!(schema("curate"), Value::Null);
}

/// A client checks data against the schema only if there are data; an error is only text.
#[tokio::test]
async fn an_error_has_text_and_no_data() {
    let gateway = whole("").await;
    let refused = result_of(&gateway, "ask", json!({})).await;
    assert_eq!(refused["isError"], true);
    assert_eq!(refused["structuredContent"], Value::Null);
    let found = result_of(&gateway, "ask", json!({"question": "Where does Ann live?"})).await;
    assert_eq!(found["isError"], false);
    assert!(found["structuredContent"].is_object());
}

#[tokio::test]
async fn messages_that_are_left_out_are_counted() {
    let gateway = whole("").await;
    let messages = json!([
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Hi."},
        {"role": "assistant", "content": ""},
    ]);
    let result = result_of(&gateway, "remember", json!({"messages": messages})).await;
    assert_eq!(result["structuredContent"]["left_out"], 2, "{result}");
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(
        text.starts_with("1 stored, 0 already known, 0 rejected, 2 left out; "),
        "{text}"
    );
}
