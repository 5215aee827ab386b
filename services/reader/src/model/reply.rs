//! What the model replied: one JSON object, wherever it stands among what a model says beside it.

use serde::Deserialize;
use serde_json::{Deserializer, Value};

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
            Unreadable::Form => "gave no reply that can be read",
            Unreadable::Cut => "was cut off in its reply (`max_tokens` in its `parameters` bounds it)",
        }
    }
}

#[derive(Deserialize)]
struct Object {
    answer: Value,
    #[serde(default)]
    lines: Vec<Value>,
    #[serde(default)]
    reason: Option<Value>,
}

/// Reads a reply: the last object in it that has an answer, since a model that thinks aloud ends with what it means.
pub(super) fn read(text: &str) -> Result<Reply, Unreadable> {
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
    let mut lines = Vec::new();
    for line in object.lines.iter().take(LINES_MAX).filter_map(number) {
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    Ok(Reply {
        answer: said(&object.answer, ANSWER_MAX)?,
        lines,
        reason: object.reason.and_then(|it| said(&it, REASON_MAX).ok()).flatten(),
    })
}

/// A number, also one that is written as a text.
fn number(value: &Value) -> Option<usize> {
    match value {
        Value::Number(it) => usize::try_from(it.as_u64()?).ok(),
        Value::String(it) => it.trim().parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// What is said by a text, a number, or yes or no; none by nothing.
fn said(value: &Value, most: usize) -> Result<Option<String>, Unreadable> {
    let text = match value {
        Value::Null => return Ok(None),
        Value::String(it) => it.trim().to_owned(),
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
