//! LoCoMo and REALTALK: an object with the keys `session_1`, `session_1_date_time` and so on, and a list of questions.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::builder::{ConversationBuilder, ConvertedConversation, NewTurn, Notes, TimedQuestion, build_question};
use super::source::Item;
use super::text::{parse_moment, value_to_text, value_to_texts};
use crate::data::Question;

/// Category of LoCoMo whose questions have no answer.
const ADVERSARIAL: i64 = 5;

/// A sample of LoCoMo.
#[derive(Deserialize)]
struct Sample {
    #[serde(default)]
    sample_id: Value,
    conversation: Map<String, Value>,
    #[serde(default)]
    qa: Vec<Asked>,
}

/// A chat of REALTALK. Its sessions are keys next to the questions.
#[derive(Deserialize)]
struct Chat {
    #[serde(default, alias = "QA", alias = "questions")]
    qa: Vec<Asked>,
    #[serde(flatten)]
    sessions: Map<String, Value>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    speaker: Option<String>,
    #[serde(default)]
    dia_id: Value,
    #[serde(default)]
    clean_text: Option<String>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default, alias = "date")]
    date_time: Option<String>,
    #[serde(default, alias = "image_caption")]
    blip_caption: Value,
    #[serde(default, alias = "img_file")]
    img_url: Value,
}

#[derive(Deserialize)]
struct Asked {
    question: String,
    #[serde(default)]
    answer: Value,
    #[serde(default)]
    evidence: Value,
    #[serde(default)]
    category: Value,
}

/// Returns the conversation and the questions of a sample of LoCoMo.
pub(super) fn convert_locomo(item: &Item, notes: &mut Notes) -> anyhow::Result<ConvertedConversation> {
    let sample: Sample = item.read()?;
    let id = value_to_text(&sample.sample_id).unwrap_or_else(|| format!("{}-{}", item.file_stem(), item.number));
    let mut builder = ConversationBuilder::new(id.clone(), notes);
    add_sessions(item, "conversation.", &sample.conversation, &mut builder)?;
    Ok(build_converted(&id, sample.qa, builder))
}

/// Returns the conversation and the questions of a chat of REALTALK. The conversation is named after its file.
pub(super) fn convert_realtalk(item: &Item, notes: &mut Notes) -> anyhow::Result<ConvertedConversation> {
    let chat: Chat = item.read()?;
    let id = item.file_stem();
    let mut builder = ConversationBuilder::new(id.clone(), notes);
    add_sessions(item, "", &chat.sessions, &mut builder)?;
    Ok(build_converted(&id, chat.qa, builder))
}

fn add_sessions(
    item: &Item,
    prefix: &str,
    fields: &Map<String, Value>,
    builder: &mut ConversationBuilder<'_>,
) -> anyhow::Result<()> {
    let mut numbers: Vec<u32> = fields
        .keys()
        .filter_map(|key| key.strip_prefix("session_")?.parse().ok())
        .filter(|number: &u32| fields.contains_key(&format!("session_{number}")))
        .collect();
    numbers.sort_unstable();
    if numbers.is_empty() {
        return Err(item.wrong(&format!("{prefix}session_1"), "there is no session"));
    }
    for number in numbers {
        let key = format!("session_{number}");
        let path = format!("{prefix}{key}");
        let read: Result<Vec<Message>, _> = serde_path_to_error::deserialize(&fields[&key]);
        let messages = read.map_err(|error| {
            let field = format!("{path}{}", relative_path(&error.path().to_string()));
            item.wrong(&field, &error.into_inner().to_string())
        })?;
        let time = session_time(item, &path, fields)?;
        builder.begin_session(&number.to_string(), time);
        for (at, message) in messages.into_iter().enumerate() {
            let speaker = message.speaker.filter(|it| !it.trim().is_empty());
            let speaker = speaker.ok_or_else(|| item.wrong(&format!("{path}[{at}].speaker"), "it is missing"))?;
            builder.push(NewTurn {
                id: value_to_text(&message.dia_id).unwrap_or_else(|| format!("D{number}:{}", at + 1)),
                speaker,
                text: message.clean_text.or(message.text).unwrap_or_default(),
                timestamp: message.date_time.as_deref().and_then(parse_moment),
                image_caption: value_to_text(&message.blip_caption),
                image_uri: value_to_texts(&message.img_url).into_iter().next(),
                ..NewTurn::default()
            });
        }
    }
    Ok(())
}

/// Returns the time of a session, or `None` if the file gives none. A time of unknown form is an error.
fn session_time(item: &Item, path: &str, fields: &Map<String, Value>) -> anyhow::Result<Option<String>> {
    let key = path.rsplit('.').next().unwrap_or(path);
    let named = ["_date_time", "_date"].map(|ending| format!("{key}{ending}"));
    let Some((name, text)) = named.iter().find_map(|name| Some((name, fields.get(name)?.as_str()?))) else {
        return Ok(None);
    };
    let prefix = path.strip_suffix(key).unwrap_or_default();
    match parse_moment(text) {
        Some(time) => Ok(Some(time)),
        None => Err(item.wrong(
            &format!("{prefix}{name}"),
            &format!("{text:?} is no time that is known"),
        )),
    }
}

/// Returns a path of serde in the form that is appended to another path: it begins with an index or with a dot.
fn relative_path(path: &str) -> String {
    match path {
        "." => String::new(),
        _ if path.starts_with('[') => path.to_owned(),
        _ => format!(".{path}"),
    }
}

fn build_converted(id: &str, asked: Vec<Asked>, mut builder: ConversationBuilder<'_>) -> ConvertedConversation {
    let questions = asked.into_iter().enumerate().map(|(at, asked)| TimedQuestion {
        question: converted_question(id, at + 1, asked, &mut builder),
        asked_at: None,
    });
    let questions = questions.collect();
    ConvertedConversation {
        conversation: builder.finish(),
        questions,
    }
}

fn converted_question(id: &str, number: usize, asked: Asked, builder: &mut ConversationBuilder<'_>) -> Question {
    let category_id = value_to_text(&asked.category).and_then(|it| it.parse::<i64>().ok());
    let answer = value_to_text(&asked.answer).filter(|_| category_id != Some(ADVERSARIAL));
    let evidence = builder.known_evidence(turn_ids(&asked.evidence, builder));
    let mut question = build_question(id, format!("{id}-q{number}"), asked.question, answer);
    question.category = category_name(category_id, &asked.category);
    question.category_id = category_id;
    if question.answerable {
        question.evidence = evidence;
    } else {
        question.trap_evidence = evidence;
    }
    question
}

/// Returns the name of a category. The numbers are those of LoCoMo; REALTALK has the first three.
fn category_name(number: Option<i64>, given: &Value) -> String {
    match number {
        Some(1) => "multi-hop".to_owned(),
        Some(2) => "temporal".to_owned(),
        Some(3) => "open-domain".to_owned(),
        Some(4) => "single-hop".to_owned(),
        Some(ADVERSARIAL) => "unanswerable".to_owned(),
        _ => value_to_text(given).unwrap_or_else(|| "other".to_owned()),
    }
}

/// Returns the ids that the evidence names. Some texts name several ids, and some ids have extra zeros or an extra
/// colon: `D8:6; D9:17`, `D30:05`, `D:11:26`.
fn turn_ids(evidence: &Value, builder: &ConversationBuilder<'_>) -> Vec<String> {
    let mut ids = Vec::new();
    for text in value_to_texts(evidence) {
        if builder.has_turn(&text) {
            ids.push(text);
            continue;
        }
        let parts = text.split(|c: char| c.is_whitespace() || matches!(c, ';' | ','));
        ids.extend(parts.filter(|it| !it.is_empty()).map(|part| {
            if builder.has_turn(part) {
                part.to_owned()
            } else {
                mend_evidence_id(part).unwrap_or_else(|| part.to_owned())
            }
        }));
    }
    ids
}

fn mend_evidence_id(id: &str) -> Option<String> {
    let (session, turn) = id.strip_prefix('D')?.trim_start_matches(':').split_once(':')?;
    Some(format!(
        "D{}:{}",
        session.parse::<u32>().ok()?,
        turn.parse::<u32>().ok()?
    ))
}
