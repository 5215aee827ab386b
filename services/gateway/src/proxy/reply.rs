//! The reply of a language model, extracted from a forwarded response: from a complete one, or from a stream while it
//! is forwarded.

use serde::Deserialize;
use serde_json::Value;

use super::request::text_of;

/// Maximum number of tool calls in one reply that are stored, and maximum number of stored bytes of a reply.
const CALLS_MAX: usize = 64;
const KEPT_BYTES_MAX: usize = 4 << 20;
/// Longest line of a stream that is parsed; a longer line is forwarded without being parsed.
const LINE_BYTES_MAX: usize = 4 << 20;

/// A reply; if there are several choices, the first one.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Reply {
    pub(super) text: String,
    pub(super) calls: Vec<Call>,
    /// Whether it was cut off.
    pub(super) cut: bool,
}

/// A tool call that the model requests.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Call {
    pub(super) name: String,
    /// JSON, as the model wrote it.
    pub(super) arguments: String,
}

impl Reply {
    /// Parses a complete response; `None` if it is not one.
    pub(super) fn from_body(body: &[u8]) -> Option<Reply> {
        let answer: Value = serde_json::from_slice(body).ok()?;
        let choices = answer["choices"].as_array()?;
        let choice = choices.iter().find(|it| it["index"] == 0).or(choices.first())?;
        let message = &choice["message"];
        let calls = message["tool_calls"].as_array().into_iter().flatten().take(CALLS_MAX);
        Some(Reply {
            text: text_of(&message["content"]),
            calls: calls.map(|it| read_tool_call(&it["function"])).collect(),
            cut: false,
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.trim().is_empty() && self.calls.is_empty()
    }
}

fn read_tool_call(function: &Value) -> Call {
    let text = |name: &str| function[name].as_str().unwrap_or_default().to_owned();
    Call {
        name: text("name"),
        arguments: text("arguments"),
    }
}

/// Parses a stream of server-sent events while it is forwarded.
#[derive(Default)]
pub(super) struct Events {
    reply: Reply,
    /// The start of a line whose end has not arrived yet.
    line: Vec<u8>,
    skips_line: bool,
    ended: bool,
}

#[derive(Deserialize)]
struct Part {
    #[serde(default)]
    choices: Vec<PartChoice>,
}

#[derive(Deserialize)]
struct PartChoice {
    #[serde(default)]
    index: u32,
    #[serde(default)]
    delta: Option<Delta>,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Default, Deserialize)]
struct Delta {
    #[serde(default)]
    content: Option<Value>,
    #[serde(default)]
    tool_calls: Option<Vec<PartCall>>,
}

#[derive(Deserialize)]
struct PartCall {
    #[serde(default)]
    index: usize,
    #[serde(default)]
    function: Option<Function>,
}

#[derive(Deserialize)]
struct Function {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    arguments: Option<String>,
}

impl Events {
    /// Parses the next bytes.
    pub(super) fn parse_chunk(&mut self, bytes: &[u8]) {
        let mut lines = bytes.split(|it| *it == b'\n');
        let Some(first) = lines.next() else { return };
        self.extend_line(first);
        for next in lines {
            self.end_line();
            self.extend_line(next);
        }
    }

    /// Returns the reply; a stream without an end marker counts as cut off.
    pub(super) fn into_reply(mut self) -> Reply {
        self.end_line();
        self.reply.cut = !self.ended;
        self.reply.calls.retain(|it| !it.name.is_empty());
        self.reply
    }

    fn extend_line(&mut self, bytes: &[u8]) {
        self.skips_line |= self.line.len() + bytes.len() > LINE_BYTES_MAX;
        match self.skips_line {
            true => self.line.clear(),
            false => self.line.extend_from_slice(bytes),
        }
    }

    fn end_line(&mut self) {
        self.skips_line = false;
        let line = std::mem::take(&mut self.line);
        let Some(data) = line.strip_prefix(b"data:") else {
            return;
        };
        if data.trim_ascii() == b"[DONE]" {
            self.ended = true;
        } else if let Ok(part) = serde_json::from_slice::<Part>(data) {
            part.choices.into_iter().for_each(|it| self.add_choice(it));
        }
    }

    fn add_choice(&mut self, choice: PartChoice) {
        if choice.index > 0 {
            return;
        }
        self.ended |= choice.finish_reason.is_some();
        let delta = choice.delta.unwrap_or_default();
        if let Some(content) = delta.content {
            append_within_limit(&mut self.reply.text, &text_of(&content));
        }
        for part in delta.tool_calls.into_iter().flatten() {
            let Some(function) = part.function.filter(|_| part.index < CALLS_MAX) else {
                continue;
            };
            if self.reply.calls.len() <= part.index {
                self.reply.calls.resize_with(part.index + 1, Call::default);
            }
            let call = &mut self.reply.calls[part.index];
            append_within_limit(&mut call.name, &function.name.unwrap_or_default());
            append_within_limit(&mut call.arguments, &function.arguments.unwrap_or_default());
        }
    }
}

/// Appends a part of a text, up to the size limit.
fn append_within_limit(text: &mut String, part: &str) {
    let room = KEPT_BYTES_MAX.saturating_sub(text.len());
    text.push_str(&part[..part.floor_char_boundary(room)]);
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = concat!(
        ": a comment\n\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\r\n\r\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Grüß \"}},{\"index\":1,\"delta\":{\"content\":\"other\"}}]}\n\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Gott\"}}]}\n\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"function\":{\"name\":\"look\",\"arguments\":\"{\\\"a\\\"\"}}]}}]}\n\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\":1}\"}}]}}]}\n\n",
        "data: {\"choices\":[],\"usage\":{}}\n\n",
    );

    fn look_call() -> Call {
        Call {
            name: "look".into(),
            arguments: r#"{"a":1}"#.into(),
        }
    }

    #[test]
    fn a_stream_is_assembled_wherever_its_chunks_are_split() {
        for size in [1, 2, 3, 7, 64, STREAM.len()] {
            let mut events = Events::default();
            STREAM.as_bytes().chunks(size).for_each(|it| events.parse_chunk(it));
            let expected = Reply {
                text: "Grüß Gott".into(),
                calls: vec![look_call()],
                cut: true,
            };
            assert_eq!(events.into_reply(), expected, "{size}");
        }
        for end in ["data: [DONE]", "data:{\"choices\":[{\"finish_reason\":\"stop\"}]}\n\n"] {
            let mut events = Events::default();
            events.parse_chunk(STREAM.as_bytes());
            events.parse_chunk(end.as_bytes());
            assert!(!events.into_reply().cut, "{end}");
        }
    }

    #[test]
    fn the_memory_for_an_endless_line_is_bounded() {
        let mut events = Events::default();
        for _ in 0..10 {
            events.parse_chunk(&vec![b'x'; LINE_BYTES_MAX / 2]);
        }
        assert!(events.line.len() <= LINE_BYTES_MAX);
        events.parse_chunk(b"\ndata: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n");
        assert_eq!(events.into_reply().text, "Hi");
    }

    #[test]
    fn a_complete_response_is_parsed() {
        let answer = r#"{"choices":[{"index":0,"message":{"content":"Hi","tool_calls":[
            {"id":"c","type":"function","function":{"name":"look","arguments":"{\"a\":1}"}}]}}]}"#;
        let expected = Reply {
            text: "Hi".into(),
            calls: vec![look_call()],
            cut: false,
        };
        assert_eq!(Reply::from_body(answer.as_bytes()), Some(expected));
        assert!(
            Reply::from_body(br#"{"choices":[{"message":{"content":null}}]}"#)
                .unwrap()
                .is_empty()
        );
        for other in ["{}", "x", r#"{"choices":[]}"#] {
            assert_eq!(Reply::from_body(other.as_bytes()), None, "{other}");
        }
    }
}
