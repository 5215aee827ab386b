//! Converts BEAM, which has a long chat in batches, nested at any depth, and probing questions by ability.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::builder::{ConversationBuilder, ConvertedConversation, NewTurn, Notes, TimedQuestion, build_question};
use super::source::Item;
use super::text::{parse_moment, value_to_text, value_to_texts};
use crate::data::Question;

/// Name of the ability whose questions have no answer.
const ABSTENTION: &str = "abstention";

/// Fields that may hold the answer; the first one that exists is used.
const ANSWERS: [&str; 6] = [
    "answer",
    "ideal_answer",
    "ideal_response",
    "ideal_summary",
    "expected_answer",
    "expected_compliance",
];

/// Greatest depth of nested chats: plans, batches, groups of turns.
const DEPTH_MAX: usize = 8;

#[derive(Deserialize)]
struct Sample {
    #[serde(default)]
    conversation_id: Value,
    chat: Value,
    #[serde(default)]
    probing_questions: Value,
}

/// Returns a chat with its questions. If `questions` is given, it replaces those in the item.
pub(super) fn convert_item(
    item: &Item,
    questions: Option<&Item>,
    notes: &mut Notes,
) -> anyhow::Result<ConvertedConversation> {
    let sample = parse_sample(item)?;
    let id = value_to_text(&sample.conversation_id).unwrap_or_else(|| format!("{}-{}", item.file_stem(), item.number));
    let mut chat = Chat {
        item,
        builder: ConversationBuilder::new(id.clone(), notes),
        plan: None,
        sessions: 0,
    };
    chat.add(&sample.chat, "chat", 0)?;
    let mut builder = chat.builder;
    let (source, field, asked) = match questions {
        Some(other) => (other, "", &other.value),
        None => (item, "probing_questions", &sample.probing_questions),
    };
    let mut converted = Vec::new();
    for (ability, asked) in questions_by_ability(source, field, asked)? {
        for (at, fields) in asked.iter().enumerate() {
            let number = at + 1;
            let place = format!("{field}.{ability}[{at}]");
            let wording = fields.get("question").and_then(value_to_text);
            let wording = wording.ok_or_else(|| source.wrong(place.trim_start_matches('.'), "it has no question"))?;
            let question = probing_questions(&id, &ability, number, wording, fields, &mut builder);
            converted.push(TimedQuestion {
                question,
                asked_at: None,
            });
        }
    }
    Ok(ConvertedConversation {
        conversation: builder.finish(),
        questions: converted,
    })
}

/// Returns the sample of an item; an item may also be a chat without other fields.
fn parse_sample(item: &Item) -> anyhow::Result<Sample> {
    if item.value.get("chat").is_some() {
        return item.read();
    }
    if !item.value.is_array() {
        return Err(item.wrong("chat", "it is missing"));
    }
    Ok(Sample {
        conversation_id: Value::String(item.file_stem()),
        chat: item.value.clone(),
        probing_questions: Value::Null,
    })
}

/// Returns the questions by ability. If the field is a text, it is parsed as JSON.
fn questions_by_ability(
    item: &Item,
    field: &str,
    asked: &Value,
) -> anyhow::Result<BTreeMap<String, Vec<Map<String, Value>>>> {
    let what = "an object that has a list of questions for each ability is wanted, as JSON and not as Python writes it";
    if asked.is_null() {
        return Ok(BTreeMap::new());
    }
    let value: Value = match asked.as_str() {
        Some(text) => serde_json::from_str(text).map_err(|_| item.wrong(field, what))?,
        None => asked.clone(),
    };
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = format!("{field}.{}", error.path());
        item.wrong(path.trim_matches('.'), &format!("{}; {what}", error.inner()))
    })
}

fn probing_questions(
    id: &str,
    ability: &str,
    number: usize,
    wording: String,
    fields: &Map<String, Value>,
    builder: &mut ConversationBuilder<'_>,
) -> Question {
    let rubric = fields.get("rubric").map(value_to_texts).unwrap_or_default();
    let answer = ANSWERS.iter().find_map(|name| value_to_text(fields.get(*name)?));
    let answer = answer.or_else(|| (!rubric.is_empty()).then(|| rubric.join("; ")));
    let answer = answer.filter(|_| ability != ABSTENTION);
    let mut cited = Vec::new();
    if let Some(sources) = fields.get("source_chat_ids") {
        collect_ids(sources, &mut cited);
    }
    let evidence = builder.known_evidence(cited);
    let mut question = build_question(id, format!("{id}-{ability}-{number}"), wording, answer);
    question.category = ability.replace('_', "-");
    question.rubric = rubric;
    if question.answerable {
        question.evidence = evidence;
    } else {
        question.trap_evidence = evidence;
    }
    question
}

/// Collects the ids of messages from lists and objects of lists.
fn collect_ids(sources: &Value, ids: &mut Vec<String>) {
    if let Value::Array(items) = sources {
        items.iter().for_each(|it| collect_ids(it, ids));
    } else if let Value::Object(fields) = sources {
        fields.values().for_each(|it| collect_ids(it, ids));
    } else {
        ids.extend(value_to_text(sources));
    }
}

struct Chat<'a> {
    item: &'a Item,
    builder: ConversationBuilder<'a>,
    /// Name of the plan that the messages belong to, if a chat has several plans. Each plan starts its ids again.
    plan: Option<String>,
    sessions: usize,
}

impl Chat<'_> {
    /// Adds the messages of a part of the chat: one message, a list of parts, a batch with `turns`, or plans by name.
    fn add(&mut self, part: &Value, path: &str, depth: usize) -> anyhow::Result<()> {
        if depth > DEPTH_MAX {
            return Err(self.item.wrong(path, "it is nested too deep"));
        }
        match part {
            Value::Array(parts) => {
                if depth == 1 || (depth == 0 && parts.iter().any(is_message)) {
                    self.begin_session(parts.iter().find_map(time_anchor));
                }
                for (at, part) in parts.iter().enumerate() {
                    self.add(part, &format!("{path}[{at}]"), depth + 1)?;
                }
                Ok(())
            }
            Value::Object(fields) if is_message(part) => self.add_message(fields, path),
            Value::Object(fields) => match fields.get("turns").or_else(|| fields.get("messages")) {
                Some(turns) => {
                    self.begin_session(time_anchor(part));
                    self.add(turns, &format!("{path}.turns"), depth.max(1) + 1)
                }
                None if self.plan.is_none() => self.add_plans(fields, path),
                None => Err(self.item.wrong(path, "neither a message nor a batch with turns")),
            },
            Value::Null => Ok(()),
            Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                Err(self.item.wrong(path, "a message, a list or a batch is wanted"))
            }
        }
    }

    fn add_plans(&mut self, plans: &Map<String, Value>, path: &str) -> anyhow::Result<()> {
        for (name, part) in plans {
            if part.is_array() || part.is_object() {
                self.plan = Some(name.clone());
                self.add(part, &format!("{path}.{name}"), 0)?;
            }
        }
        self.plan = None;
        Ok(())
    }

    fn begin_session(&mut self, time: Option<String>) {
        self.sessions += 1;
        self.builder.begin_session(&self.sessions.to_string(), time);
    }

    fn add_message(&mut self, fields: &Map<String, Value>, path: &str) -> anyhow::Result<()> {
        let text = |name: &str| fields.get(name).and_then(value_to_text);
        let speaker = text("role").ok_or_else(|| self.item.wrong(&format!("{path}.role"), "it is empty"))?;
        let id = text("id").unwrap_or_else(|| path.to_owned());
        let id = match &self.plan {
            Some(plan) if self.builder.has_turn(&id) => format!("{plan}:{id}"),
            _ => id,
        };
        self.builder.push(NewTurn {
            id,
            speaker,
            text: text("content").unwrap_or_default(),
            timestamp: text("time_anchor").as_deref().and_then(parse_moment),
            ..NewTurn::default()
        });
        Ok(())
    }
}

fn is_message(part: &Value) -> bool {
    part.get("role").is_some() && part.get("content").is_some()
}

fn time_anchor(part: &Value) -> Option<String> {
    parse_moment(part.get("time_anchor")?.as_str()?)
}
