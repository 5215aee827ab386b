//! Makes the prompt for the teacher, and reads its replies.

use domain::port::{Chat, ModelRole, ReplyForm};
use eval::data::Turn;
use serde::Deserialize;
use serde_json::{Value, json};
use text::model_text::fence::{compute_mark, wrap_in_fence};
use text::model_text::model_reply::{after_thoughts, last_object};
use text::one_line;

use crate::teach::stretch::Stretch;

/// System prompt of the teacher.
pub const INSTRUCTIONS: &str = include_str!("../../prompts/teach.txt");
/// Added to the prompt after a reply that cannot be read.
pub const REMARK: &str =
    "Reply with the JSON object alone: {\"questions\": [{\"question\", \"answer\", \"supports\", \"anchor\"}]}.";
/// Maximum number of bytes of one turn in the prompt.
const TURN_BYTES: usize = 800;
/// Mark at the end of a turn that was cut.
const CUT: &str = " [cut]";
/// Maximum number of questions that are read from one reply.
const QUESTIONS_MAX: usize = 8;

/// A question as the teacher wrote it, before it is checked.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Proposal {
    /// The question.
    pub question: String,
    /// Answer to the question.
    pub answer: String,
    /// Numbers of the lines that contain the answer, from 1.
    pub supports: Vec<u32>,
    /// Number of the line that the question starts from.
    pub anchor: u32,
}

/// Returns the chat that asks the teacher about a stretch. Text of users and programs is enclosed in marks.
pub fn build_chat(stretch: &Stretch<'_>) -> Chat {
    let mut chat = Chat::new(ModelRole::Write, INSTRUCTIONS, numbered_lines(stretch));
    let question = json!({
        "type": "object",
        "properties": {
            "question": { "type": "string" },
            "answer": { "type": "string" },
            "supports": { "type": "array", "items": { "type": "integer" } },
            "anchor": { "type": "integer" },
        },
        "required": ["question", "answer", "supports", "anchor"],
        "additionalProperties": false,
    });
    chat.form = Some(ReplyForm {
        name: "questions",
        schema: json!({
            "type": "object",
            "properties": { "questions": { "type": "array", "items": question } },
            "required": ["questions"],
            "additionalProperties": false,
        }),
    });
    chat
}

/// Returns the number of tokens that the teacher reads for a stretch, counted with o200k.
pub fn count_tokens(stretch: &Stretch<'_>) -> usize {
    text::count_tokens(INSTRUCTIONS) + text::count_tokens(&numbered_lines(stretch))
}

fn numbered_lines(stretch: &Stretch<'_>) -> String {
    let lines = stretch_lines(stretch);
    format!(
        "The lines:\n{}",
        wrap_in_fence("lines", &compute_mark("", &lines), &lines)
    )
}

/// Returns the numbered lines of a stretch.
pub fn stretch_lines(stretch: &Stretch<'_>) -> String {
    let lines = stretch
        .turns
        .iter()
        .zip(1..)
        .map(|(turn, number)| format!("{number}. {}", turn_line(turn)));
    lines.collect::<Vec<String>>().join("\n")
}

/// Returns a turn on one line; its text is cut to at most 800 bytes.
pub fn turn_line(turn: &Turn) -> String {
    let mut text_of_turn = one_line(&turn.text);
    if let Some(caption) = &turn.image_caption {
        text_of_turn = format!("{text_of_turn} [picture: {}]", one_line(caption));
    }
    if text_of_turn.len() > TURN_BYTES {
        text_of_turn.truncate(text_of_turn.floor_char_boundary(TURN_BYTES));
        text_of_turn += CUT;
    }
    format!("[{}] {}: {text_of_turn}", turn.timestamp, one_line(&turn.speaker))
}

/// Returns the questions in the last JSON object of a reply, or `None` if the reply has no such object. An entry that
/// is not a question is skipped.
pub fn parse_proposals(reply: &str) -> Option<Vec<Proposal>> {
    #[derive(Deserialize)]
    struct Reply {
        questions: Vec<Value>,
    }
    let (_, reply) = last_object::<Reply>(after_thoughts(reply)?)?;
    let entries = reply.questions.into_iter().take(QUESTIONS_MAX);
    Some(entries.filter_map(|it| serde_json::from_value(it).ok()).collect())
}
