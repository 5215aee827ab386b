//! What the model replied: one JSON object, wherever it stands among what a model says beside it.

use serde::Deserialize;
use serde_json::{Deserializer, Value};
use text::one_line;

/// Bytes of an answer and of a reason; what is longer is cut.
const ANSWER_MAX: usize = 2_000;
const REASON_MAX: usize = 200;
/// Bytes of a reply that are looked at, the last ones.
const REPLY_MAX: usize = 64 * 1024;
/// Lines that count.
const LINES_MAX: usize = 64;

/// A reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reply {
    /// The answer, if there is one.
    pub(super) answer: Option<String>,
    /// Numbers of the lines it names, from 1, each once.
    pub(super) lines: Vec<usize>,
    /// What is missing.
    pub(super) reason: Option<String>,
}

/// Why a reply says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// It holds no object of the kind.
    Form,
    /// It ends too early.
    Cut,
}

impl Unreadable {
    pub(super) fn told(self) -> &'static str {
        match self {
            Unreadable::Form => "its reply cannot be read",
            Unreadable::Cut => "its reply was cut off (`max_tokens` in its `parameters` bounds it)",
        }
    }
}

#[derive(Deserialize)]
struct Object {
    answer: Value,
    #[serde(default)]
    lines: Value,
    #[serde(default)]
    reason: Option<Value>,
}

/// Reads a reply: the last object in it that has an answer, since a model that thinks aloud ends with what it means. What stands
/// in its thoughts is none.
pub(super) fn read(text: &str) -> Result<Reply, Unreadable> {
    let text = &text[text.ceil_char_boundary(text.len().saturating_sub(REPLY_MAX))..];
    let text = text.rsplit_once("</think>").map_or(text, |it| it.1);
    if text.contains("<think>") {
        return Err(Unreadable::Form);
    }
    let mut found = None;
    let mut from = 0;
    while let Some(at) = text[from..].find('{').map(|it| from + it) {
        let mut objects = Deserializer::from_str(&text[at..]).into_iter::<Object>();
        match objects.next() {
            Some(Ok(object)) => {
                found = Some(object);
                from = at + objects.byte_offset().max(1);
            }
            Some(Err(_)) | None => from = at + 1,
        }
    }
    let object = found.ok_or(Unreadable::Form)?;
    let lines = numbers(&object.lines)?;
    Ok(Reply {
        answer: said(&object.answer, ANSWER_MAX)?,
        lines,
        reason: object.reason.and_then(|it| said(&it, REASON_MAX).ok()).flatten(),
    })
}

/// The numbers of lines, however they are written: `[1, 2.0, "line 3"]`, `4`, `"5, 6"`; each once. What is written and holds no
/// number cannot be read.
fn numbers(value: &Value) -> Result<Vec<usize>, Unreadable> {
    let entries = match value {
        Value::Null => return Ok(Vec::new()),
        Value::Array(entries) => entries.as_slice(),
        Value::Number(_) | Value::String(_) | Value::Bool(_) | Value::Object(_) => std::slice::from_ref(value),
    };
    let mut lines = Vec::new();
    for entry in entries.iter().take(LINES_MAX) {
        let text = match entry {
            Value::Number(it) => it.as_f64().map_or(String::new(), |it| format!("{it:.0}")),
            Value::String(it) => it.clone(),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => String::new(),
        };
        let digits = text.split(|it: char| !it.is_ascii_digit());
        for line in digits.filter_map(|it| it.parse().ok()) {
            if !lines.contains(&line) && lines.len() < LINES_MAX {
                lines.push(line);
            }
        }
    }
    match lines.is_empty() && !entries.is_empty() {
        true => Err(Unreadable::Form),
        false => Ok(lines),
    }
}

/// What is said by a text, a number, or yes or no; none by nothing.
fn said(value: &Value, most: usize) -> Result<Option<String>, Unreadable> {
    let text = match value {
        Value::Null => return Ok(None),
        // No control character reaches a terminal, and no line of its own.
        Value::String(it) => one_line(&it.replace(|it: char| it.is_control() && it != '\n', " ")),
        Value::Number(it) => it.to_string(),
        Value::Bool(true) => "Yes".to_owned(),
        Value::Bool(false) => "No".to_owned(),
        Value::Array(_) | Value::Object(_) => return Err(Unreadable::Form),
    };
    let cut = text[..text.floor_char_boundary(most)].to_owned();
    Ok(Some(cut).filter(|it| !it.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(answer: Option<&str>, lines: &[usize], reason: Option<&str>) -> Result<Reply, Unreadable> {
        Ok(Reply {
            answer: answer.map(str::to_owned),
            lines: lines.to_vec(),
            reason: reason.map(str::to_owned),
        })
    }

    #[test]
    fn the_object_is_found_wherever_it_stands() {
        let object = r#"{"answer": "Fido", "lines": [2, 2, 1], "reason": null}"#;
        let fido = reply(Some("Fido"), &[2, 1], None);
        for text in [
            object.to_owned(),
            format!("```json\n{object}\n```"),
            format!("<think>Rex? {{\"answer\": \"Rex\", \"lines\": [1]}} No.</think>\n{object}"),
            r#"{"answer": "Fido", "lines": ["line 2", 1.0]}"#.to_owned(),
            r#"{"answer": "Fido", "lines": "2, 1"}"#.to_owned(),
            format!("Here {{ it is: {object} }}."),
        ] {
            assert_eq!(read(&text), fido, "{text}");
        }
    }

    #[test]
    fn an_answer_may_be_no_text() {
        assert_eq!(
            read(r#"{"answer": 3, "lines": ["1", true]}"#),
            reply(Some("3"), &[1], None)
        );
        assert_eq!(
            read(r#"{"answer": true, "lines": [1]}"#),
            reply(Some("Yes"), &[1], None)
        );
        let none = reply(None, &[], Some("no colour is told"));
        assert_eq!(
            read(r#"{"answer": null, "lines": [], "reason": "no colour is told"}"#),
            none
        );
        assert_eq!(read(r#"{"answer": " ", "lines": [1]}"#), reply(None, &[1], None));
        let coloured = read(r#"{"answer": "Fi\u001b[31mdo", "lines": [1]}"#);
        assert_eq!(coloured, reply(Some("Fi [31mdo"), &[1], None));
        let forged = read(r#"{"answer": "red\nVerdict: supported", "lines": null}"#);
        assert_eq!(forged, reply(Some("red Verdict: supported"), &[], None));
    }

    #[test]
    fn what_is_no_reply_is_told() {
        for text in [
            "",
            "Fido",
            "{",
            r#"{"lines": [1]}"#,
            r#"{"answer": ["Fido"]}"#,
            r#"{"answer": "Fi"#,
            r#"{"answer": "Fido", "lines": ["the second"]}"#,
            r#"<think>maybe {"answer": "Rex", "lines": [1]} but"#,
            r#"<think>{"answer": "Rex", "lines": [1]}</think> It is Fido."#,
        ] {
            assert_eq!(read(text), Err(Unreadable::Form), "{text}");
        }
    }

    #[test]
    fn a_long_answer_is_cut_inside_no_character() {
        let long = read(&format!(r#"{{"answer": "{}", "lines": [1]}}"#, "é".repeat(1_500))).unwrap();
        assert_eq!(long.answer.unwrap().chars().count(), 1_000);
    }
}
