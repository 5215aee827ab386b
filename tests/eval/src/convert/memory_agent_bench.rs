//! MemoryAgentBench: a long context, or several, with questions, lists of right answers and metadata about each question.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::builder::{ConversationBuilder, ConvertedConversation, NewTurn, Notes, TimedQuestion, build_question};
use super::source::Item;
use super::text::{parse_moment, value_to_text, value_to_texts};

/// Maximum number of characters of a turn. A context is cut at the end of a paragraph, a line, a sentence or a word.
const TURN_CHARS_MAX: usize = 2_000;

/// Places to cut a context, the best first.
const CUTS: [&str; 4] = ["\n\n", "\n", ". ", " "];

#[derive(Deserialize)]
struct Sample {
    #[serde(alias = "contexts")]
    context: Value,
    questions: Vec<String>,
    answers: Vec<Value>,
    #[serde(default)]
    metadata: Map<String, Value>,
}

/// Returns a context with its questions. Turns have no time, and questions have no evidence.
pub(super) fn convert_item(item: &Item, notes: &mut Notes) -> anyhow::Result<ConvertedConversation> {
    let sample: Sample = item.read()?;
    if sample.questions.len() != sample.answers.len() {
        let (asked, answered) = (sample.questions.len(), sample.answers.len());
        return Err(item.wrong("answers", &format!("there are {answered} for {asked} questions")));
    }
    let source = sample.metadata.get("source").and_then(value_to_text);
    let id = match &source {
        Some(source) => format!("{source}-{}", item.number),
        None => format!("{}-{}", item.file_stem(), item.number),
    };
    let mut builder = ConversationBuilder::new(id.clone(), notes);
    for (at, context) in value_to_texts(&sample.context).iter().enumerate() {
        builder.begin_session(&(at + 1).to_string(), Some(super::builder::UNDATED.to_owned()));
        for (number, text) in split_pieces(context).enumerate() {
            builder.push(NewTurn {
                id: format!("{}:{}", at + 1, number + 1),
                speaker: "user".to_owned(),
                text: text.to_owned(),
                ..NewTurn::default()
            });
        }
    }
    let about = |name: &str, at: usize| sample.metadata.get(name).and_then(|it| value_to_text(it.get(at)?));
    let mut questions = Vec::new();
    for (at, (wording, answers)) in sample.questions.iter().zip(&sample.answers).enumerate() {
        // The answers are one text, or a list of wordings.
        let mut answers = value_to_texts(answers).into_iter();
        let name = ["qa_pair_ids", "question_ids"].iter().find_map(|it| about(it, at));
        let name = name.unwrap_or_else(|| format!("q{}", at + 1));
        let mut question = build_question(&id, format!("{id}-{name}"), wording.clone(), answers.next());
        question.accept = answers.collect();
        question.category = about("question_types", at)
            .or_else(|| source.clone())
            .unwrap_or_else(|| "other".to_owned());
        let asked_at = about("question_dates", at).and_then(|it| parse_moment(&it));
        questions.push(TimedQuestion { question, asked_at });
    }
    Ok(ConvertedConversation {
        conversation: builder.finish(),
        questions,
    })
}

/// Returns the pieces of a text that become turns, without white space around them.
fn split_pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text.trim();
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = match rest.char_indices().nth(TURN_CHARS_MAX) {
            None => rest.len(),
            Some((most, _)) => CUTS
                .iter()
                .find_map(|cut| Some(rest[..most].rfind(cut)? + cut.len()))
                .unwrap_or(most),
        };
        let (piece, after) = rest.split_at(end);
        rest = after.trim_start();
        Some(piece.trim_end())
    })
}
