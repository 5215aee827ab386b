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

/// The `finish_reason` of a reply that failed.
const FAILED: &str = "error";

/// A reply; if there are several choices, the first one.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Reply {
    pub(super) text: String,
    pub(super) calls: Vec<Call>,
    /// Whether it was cut off, or the endpoint reported an error in it.
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
        let has_error = !answer["error"].is_null() || !choice["error"].is_null();
        Some(Reply {
            text: text_of(&message["content"]),
            calls: calls.map(|it| read_tool_call(&it["function"])).collect(),
            cut: has_error || choice["finish_reason"] == FAILED,
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
    text: String,
    /// Tool calls in the order in which they began.
    calls: Vec<StreamedCall>,
    /// The start of a line whose end has not arrived yet.
    line: Vec<u8>,
    skips_line: bool,
    ended: bool,
    /// Whether the endpoint reported an error.
    failed: bool,
}

/// A tool call of which parts have arrived.
struct StreamedCall {
    /// Its place among the calls; several calls have the same one if the endpoint does not number them.
    index: u64,
    /// Its id; empty if the endpoint sent none.
    id: String,
    call: Call,
}

#[derive(Deserialize)]
struct Part {
    #[serde(default)]
    choices: Option<Vec<PartChoice>>,
    #[serde(default)]
    error: Value,
}

#[derive(Deserialize)]
struct PartChoice {
    #[serde(default)]
    index: Option<u32>,
    #[serde(default)]
    delta: Option<Delta>,
    #[serde(default)]
    finish_reason: Option<String>,
    #[serde(default)]
    error: Value,
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
    index: Option<u64>,
    #[serde(default)]
    id: Option<String>,
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

    /// Returns the reply; a stream without an end marker, or with an error, counts as cut off.
    pub(super) fn into_reply(mut self) -> Reply {
        self.end_line();
        // The sort keeps the order of calls with the same index.
        self.calls.sort_by_key(|it| it.index);
        let calls = self.calls.into_iter().map(|it| it.call);
        Reply {
            text: self.text,
            calls: calls.filter(|it| !it.name.is_empty()).collect(),
            cut: self.failed || !self.ended,
        }
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
            self.failed |= !part.error.is_null();
            let choices = part.choices.into_iter().flatten();
            choices.for_each(|it| self.add_choice(it));
        }
    }

    fn add_choice(&mut self, choice: PartChoice) {
        if choice.index.is_some_and(|it| it > 0) {
            return;
        }
        self.failed |= !choice.error.is_null() || choice.finish_reason.as_deref() == Some(FAILED);
        self.ended |= choice.finish_reason.is_some();
        let delta = choice.delta.unwrap_or_default();
        if let Some(content) = delta.content {
            append_within_limit(&mut self.text, &text_of(&content));
        }
        for part in delta.tool_calls.into_iter().flatten() {
            self.add_call(part);
        }
    }

    fn add_call(&mut self, part: PartCall) {
        let Some(function) = part.function else { return };
        let name = function.name.unwrap_or_default();
        let id = part.id.unwrap_or_default();
        let place = match self.find_call(part.index, &id, !name.is_empty()) {
            Some(place) => place,
            None if self.calls.len() < CALLS_MAX => {
                self.calls.push(StreamedCall {
                    index: part.index.unwrap_or_default(),
                    id,
                    call: Call::default(),
                });
                self.calls.len() - 1
            }
            None => return,
        };
        let call = &mut self.calls[place].call;
        append_within_limit(&mut call.name, &name);
        append_within_limit(&mut call.arguments, &function.arguments.unwrap_or_default());
    }

    /// Returns the place of the call that a part continues: the last one with its index and id, and for a part without
    /// an id, the last one with its index. A part with a new id and a name begins a call, and so does the first part
    /// of an index. Some endpoints give every part a new id, but only the first one has the name.
    fn find_call(&self, index: Option<u64>, id: &str, has_name: bool) -> Option<usize> {
        let has_index = |it: &StreamedCall| index.is_none_or(|index| it.index == index);
        let last = self.calls.iter().rposition(has_index)?;
        if id.is_empty() {
            return Some(last);
        }
        let same = self.calls.iter().rposition(|it| has_index(it) && it.id == id);
        same.or((!has_name).then_some(last))
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

    fn reply_of_stream(stream: &str) -> Reply {
        let mut events = Events::default();
        events.parse_chunk(stream.as_bytes());
        events.into_reply()
    }

    #[test]
    fn a_stream_that_reports_an_error_is_cut_off() {
        let begun = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}\n\n";
        for error in [
            r#"{"error":{"message":"overloaded","code":502}}"#,
            r#"{"error":"overloaded","choices":null}"#,
            r#"{"choices":[{"index":0,"delta":{},"finish_reason":"error"}]}"#,
            r#"{"choices":[{"delta":{},"finish_reason":"stop","error":{"code":502}}]}"#,
        ] {
            let reply = reply_of_stream(&format!("{begun}data: {error}\n\ndata: [DONE]\n\n"));
            assert_eq!((reply.text.as_str(), reply.cut), ("Hi", true), "{error}");
        }
        let other = r#"{"error":null,"choices":[{"index":1,"delta":{},"finish_reason":"error"}]}"#;
        let reply = reply_of_stream(&format!("{begun}data: {other}\n\ndata: [DONE]\n\n"));
        assert!(!reply.cut, "the choice that is kept has no error");
    }

    #[test]
    fn parallel_calls_without_their_own_index_are_separate() {
        let event = |call: &str| {
            format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"tool_calls\":[{{{call}}}]}}}}]}}\n\n")
        };
        let expected = ["look", "find"].map(|name| Call {
            name: name.into(),
            arguments: r#"{"a":1}"#.into(),
        });
        for index in ["", r#""index":null,"#, r#""index":0,"#] {
            let mut stream = String::new();
            for part in [
                r#""id":"c1","function":{"name":"look","arguments":"{\"a\""}"#,
                r#""function":{"arguments":":1}"}"#,
                r#""id":"c2","function":{"name":"find","arguments":"{\"a\""}"#,
                r#""id":"c2","function":{"name":"","arguments":":"}"#,
                r#""id":"new","function":{"arguments":"1}"}"#,
            ] {
                stream += &event(&format!("{index}{part}"));
            }
            assert_eq!(reply_of_stream(&stream).calls, expected, "{index}");
        }
        let mut numbered = String::new();
        for part in [
            r#""index":1,"id":"c2","function":{"name":"find","arguments":"{\"a\""}"#,
            r#""index":0,"id":"c1","function":{"name":"look","arguments":"{\"a\""}"#,
            r#""index":1,"function":{"arguments":":1}"}"#,
            r#""index":0,"function":{"arguments":":1}"}"#,
        ] {
            numbered += &event(part);
        }
        assert_eq!(reply_of_stream(&numbered).calls, expected);
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
        for failed in [
            r#"{"choices":[{"finish_reason":"error","message":{"content":"Hi"}}]}"#,
            r#"{"choices":[{"message":{"content":"Hi"}}],"error":{"message":"overloaded"}}"#,
        ] {
            assert!(Reply::from_body(failed.as_bytes()).unwrap().cut, "{failed}");
        }
        for other in ["{}", "x", r#"{"choices":[]}"#] {
            assert_eq!(Reply::from_body(other.as_bytes()), None, "{other}");
        }
    }
}
