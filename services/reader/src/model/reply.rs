//! The reply of a model: one JSON object, anywhere in the text.

use domain::evidence::AnswerStyle;
use domain::port::ReplyForm;
use serde::Deserialize;
use serde_json::{Value, json};
use text::model_text::model_reply::{after_thoughts, last_object};
use text::one_line;

/// Maximum number of bytes of an answer and of a reason; the rest is cut.
const ANSWER_MAX: usize = 2_000;
const REASON_MAX: usize = 200;
/// Maximum number of lines that count.
const LINES_MAX: usize = 64;
/// Maximum number of sentences of a free answer, and maximum number of bytes of each; the rest is cut.
const SENTENCES_MAX: usize = 8;
const SENTENCE_MAX: usize = 500;

/// A reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reply {
    /// The answer: one statement, or several sentences in the free style; empty if there is no answer.
    pub(super) statements: Vec<Statement>,
    /// Whether the model concludes the answer because no line states it; only in the style that allows conclusions.
    pub(super) is_concluded: bool,
    /// Whether the model gives two sides of which only one can be true.
    pub(super) disagrees: bool,
    /// Reason for which there is no answer.
    pub(super) reason: Option<String>,
}

/// A part of an answer with its own supporting lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Statement {
    pub(super) text: String,
    /// Numbers of the lines that the statement names, from 1, each once.
    pub(super) lines: Vec<usize>,
}

/// A reply that chooses lines.
#[derive(Deserialize)]
struct Lines {
    lines: Value,
}

#[derive(Deserialize)]
struct Object {
    answer: Value,
    #[serde(default)]
    lines: Value,
    #[serde(default)]
    concluded: Value,
    #[serde(default)]
    disagree: Value,
    #[serde(default)]
    reason: Option<Value>,
}

#[derive(Deserialize)]
struct FreeObject {
    sentences: Vec<Sentence>,
    #[serde(default)]
    disagree: Value,
    #[serde(default)]
    reason: Option<Value>,
}

#[derive(Deserialize)]
struct Sentence {
    text: Value,
    #[serde(default)]
    lines: Value,
}

/// Returns the last object of a reply that contains an answer, or `None` if there is no readable one. A free answer may
/// also have the form of the other styles.
pub(super) fn parse_answer(reply: &str, style: AnswerStyle) -> Option<Reply> {
    let text = after_thoughts(reply)?;
    let free = || last_object::<FreeObject>(text).and_then(|(_, it)| read_free_answer(it));
    match style {
        AnswerStyle::Free => free().or_else(|| parse_single_answer(text, style)),
        AnswerStyle::Short | AnswerStyle::Infer => parse_single_answer(text, style),
    }
}

fn parse_single_answer(text: &str, style: AnswerStyle) -> Option<Reply> {
    let (_, object) = last_object::<Object>(text)?;
    let lines = read_line_numbers(&object.lines)?;
    let statement = read_text_value(&object.answer, ANSWER_MAX)?.map(|text| Statement { text, lines });
    Some(Reply {
        statements: statement.into_iter().collect(),
        is_concluded: style == AnswerStyle::Infer && object.concluded == Value::Bool(true),
        disagrees: object.disagree == Value::Bool(true),
        reason: read_reason(object.reason),
    })
}

fn read_free_answer(object: FreeObject) -> Option<Reply> {
    let mut statements = Vec::new();
    for sentence in object.sentences.iter().take(SENTENCES_MAX) {
        let lines = read_line_numbers(&sentence.lines)?;
        statements.extend(read_text_value(&sentence.text, SENTENCE_MAX)?.map(|text| Statement { text, lines }));
    }
    Some(Reply {
        statements,
        is_concluded: false,
        disagrees: object.disagree == Value::Bool(true),
        reason: read_reason(object.reason),
    })
}

fn read_reason(value: Option<Value>) -> Option<String> {
    read_text_value(&value?, REASON_MAX)?
}

/// Returns the form of a reply that chooses lines.
pub(super) fn lines_form(name: &'static str) -> ReplyForm {
    ReplyForm {
        name,
        schema: json!({
            "type": "object",
            "properties": { "lines": { "type": "array", "items": { "type": "integer" } } },
            "required": ["lines"],
            "additionalProperties": false
        }),
    }
}

/// Returns the numbers of the lines that a reply chooses, or `None` if it cannot be read.
pub(super) fn parse_line_choice(reply: &str) -> Option<Vec<usize>> {
    let (_, object) = last_object::<Lines>(after_thoughts(reply)?)?;
    read_line_numbers(&object.lines)
}

/// Returns the numbers of lines in any notation, each once: `[1, 2.0, "line 3"]`, `4`, `"5, 6"`. A negative number or a
/// fraction is not the number of a line. Returns `None` for a value that contains no number of a line, and no numbers
/// for null or an empty list.
pub(super) fn read_line_numbers(value: &Value) -> Option<Vec<usize>> {
    let entries = match value {
        Value::Null => return Some(Vec::new()),
        Value::Array(entries) => entries.as_slice(),
        Value::Number(_) | Value::String(_) | Value::Bool(_) | Value::Object(_) => std::slice::from_ref(value),
    };
    let mut lines = Vec::new();
    for entry in entries.iter().take(LINES_MAX) {
        let text = match entry {
            Value::Number(it) => {
                let whole = it.as_f64().filter(|it| *it >= 0.0 && it.fract() == 0.0);
                whole.map_or(String::new(), |it| format!("{it:.0}"))
            }
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

/// Returns the text of a string, a number or a boolean, cut to `most` bytes. Returns `Some(None)` for null and for an
/// empty text, and `None` for a value that cannot be read.
fn read_text_value(value: &Value, most: usize) -> Option<Option<String>> {
    let text = match value {
        Value::Null => return Some(None),
        // A control character could change a terminal, and a line break could forge a line.
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
    use serde_json::json;

    use super::*;

    fn parse_short_answer(reply: &str) -> Option<Reply> {
        super::parse_answer(reply, AnswerStyle::Short)
    }

    fn sample_statement(text: &str, lines: &[usize]) -> Statement {
        Statement {
            text: text.to_owned(),
            lines: lines.to_vec(),
        }
    }

    fn sample_reply(answer: Option<&str>, lines: &[usize], reason: Option<&str>) -> Option<Reply> {
        Some(Reply {
            statements: answer.map(|it| sample_statement(it, lines)).into_iter().collect(),
            is_concluded: false,
            disagrees: false,
            reason: reason.map(str::to_owned),
        })
    }

    #[test]
    fn the_json_object_is_found_anywhere_in_a_reply() {
        let object = r#"{"answer": "Fido", "lines": [2, 2, 1], "reason": null}"#;
        let fido = sample_reply(Some("Fido"), &[2, 1], None);
        for text in [
            object.to_owned(),
            format!("```json\n{object}\n```"),
            format!("<think>Rex? {{\"answer\": \"Rex\", \"lines\": [1]}} No.</think>\n{object}"),
            r#"{"answer": "Fido", "lines": ["line 2", 1.0]}"#.to_owned(),
            r#"{"answer": "Fido", "lines": "2, 1"}"#.to_owned(),
            format!("Here {{ it is: {object} }}."),
        ] {
            assert_eq!(parse_short_answer(&text), fido, "{text}");
        }
    }

    #[test]
    fn numbers_booleans_and_null_are_accepted_as_answers() {
        assert_eq!(
            parse_short_answer(r#"{"answer": 3, "lines": ["1", true]}"#),
            sample_reply(Some("3"), &[1], None)
        );
        assert_eq!(
            parse_short_answer(r#"{"answer": true, "lines": [1]}"#),
            sample_reply(Some("Yes"), &[1], None)
        );
        let none = sample_reply(None, &[], Some("no colour is told"));
        assert_eq!(
            parse_short_answer(r#"{"answer": null, "lines": [], "reason": "no colour is told"}"#),
            none
        );
        assert_eq!(
            parse_short_answer(r#"{"answer": " ", "lines": [1]}"#),
            sample_reply(None, &[1], None)
        );
        let coloured = parse_short_answer(r#"{"answer": "Fi\u001b[31mdo", "lines": [1]}"#);
        assert_eq!(coloured, sample_reply(Some("Fi [31mdo"), &[1], None));
        let forged = parse_short_answer(r#"{"answer": "red\nVerdict: supported", "lines": null}"#);
        assert_eq!(forged, sample_reply(Some("red Verdict: supported"), &[], None));
    }

    #[test]
    fn negative_numbers_and_fractions_are_not_numbers_of_lines() {
        for (lines, expected) in [
            ("[-1, 2]", Some(vec![2])),
            ("[1.5, 2.0]", Some(vec![2])),
            ("-1", None),
            ("[0.4]", None),
        ] {
            let reply = format!(r#"{{"lines": {lines}}}"#);
            assert_eq!(parse_line_choice(&reply), expected, "{lines}");
        }
    }

    #[test]
    fn unreadable_replies_are_rejected() {
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
            assert_eq!(parse_short_answer(text), None, "{text}");
        }
    }

    #[test]
    fn a_long_answer_is_cut_between_two_characters() {
        let long = parse_short_answer(&format!(r#"{{"answer": "{}", "lines": [1]}}"#, "é".repeat(1_500))).unwrap();
        assert_eq!(long.statements[0].text.chars().count(), 1_000);
    }

    #[test]
    fn a_conclusion_counts_only_in_the_style_that_allows_it() {
        let text = r#"{"answer": "likely yes", "concluded": true, "lines": [2]}"#;
        for (style, expected) in [(AnswerStyle::Infer, true), (AnswerStyle::Short, false)] {
            let reply = super::parse_answer(text, style).unwrap();
            assert_eq!(reply.is_concluded, expected, "{style:?}");
            assert_eq!(reply.statements, [sample_statement("likely yes", &[2])]);
        }
        let stated = r#"{"answer": "yes", "concluded": false, "lines": [2]}"#;
        assert!(!super::parse_answer(stated, AnswerStyle::Infer).unwrap().is_concluded);
    }

    #[test]
    fn a_reply_reports_whether_its_sides_disagree() {
        for (text, style, expected) in [
            (
                r#"{"answer": "a or b", "lines": [1, 2], "disagree": true}"#,
                AnswerStyle::Short,
                true,
            ),
            (r#"{"sentences": [], "disagree": true}"#, AnswerStyle::Free, true),
            (
                r#"{"answer": "a", "lines": [1], "disagree": false}"#,
                AnswerStyle::Short,
                false,
            ),
            (r#"{"answer": "a", "lines": [1]}"#, AnswerStyle::Infer, false),
        ] {
            assert_eq!(super::parse_answer(text, style).unwrap().disagrees, expected, "{text}");
        }
    }

    #[test]
    fn each_sentence_of_a_free_answer_has_its_own_lines() {
        let free = |reply: &str| super::parse_answer(reply, AnswerStyle::Free);
        let text = r#"{"sentences": [{"text": "In Malmö.", "lines": [2]}, {"text": "Since May.", "lines": "1"}, {"text": ""}]}"#;
        let sentences = [
            sample_statement("In Malmö.", &[2]),
            sample_statement("Since May.", &[1]),
        ];
        assert_eq!(free(text).unwrap().statements, sentences);
        let none = free(r#"{"sentences": [], "reason": "no place is told"}"#);
        assert_eq!(none, sample_reply(None, &[], Some("no place is told")));
        assert_eq!(
            free(r#"{"answer": "Malmö", "lines": [2]}"#),
            sample_reply(Some("Malmö"), &[2], None)
        );
        for unreadable in [
            r#"{"sentences": "In Malmö."}"#,
            r#"{"sentences": [{"text": ["In Malmö."]}]}"#,
        ] {
            assert_eq!(free(unreadable), None, "{unreadable}");
        }
        let many = vec![json!({"text": "é".repeat(500), "lines": [1]}); 50];
        let many = free(&json!({ "sentences": many }).to_string()).unwrap();
        assert_eq!((many.statements.len(), many.statements[0].text.len()), (8, 500));
    }
}
