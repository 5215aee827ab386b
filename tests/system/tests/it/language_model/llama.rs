//! Tests with a real llama.cpp server and a small model, whose replies match schemas but have no meaning.

use std::time::Duration;

use adapters::models::endpoint::chat::{ChatEndpoint, Options, ToolMode};
use domain::port::{Chat, ChatMessage, LanguageModel, ReplyForm, RequestedToolCall, ToolChoice, ToolSpec};
use domain::{Classify, ErrorKind};
use serde_json::{Value, json};
use system::servers::llama::Llama;

use super::sample_prompt;

/// The token of the model with which a call begins; see the template of the server.
const CALL_TOKEN: u32 = 13;

/// Returns parameters with which the model stops by itself.
fn parameters_of_short_reply() -> Value {
    json!({ "temperature": 0, "max_tokens": 200 })
}

/// Returns parameters with which the model would continue for minutes.
fn parameters_of_long_reply() -> Value {
    json!({ "temperature": 0, "max_tokens": 3_900, "ignore_eos": true })
}

/// Parameters with which the model writes that many tokens, whatever they are.
fn few_tokens() -> Value {
    json!({ "temperature": 0, "max_tokens": 16, "ignore_eos": true })
}

fn open_endpoint(options: &Options) -> ChatEndpoint {
    ChatEndpoint::new(options).unwrap()
}

fn read_page() -> ToolSpec {
    let arguments = json!({ "type": "object", "required": ["page"], "additionalProperties": false,
        "properties": { "page": { "type": "string", "maxLength": 40 } } });
    ToolSpec {
        name: "read_page".to_owned(),
        description: "Reads a page.".to_owned(),
        parameters: arguments,
    }
}

async fn a_reply_keeps_to_its_schema(llama: &Llama) {
    let schema = json!({ "type": "object", "required": ["answer", "lines"], "additionalProperties": false, "properties": {
        "answer": { "enum": ["Marzipan", "Rex"] },
        "lines": { "type": "array", "items": { "enum": [1, 2] }, "minItems": 1, "maxItems": 2 } } });
    let chat = Chat {
        form: Some(ReplyForm { name: "answer", schema }),
        ..sample_prompt()
    };
    let completion = open_endpoint(&llama.options(&parameters_of_short_reply()))
        .complete(&chat)
        .await
        .unwrap();
    let reply: Value = serde_json::from_str(&completion.text).unwrap();
    assert!(reply["answer"] == "Marzipan" || reply["answer"] == "Rex", "{reply}");
    assert!(
        !reply["lines"].as_array().unwrap().is_empty() && !completion.cut,
        "{reply}"
    );
    assert!(completion.usage.prompt_tokens > 5 && completion.usage.completion_tokens > 5);

    // Without the schema, the model writes any text.
    let options = Options {
        schema: false,
        ..llama.options(&parameters_of_short_reply())
    };
    let completion = open_endpoint(&options).complete(&chat).await.unwrap();
    assert!(
        serde_json::from_str::<Value>(&completion.text).is_err(),
        "{completion:?}"
    );
}

/// A model of this size calls a tool only if a grammar forces it. The product's own code makes the call and reports
/// the result.
async fn a_tool_is_called_in_text(llama: &Llama) {
    let calls = json!({ "type": "object", "required": ["calls"], "additionalProperties": false, "properties": { "calls": {
        "type": "array", "minItems": 1, "maxItems": 1, "items": {
            "type": "object", "required": ["name", "arguments"], "additionalProperties": false,
            "properties": { "name": { "enum": ["read_page"] }, "arguments": read_page().parameters } } } } });
    let options = Options {
        tools: ToolMode::Text,
        ..llama.options(&json!({ "temperature": 0, "max_tokens": 200, "json_schema": calls }))
    };
    let mut chat = sample_prompt();
    chat.tools = vec![read_page()];
    chat.choice = ToolChoice::Required;
    let completion = open_endpoint(&options).complete(&chat).await.unwrap();
    let call = &completion.calls[0];
    assert_eq!(
        (completion.calls.len(), call.name.as_str()),
        (1, "read_page"),
        "{completion:?}"
    );
    assert!(call.arguments["page"].is_string(), "{completion:?}");

    let chat_with_result = with_result(chat, call);
    let options = Options {
        tools: ToolMode::Text,
        ..llama.options(&parameters_of_short_reply())
    };
    let completion = open_endpoint(&options).complete(&chat_with_result).await.unwrap();
    // Nothing makes a model of this size keep from another call; a reply it is.
    assert!(
        !completion.text.is_empty() || !completion.calls.is_empty(),
        "{completion:?}"
    );
}

/// The server writes the tools as its template says, and makes calls of what the model writes between the marks of the template.
/// That the model begins with a call is forced, since one of this size does not by itself.
async fn a_tool_is_called_natively(llama: &Llama) {
    let begins_with_a_call =
        json!({ "temperature": 0, "max_tokens": 60, "logit_bias": [[CALL_TOKEN, 20]], "parallel_tool_calls": false });
    let options = |parameters: &Value| Options {
        tools: ToolMode::Native,
        schema: false,
        ..llama.options(parameters)
    };
    let mut chat = sample_prompt();
    let without_tools = open_endpoint(&options(&few_tokens())).complete(&chat).await.unwrap();
    assert_eq!(without_tools.calls, []);

    chat.tools = vec![read_page()];
    chat.choice = ToolChoice::Required;
    let asked = open_endpoint(&options(&begins_with_a_call))
        .complete(&chat)
        .await
        .unwrap();
    let call = asked.calls.first().unwrap();
    assert_eq!(call.name, "read_page", "{asked:?}");
    assert!(call.arguments["page"].is_string() && !call.id.is_empty(), "{asked:?}");
    let shown = asked.usage.prompt_tokens;
    assert!(
        shown > without_tools.usage.prompt_tokens + 20,
        "the tools were left out: {asked:?}"
    );

    // A call and its result are read, and a call that is forbidden is not made.
    let chat_with_result = with_result(chat, call);
    let replied = open_endpoint(&options(&few_tokens()))
        .complete(&chat_with_result)
        .await
        .unwrap();
    assert_eq!(replied.calls, [], "{replied:?}");
    assert!(!replied.text.is_empty(), "{replied:?}");
    assert!(
        replied.usage.prompt_tokens > shown + 10,
        "the result was left out: {replied:?}"
    );
}

/// Returns a chat after a call, with its result; no other call is allowed.
fn with_result(mut chat: Chat, call: &RequestedToolCall) -> Chat {
    chat.messages.push(ChatMessage::Assistant {
        text: String::new(),
        calls: vec![call.clone()],
    });
    chat.messages.push(ChatMessage::Tool {
        call: call.id.clone(),
        text: "Ann likes ferns.".to_owned(),
    });
    chat.choice = ToolChoice::Forbidden;
    chat
}

async fn a_call_that_takes_too_long_is_ended(llama: &Llama) {
    let wrong = Options {
        key: "wrong".into(),
        ..llama.options(&parameters_of_short_reply())
    };
    let error = open_endpoint(&wrong).complete(&sample_prompt()).await.unwrap_err();
    assert!(error.detail().contains("401: check `key`"), "{error:?}");
    let options = Options {
        timeout_secs: 2,
        schema: false,
        ..llama.options(&parameters_of_long_reply())
    };
    let error = open_endpoint(&options).complete(&sample_prompt()).await.unwrap_err();
    assert_eq!((error.kind(), error.detail()), (ErrorKind::Timeout, "it took too long"));
}

/// A call ends when its caller stops waiting. The server has one slot, which is free for the next call long before the
/// first reply could have been complete.
async fn a_call_ends_when_nobody_waits(llama: &Llama) {
    let left = Options {
        schema: false,
        ..llama.options(&parameters_of_long_reply())
    };
    let left = open_endpoint(&left);
    let chat = sample_prompt();
    let waited = tokio::time::timeout(Duration::from_secs(2), left.complete(&chat)).await;
    assert!(waited.is_err(), "it ended by itself: {waited:?}");
    let next = Options {
        timeout_secs: 20,
        schema: false,
        ..llama.options(&json!({ "temperature": 0, "max_tokens": 8 }))
    };
    let completion = open_endpoint(&next).complete(&chat).await.unwrap();
    assert!(completion.usage.completion_tokens <= 8, "{completion:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_real_server_follows_schemas_and_its_failures_are_classified() {
    let Some(llama) = Llama::start().await.unwrap() else {
        return;
    };
    a_reply_keeps_to_its_schema(&llama).await;
    a_tool_is_called_in_text(&llama).await;
    a_tool_is_called_natively(&llama).await;
    a_call_that_takes_too_long_is_ended(&llama).await;
    a_call_ends_when_nobody_waits(&llama).await;
}
