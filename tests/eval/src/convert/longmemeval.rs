//! LongMemEval: a list of questions, each with the sessions of its own user. Each question becomes a conversation.

use serde::Deserialize;
use serde_json::Value;

use super::builder::{ConversationBuilder, ConvertedConversation, NewTurn, Notes, TimedQuestion, build_question};
use super::source::Item;
use super::text::{parse_moment, value_to_text};

/// Ending of the ids of questions that have no answer.
const ABSTENTION: &str = "_abs";

#[derive(Deserialize)]
struct Instance {
    question_id: Value,
    #[serde(default)]
    question_type: Value,
    question: String,
    #[serde(default)]
    answer: Value,
    #[serde(default)]
    question_date: Option<String>,
    #[serde(default)]
    haystack_dates: Vec<String>,
    #[serde(default)]
    haystack_session_ids: Vec<Value>,
    haystack_sessions: Vec<Vec<Message>>,
    #[serde(default)]
    answer_session_ids: Vec<Value>,
}

#[derive(Deserialize)]
struct Message {
    role: String,
    content: String,
    #[serde(default)]
    has_answer: Option<bool>,
}

/// Returns a question with its sessions, in the order of their times.
pub(super) fn convert_item(item: &Item, notes: &mut Notes) -> anyhow::Result<ConvertedConversation> {
    let instance: Instance = item.read()?;
    let id = value_to_text(&instance.question_id).ok_or_else(|| item.wrong("question_id", "it is empty"))?;
    let mut builder = ConversationBuilder::new(id.clone(), notes);
    let wanted: Vec<String> = instance.answer_session_ids.iter().filter_map(value_to_text).collect();
    let mut evidence = Vec::new();
    let mut sessions_with_answer = Vec::new();
    for (at, messages) in instance.haystack_sessions.into_iter().enumerate() {
        let given = instance.haystack_session_ids.get(at).and_then(value_to_text);
        let given = given.unwrap_or_else(|| format!("s{}", at + 1));
        let time = match instance.haystack_dates.get(at) {
            Some(text) => Some(parse_time_field(item, &format!("haystack_dates[{at}]"), text)?),
            None => None,
        };
        let session = builder.begin_session(&given, time);
        for (number, message) in messages.into_iter().enumerate() {
            let pushed = builder.push(NewTurn {
                id: format!("{session}:{}", number + 1),
                speaker: message.role,
                text: message.content,
                ..NewTurn::default()
            });
            evidence.extend(pushed.filter(|_| message.has_answer == Some(true)));
        }
        if wanted.contains(&given) {
            sessions_with_answer.push(session);
        }
    }
    let is_abstention = id.ends_with(ABSTENTION);
    let answer = value_to_text(&instance.answer).filter(|_| !is_abstention);
    let mut question = build_question(&id, id.clone(), instance.question, answer);
    question.category = value_to_text(&instance.question_type).unwrap_or_else(|| "other".to_owned());
    if !question.answerable {
        question.trap_evidence = evidence;
    } else if evidence.is_empty() {
        // Without labels of turns, one turn of each session with an answer is needed.
        let groups = sessions_with_answer.iter().map(|it| builder.turns_of_session(it));
        question.evidence_groups = groups.filter(|it| !it.is_empty()).collect();
    } else {
        question.evidence = evidence;
    }
    let asked_at = match &instance.question_date {
        Some(text) => Some(parse_time_field(item, "question_date", text)?),
        None => None,
    };
    Ok(ConvertedConversation {
        conversation: builder.finish(),
        questions: vec![TimedQuestion { question, asked_at }],
    })
}

fn parse_time_field(item: &Item, field: &str, text: &str) -> anyhow::Result<String> {
    parse_moment(text).ok_or_else(|| item.wrong(field, &format!("{text:?} is no time that is known")))
}
