//! Tool calls in both modes: with the fields of the API, and in the text of messages.

use adapters::endpoint::chat::{ChatEndpoint, Options, ToolMode};
use domain::port::{Chat, ChatMessage, LanguageModel, ToolCall, ToolChoice, ToolSpec};
use serde_json::{Value, json};
use system::servers::chat::{Said, Server};

use super::{prompt, text};

/// Returns a conversation in which one tool was already called.
fn walk() -> Chat {
    let mut chat = prompt();
    chat.tools = vec![ToolSpec {
        name: "read_page".to_owned(),
        description: "Reads a page.".to_owned(),
        parameters: json!({ "type": "object" }),
    }];
    chat.choice = ToolChoice::Allowed;
    chat.messages.push(ChatMessage::Assistant {
        text: "A page first.".to_owned(),
        calls: vec![call("c1", json!({ "page": "Ann" }))],
    });
    chat.messages.push(ChatMessage::Tool {
        call: "c1".to_owned(),
        text: "Ann likes ferns.".to_owned(),
    });
    chat
}

fn call(id: &str, arguments: Value) -> ToolCall {
    ToolCall {
        id: id.to_owned(),
        name: "read_page".to_owned(),
        arguments,
    }
}

#[tokio::test]
async fn tools_are_offered_and_called_with_the_fields_of_the_api() {
    let server = Server::start().await.unwrap();
    let function = |arguments: &str| json!({ "name": "read_page", "arguments": arguments });
    server.says([Said::Calls(json!([
        { "id": "c2", "type": "function", "function": function("{\"page\": \"Ben\"}") },
        { "id": "c3", "type": "function", "function": function("no JSON") },
        { "id": "c4", "type": "function", "function": function("") },
        { "id": "c5", "type": "function", "function": {} },
    ]))]);
    let chat = ChatEndpoint::new(&server.options()).unwrap();
    let completion = chat.complete(&walk()).await.unwrap();
    let expected = [
        call("c2", json!({ "page": "Ben" })),
        call("c3", json!("no JSON")),
        call("c4", json!({})),
    ];
    assert_eq!(completion.calls, expected);
    let request = server.heard().requests.pop().unwrap();
    assert_eq!(request["tool_choice"], "auto");
    assert_eq!(request["tools"][0]["function"]["name"], "read_page");
    assert_eq!(request["response_format"], Value::Null, "a schema would forbid calls");
    let made = json!([{ "id": "c1", "type": "function", "function": function("{\"page\":\"Ann\"}") }]);
    assert_eq!(request["messages"][2]["tool_calls"], made);
    let result = json!({ "role": "tool", "tool_call_id": "c1", "content": "Ann likes ferns." });
    assert_eq!(request["messages"][3], result);

    server.says([text("{}")]);
    let last = Chat {
        choice: ToolChoice::Forbidden,
        ..walk()
    };
    assert_eq!(chat.complete(&last).await.unwrap().calls, []);
    let request = server.heard().requests.pop().unwrap();
    assert_eq!(request["tool_choice"], "none");
    assert_eq!(request["response_format"]["type"], "json_schema");
}

#[tokio::test]
async fn tools_are_offered_and_called_in_text_if_an_endpoint_does_not_support_them() {
    let server = Server::start().await.unwrap();
    let options = Options {
        tools: ToolMode::Text,
        ..server.options()
    };
    let chat = ChatEndpoint::new(&options).unwrap();
    server.says([
        text("Ben next. {\"calls\": [{\"name\": \"read_page\", \"arguments\": {\"page\": \"Ben\"}}]}"),
        text("```json\n{\"name\": \"read_page\"}\n```"),
        text("{\"answer\": \"ferns\"}"),
    ]);
    let completion = chat.complete(&walk()).await.unwrap();
    assert_eq!(completion.calls, [call("call_2", json!({ "page": "Ben" }))]);
    assert_eq!(completion.text, "Ben next.");
    assert_eq!(
        chat.complete(&walk()).await.unwrap().calls,
        [call("call_2", Value::Null)]
    );
    let completion = chat.complete(&walk()).await.unwrap();
    assert_eq!(
        (completion.calls, completion.text.as_str()),
        (vec![], "{\"answer\": \"ferns\"}")
    );

    let request = server.heard().requests.pop().unwrap();
    assert_eq!(
        (&request["tools"], &request["tool_choice"]),
        (&Value::Null, &Value::Null)
    );
    let said = |at: usize| request["messages"][at]["content"].as_str().unwrap().to_owned();
    assert!(
        said(0).starts_with("Answer.") && said(0).contains("read_page: Reads a page."),
        "{request}"
    );
    assert!(
        said(2).contains("{\"calls\":[{\"arguments\":{\"page\":\"Ann\"},\"name\":\"read_page\"}]}"),
        "{request}"
    );
    assert_eq!(said(3), "Result of the call read_page:\nAnn likes ferns.");
    assert_eq!(request["messages"][3]["role"], "user");
}
