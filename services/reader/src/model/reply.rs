//! What the model replied: one JSON object, wherever it stands among what a model says beside it.

use serde::Deserialize;
use serde_json::Value;
use text::model_reply::{after_thoughts, last_object};
use text::one_line;

/// Bytes of an answer and of a reason; what is longer is cut.
const ANSWER_MAX: usize = 2_000;
const REASON_MAX: usize = 200;
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

#[derive(Deserialize)]
struct Object {
    answer: Value,
    #[serde(default)]
    lines: Value,
    #[serde(default)]
    reason: Option<Value>,
}

/// Reads the last object of a reply that has an answer; `None` if there is none that can be read.
pub(super) fn read(reply: &str) -> Option<Reply> {
    let (_, object) = last_object::<Object>(after_thoughts(reply)?)?;
    Some(Reply {
        answer: said(&object.answer, ANSWER_MAX)?,
        lines: numbers(&object.lines)?,
        reason: object.reason.and_then(|it| said(&it, REASON_MAX)).flatten(),
    })
}

/// The numbers of lines, however they are written: `[1, 2.0, "line 3"]`, `4`, `"5, 6"`; each once. What is written and holds no
/// number cannot be read.
pub(super) fn numbers(value: &Value) -> Option<Vec<usize>> {
    let entries = match value {
        Value::Null => return Some(Vec::new()),
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
        true => None,
        false => Some(lines),
    }
}

/// What is said by a text, a number, or yes or no; none by nothing.
fn said(value: &Value, most: usize) -> Option<Option<String>> {
    let text = match value {
        Value::Null => return Some(None),
        // No control character reaches a terminal, and no line of its own.
        Value::String(it) => one_line(&it.replace(|it: char| it.is_control() && it != '\n', " ")),
        Value::Number(it) => it.to_string(),
        Value::Bool(true) => "Yes".to_owned(),
        Value::Bool(false) => "No".to_owned(),
        Value::Array(_) | Value::Object(_) => return None,
    };
    let cut = text[..text.floor_char_boundary(most)].to_owned();
    Some(Some(cut).filter(|it| !it.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(answer: Option<&str>, lines: &[usize], reason: Option<&str>) -> Option<Reply> {
        Some(Reply {
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
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn a_long_answer_is_cut_inside_no_character() {
        let long = read(&format!(r#"{{"answer": "{}", "lines": [1]}}"#, "é".repeat(1_500))).unwrap();
        assert_eq!(long.answer.unwrap().chars().count(), 1_000);
    }
}
