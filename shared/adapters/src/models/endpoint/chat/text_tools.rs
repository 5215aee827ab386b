//! Tools for endpoints that do not support them: the catalogue is written into the system message, calls and results
//! into the text of the other messages.

use domain::port::{Chat, ChatMessage, RequestedToolCall, ToolChoice};
use serde::Deserialize;
use serde_json::{Value, json};
use text::model_text::model_reply::{after_thoughts, last_object};

use super::CALLS_MAX;

/// A reply that calls tools.
#[derive(Deserialize)]
struct Calling {
    calls: Vec<Written>,
}

/// A call, as written in the text.
#[derive(Deserialize)]
struct Written {
    name: String,
    #[serde(default)]
    arguments: Value,
}

/// Returns the messages, with tools, calls and results moved into their text.
pub(super) fn write_tools_into_text(chat: &Chat) -> Vec<ChatMessage> {
    let mut out: Vec<ChatMessage> = Vec::with_capacity(chat.messages.len());
    for message in &chat.messages {
        let message = match message {
            ChatMessage::System { text } if out.is_empty() => ChatMessage::System {
                text: format!("{text}{}", describe_tools(chat)),
            },
            ChatMessage::Assistant { text, calls } if !calls.is_empty() => ChatMessage::Assistant {
                text: [text.as_str(), &format_tool_calls(calls)].join("\n").trim().to_owned(),
                calls: Vec::new(),
            },
            ChatMessage::Tool { call, text } => ChatMessage::User {
                text: format!("Result of the call {}:\n{text}", name_of(chat, call)),
                pictures: Vec::new(),
            },
            ChatMessage::System { .. } | ChatMessage::User { .. } | ChatMessage::Assistant { .. } => message.clone(),
        };
        match (out.last_mut(), message) {
            // Some models refuse two user messages in a row.
            (
                Some(ChatMessage::User {
                    text: last,
                    pictures: shown,
                }),
                ChatMessage::User { text, pictures },
            ) => {
                *last = format!("{last}\n\n{text}");
                shown.extend(pictures);
            }
            (_, message) => out.push(message),
        }
    }
    out
}

/// Returns the text before the tool calls of a reply, and the calls. Returns `None` if it has no calls.
pub(super) fn parse_tool_calls(chat: &Chat, reply: &str) -> Option<(String, Vec<RequestedToolCall>)> {
    let answer = after_thoughts(reply)?;
    let (at, calls) = match last_object::<Calling>(answer) {
        Some((at, calling)) => (at, calling.calls),
        // A model may write a single call without the list around it.
        None => last_object::<Written>(answer).map(|(at, one)| (at, vec![one]))?,
    };
    let earlier_calls = chat.messages.iter().map(|it| match it {
        ChatMessage::Assistant { calls, .. } => calls.len(),
        ChatMessage::System { .. } | ChatMessage::User { .. } | ChatMessage::Tool { .. } => 0,
    });
    let first = earlier_calls.sum::<usize>() + 1;
    let numbered = calls.into_iter().take(CALLS_MAX).zip(first..);
    let calls = numbered.map(|(it, number)| RequestedToolCall {
        id: format!("call_{number}"),
        name: it.name,
        arguments: it.arguments,
    });
    Some((answer[..at].trim().to_owned(), calls.collect()))
}

fn describe_tools(chat: &Chat) -> String {
    let duty = match chat.choice {
        _ if chat.tools.is_empty() => return String::new(),
        ToolChoice::Forbidden => return String::new(),
        ToolChoice::Allowed => "To call tools, reply with one JSON object and nothing else",
        ToolChoice::Required => "Call at least one: reply with one JSON object and nothing else",
    };
    let mut out = format!(
        "\n\nThere are tools. {duty}:\n{{\"calls\": [{{\"name\": NAME, \"arguments\": {{...}}}}]}}\n\
         The results follow in the next message.\n"
    );
    for tool in &chat.tools {
        out += &format!(
            "\n{}: {}\nArguments: {}\n",
            tool.name, tool.description, tool.parameters
        );
    }
    out
}

fn format_tool_calls(calls: &[RequestedToolCall]) -> String {
    let one = |it: &RequestedToolCall| json!({ "name": it.name, "arguments": it.arguments });
    json!({ "calls": calls.iter().map(one).collect::<Vec<Value>>() }).to_string()
}

/// Returns the name of the tool of a call.
fn name_of(chat: &Chat, id: &str) -> String {
    let calls = chat.messages.iter().filter_map(|it| match it {
        ChatMessage::Assistant { calls, .. } => Some(calls),
        ChatMessage::System { .. } | ChatMessage::User { .. } | ChatMessage::Tool { .. } => None,
    });
    let call = calls.flatten().find(|it| it.id == id);
    call.map_or_else(|| id.to_owned(), |it| it.name.clone())
}
