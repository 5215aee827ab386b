//! The wire format of OpenAI's chat completions API. Only the fields that are needed are read, and leniently, because
//! endpoints differ in the others.

use std::iter::once;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::port::{Chat, ChatMessage, Picture, ReplyForm, RequestedToolCall, ToolChoice, ToolSpec, Usage};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{CALLS_MAX, Options, ToolMode, text_tools};

/// Fields that every request sets itself.
pub(super) const OWN: [&str; 6] = ["model", "messages", "stream", "response_format", "tools", "tool_choice"];

#[derive(Deserialize)]
pub(super) struct ChatResponse {
    pub(super) choices: Vec<Choice>,
    #[serde(default)]
    usage: Value,
}

#[derive(Deserialize)]
pub(super) struct Choice {
    pub(super) message: Message,
    #[serde(default)]
    finish_reason: Value,
}

#[derive(Deserialize)]
pub(super) struct Message {
    #[serde(default)]
    content: Value,
    #[serde(default)]
    tool_calls: Value,
}

impl ChatResponse {
    pub(super) fn token_usage(&self) -> Usage {
        Usage {
            prompt_tokens: parse_count(&self.usage["prompt_tokens"]),
            completion_tokens: parse_count(&self.usage["completion_tokens"]),
        }
    }
}

impl Choice {
    pub(super) fn is_cut(&self) -> bool {
        self.finish_reason == "length"
    }
}

impl Message {
    /// Returns the text; several parts are joined.
    pub(super) fn text(&self) -> String {
        match &self.content {
            Value::String(text) => text.clone(),
            Value::Array(parts) => parts.iter().filter_map(|it| it["text"].as_str()).collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
        }
    }

    /// Returns the tool calls. Arguments that are not JSON are kept as a string, so that the tool can report the error.
    pub(super) fn parse_tool_calls(&self) -> Vec<RequestedToolCall> {
        let calls = self.tool_calls.as_array().map(Vec::as_slice).unwrap_or_default();
        let read = |(at, it): (usize, &Value)| {
            let function = &it["function"];
            let given = &function["arguments"];
            let arguments = match given.as_str() {
                Some(text) if text.trim().is_empty() => json!({}),
                Some(text) => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
                None => given.clone(),
            };
            Some(RequestedToolCall {
                id: it["id"].as_str().map_or_else(|| format!("call_{at}"), str::to_owned),
                name: function["name"].as_str()?.to_owned(),
                arguments,
            })
        };
        calls.iter().enumerate().take(CALLS_MAX).filter_map(read).collect()
    }
}

/// Returns a count, written as 12 or as 12.0; 0 if it is not a number.
fn parse_count(value: &Value) -> u32 {
    let count = value.as_u64().or_else(|| value.as_f64().map(|it| it.max(0.0) as u64));
    count.map_or(0, |it| u32::try_from(it).unwrap_or(u32::MAX))
}

/// Returns the body of a request.
pub(super) fn request_body(options: &Options, chat: &Chat) -> Value {
    let mut request: Map<String, Value> = options.parameters.clone().into_iter().collect();
    for bound in ["max_tokens", "max_completion_tokens"] {
        let set = request.get(bound).and_then(Value::as_u64);
        if let (Some(set), Some(most)) = (set, chat.completion_max) {
            request.insert(bound.to_owned(), json!(set.min(most.into())));
        }
    }
    let as_text = options.tools == ToolMode::Text;
    let messages = match as_text {
        true => text_tools::write_tools_into_text(chat),
        false => chat.messages.clone(),
    };
    let messages: Vec<Value> = messages.iter().map(message_to_json).collect();
    request.insert("model".to_owned(), json!(options.model));
    request.insert("messages".to_owned(), json!(messages));
    if !chat.tools.is_empty() && !as_text {
        let tools: Vec<Value> = chat.tools.iter().map(tool_to_json).collect();
        request.insert("tools".to_owned(), json!(tools));
        request.insert("tool_choice".to_owned(), json!(tool_choice_name(chat.choice)));
    }
    // A schema would forbid a reply that consists of tool calls.
    let calls_nothing = chat.tools.is_empty() || chat.choice == ToolChoice::Forbidden;
    if let Some(form) = chat.form.as_ref().filter(|_| options.schema && calls_nothing) {
        request.insert("response_format".to_owned(), response_format(form));
    }
    Value::Object(request)
}

fn message_to_json(message: &ChatMessage) -> Value {
    match message {
        ChatMessage::System { text } => json!({ "role": "system", "content": text }),
        ChatMessage::User { text, pictures } if pictures.is_empty() => json!({ "role": "user", "content": text }),
        ChatMessage::User { text, pictures } => {
            let text = json!({ "type": "text", "text": text });
            let parts: Vec<Value> = once(text).chain(pictures.iter().map(picture_to_json)).collect();
            json!({ "role": "user", "content": parts })
        }
        ChatMessage::Assistant { text, calls } if calls.is_empty() => json!({ "role": "assistant", "content": text }),
        ChatMessage::Assistant { text, calls } => {
            let calls: Vec<Value> = calls.iter().map(tool_call_to_json).collect();
            json!({ "role": "assistant", "content": text, "tool_calls": calls })
        }
        ChatMessage::Tool { call, text } => json!({ "role": "tool", "tool_call_id": call, "content": text }),
    }
}

/// Returns a picture as an inline part of a message.
fn picture_to_json(picture: &Picture) -> Value {
    let bytes = STANDARD.encode(picture.bytes());
    let url = format!("data:{};base64,{bytes}", picture.kind().media_type());
    json!({ "type": "image_url", "image_url": { "url": url } })
}

fn tool_call_to_json(call: &RequestedToolCall) -> Value {
    let arguments = call
        .arguments
        .as_str()
        .map_or_else(|| call.arguments.to_string(), str::to_owned);
    json!({ "id": call.id, "type": "function", "function": { "name": call.name, "arguments": arguments } })
}

fn tool_to_json(tool: &ToolSpec) -> Value {
    let function = json!({ "name": tool.name, "description": tool.description, "parameters": tool.parameters });
    json!({ "type": "function", "function": function })
}

fn tool_choice_name(choice: ToolChoice) -> &'static str {
    match choice {
        ToolChoice::Allowed => "auto",
        ToolChoice::Required => "required",
        ToolChoice::Forbidden => "none",
    }
}

fn response_format(form: &ReplyForm) -> Value {
    let schema = json!({ "name": form.name, "strict": true, "schema": form.schema });
    json!({ "type": "json_schema", "json_schema": schema })
}

#[cfg(test)]
mod tests {
    use domain::port::ModelRole;

    use super::*;

    #[test]
    fn a_picture_becomes_a_message_part_and_a_message_without_one_stays_plain_text() {
        let options = Options::default();
        let chat = Chat::new(ModelRole::See, "Describe.", "The picture:".to_owned());
        let plain = request_body(&options, &chat);
        assert_eq!(
            plain["messages"][1],
            json!({ "role": "user", "content": "The picture:" })
        );
        let picture = Picture::new(b"GIF89a!".to_vec()).unwrap();
        for tools in [ToolMode::Native, ToolMode::Text] {
            let options = Options {
                tools,
                ..options.clone()
            };
            let shown = request_body(&options, &chat.clone().with_picture(picture.clone()));
            assert_eq!(shown["messages"][0], plain["messages"][0]);
            assert_eq!(
                shown["messages"][1]["content"],
                json!([
                    { "type": "text", "text": "The picture:" },
                    { "type": "image_url", "image_url": { "url": "data:image/gif;base64,R0lGODlhIQ==" } }
                ])
            );
        }
    }
}
