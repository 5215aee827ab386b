//! Makes the prompt for the teacher, and reads its replies.

use domain::port::{Chat, ModelRole, ReplyForm};
use eval::data::Turn;
use serde::Deserialize;
use serde_json::{Value, json};
use text::fence::{fenced, mark};
use text::model_reply::{after_thoughts, last_object};
use text::one_line;

use super::source::Stretch;

/// System prompt of the teacher.
pub const INSTRUCTIONS: &str = include_str!("../../prompts/teach.txt");
/// Added to the prompt after a reply that cannot be read.
pub const REMARK: &str =
    "Reply with the JSON object alone: {\"questions\": [{\"question\", \"answer\", \"supports\", \"anchor\"}]}.";
/// Most bytes of one turn in the prompt.
const TURN_BYTES: usize = 800;
/// Mark at the end of a turn that was cut.
const CUT: &str = " [cut]";
/// Most questions that are read from one reply.
const QUESTIONS_MAX: usize = 8;

/// A question as the teacher wrote it, before it is checked.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Proposal {
    /// The question.
    pub question: String,
    /// Its answer.
    pub answer: String,
    /// Numbers of the lines that contain the answer, from 1.
    pub supports: Vec<u32>,
    /// Number of the line that the question starts from.
    pub anchor: u32,
}

/// Returns the chat that asks the teacher about a stretch. Text of users and programs is enclosed in marks.
pub fn chat(stretch: &Stretch<'_>) -> Chat {
    let mut chat = Chat::new(ModelRole::Write, INSTRUCTIONS, shown(stretch));
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
pub fn tokens(stretch: &Stretch<'_>) -> usize {
    text::tokens(INSTRUCTIONS) + text::tokens(&shown(stretch))
}

fn shown(stretch: &Stretch<'_>) -> String {
    let lines = lines(stretch);
    format!("The lines:\n{}", fenced("lines", &mark("", &lines), &lines))
}

/// Returns the numbered lines of a stretch.
pub fn lines(stretch: &Stretch<'_>) -> String {
    let lines = stretch
        .turns
        .iter()
        .zip(1..)
        .map(|(turn, number)| format!("{number}. {}", line(turn)));
    lines.collect::<Vec<String>>().join("\n")
}

/// Returns a turn on one line; its text is cut to at most 800 bytes.
pub fn line(turn: &Turn) -> String {
    let mut said = one_line(&turn.text);
    if let Some(caption) = &turn.image_caption {
        said = format!("{said} [picture: {}]", one_line(caption));
    }
    if said.len() > TURN_BYTES {
        said.truncate(said.floor_char_boundary(TURN_BYTES));
        said += CUT;
    }
    format!("[{}] {}: {said}", turn.timestamp, one_line(&turn.speaker))
}

/// Returns the questions in the last JSON object of a reply, or `None` if the reply has no such object. An entry that
/// is not a question is skipped.
pub fn read(reply: &str) -> Option<Vec<Proposal>> {
    #[derive(Deserialize)]
    struct Reply {
        questions: Vec<Value>,
    }
    let (_, reply) = last_object::<Reply>(after_thoughts(reply)?)?;
    let entries = reply.questions.into_iter().take(QUESTIONS_MAX);
    Some(entries.filter_map(|it| serde_json::from_value(it).ok()).collect())
}
