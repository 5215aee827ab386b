//! Tool calls in both modes: with the fields of the API, and in the text of messages.

use adapters::models::endpoint::chat::{ChatEndpoint, Options, ToolMode};
use domain::port::{Chat, ChatMessage, LanguageModel, RequestedToolCall, ToolChoice, ToolSpec};
use serde_json::{Value, json};
use system::servers::chat::{ScriptedReply, Server};

use super::{sample_prompt, text_reply};

/// Returns a conversation in which one tool was already called.
fn sample_chat() -> Chat {
    let mut chat = sample_prompt();
    chat.tools = vec![ToolSpec {
        name: "read_page".to_owned(),
        description: "Reads a page.".to_owned(),
        parameters: json!({ "type": "object" }),
    }];
    chat.choice = ToolChoice::Allowed;
    chat.messages.push(ChatMessage::Assistant {
        text: "A page first.".to_owned(),
        calls: vec![tool_call("c1", json!({ "page": "Ann" }))],
    });
    chat.messages.push(ChatMessage::Tool {
        call: "c1".to_owned(),
        text: "Ann likes ferns.".to_owned(),
    });
    chat
}

fn tool_call(id: &str, arguments: Value) -> RequestedToolCall {
    RequestedToolCall {
        id: id.to_owned(),
        name: "read_page".to_owned(),
        arguments,
    }
}

#[tokio::test]
async fn tools_are_offered_and_called_with_the_fields_of_the_api() {
    let server = Server::start().await.unwrap();
    let function = |arguments: &str| json!({ "name": "read_page", "arguments": arguments });
    server.script_replies([ScriptedReply::Calls(json!([
        { "id": "c2", "type": "function", "function": function("{\"page\": \"Ben\"}") },
        { "id": "c3", "type": "function", "function": function("no JSON") },
        { "id": "c4", "type": "function", "function": function("") },
        { "id": "c5", "type": "function", "function": {} },
    ]))]);
    let chat = ChatEndpoint::new(&server.options()).unwrap();
    let completion = chat.complete(&sample_chat()).await.unwrap();
    let expected = [
        tool_call("c2", json!({ "page": "Ben" })),
        tool_call("c3", json!("no JSON")),
        tool_call("c4", json!({})),
    ];
    assert_eq!(completion.calls, expected);
    let request = server.script().requests.pop().unwrap();
    assert_eq!(request["tool_choice"], "auto");
    assert_eq!(request["tools"][0]["function"]["name"], "read_page");
    assert_eq!(request["response_format"], Value::Null, "a schema would forbid calls");
    let made = json!([{ "id": "c1", "type": "function", "function": function("{\"page\":\"Ann\"}") }]);
    assert_eq!(request["messages"][2]["tool_calls"], made);
    let result = json!({ "role": "tool", "tool_call_id": "c1", "content": "Ann likes ferns." });
    assert_eq!(request["messages"][3], result);

    server.script_replies([text_reply("{}")]);
    let last = Chat {
        choice: ToolChoice::Forbidden,
        ..sample_chat()
    };
    assert_eq!(chat.complete(&last).await.unwrap().calls, []);
    let request = server.script().requests.pop().unwrap();
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
    server.script_replies([
        text_reply("Ben next. {\"calls\": [{\"name\": \"read_page\", \"arguments\": {\"page\": \"Ben\"}}]}"),
        text_reply("```json\n{\"name\": \"read_page\"}\n```"),
        text_reply("{\"answer\": \"ferns\"}"),
    ]);
    let completion = chat.complete(&sample_chat()).await.unwrap();
    assert_eq!(completion.calls, [tool_call("call_2", json!({ "page": "Ben" }))]);
    assert_eq!(completion.text, "Ben next.");
    assert_eq!(
        chat.complete(&sample_chat()).await.unwrap().calls,
        [tool_call("call_2", Value::Null)]
    );
    let completion = chat.complete(&sample_chat()).await.unwrap();
    assert_eq!(
        (completion.calls, completion.text.as_str()),
        (vec![], "{\"answer\": \"ferns\"}")
    );

    let request = server.script().requests.pop().unwrap();
    assert_eq!(
        (&request["tools"], &request["tool_choice"]),
        (&Value::Null, &Value::Null)
    );
    let message_text = |at: usize| request["messages"][at]["content"].as_str().unwrap().to_owned();
    assert!(
        message_text(0).starts_with("Answer.") && message_text(0).contains("read_page: Reads a page."),
        "{request}"
    );
    assert!(
        message_text(2).contains("{\"calls\":[{\"arguments\":{\"page\":\"Ann\"},\"name\":\"read_page\"}]}"),
        "{request}"
    );
    assert_eq!(message_text(3), "Result of the call read_page:\nAnn likes ferns.");
    assert_eq!(request["messages"][3]["role"], "user");
}
