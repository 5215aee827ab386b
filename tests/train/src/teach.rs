//! Uses a language model as a teacher. It writes questions about the conversations and trajectories of a user, with
//! their answers, the turns that contain the answers, and the turn that each question starts from. S3Mem trains its
//! heads on labels made in this way.
//!
//! - [`source`] reads the user's data and cuts it into stretches.
//! - [`prompt`] makes the prompt and reads the replies.
//! - [`check`] rejects questions that the stretch does not support.
//! - [`lessons`] stores the others in a file, so that an interrupted run can continue.
//!
//! The result is a folder that `fit` can read.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use anyhow::bail;
use domain::port::{LanguageModel, ModelCost};
use eval::data::{Conversation, Question};

use crate::teach::stretch::Stretch;
use lessons::{Lesson, LessonFile, lesson_key};

pub mod check;
pub mod command;
pub mod lessons;
pub mod prompt;
pub mod source;
pub mod stretch;
pub mod text_digest;

/// Number of consecutive failures of the endpoint that ends a run.
const FAILURES_MAX: usize = 3;
/// Estimated tokens of a reply: four questions.
const REPLY_TOKENS: usize = 320;

/// A language model that writes questions, and the limits of a run.
pub struct Teacher {
    /// Model that replies to the prompts.
    pub model: Arc<dyn LanguageModel>,
    /// Name of the model. A lesson by another model does not count as done.
    pub name: String,
    /// Maximum number of calls of a run, including repeated ones.
    pub calls_max: u32,
    /// Seed of the order of the stretches.
    pub seed: u64,
}

/// Estimated effort of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Number of stretches in the data.
    pub stretches: usize,
    /// Number of stretches that already have a lesson.
    pub done: usize,
    /// Number of calls, if every reply can be read.
    pub calls: usize,
    /// Number of tokens that the model reads.
    pub prompt_tokens: usize,
    /// Rough number of tokens that it writes.
    pub completion_tokens: usize,
}

/// Result of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TeachOutcome {
    /// Number of questions in the data set, including those of earlier runs.
    pub questions: usize,
    /// Number of questions of this run that were rejected, and of replies that could not be read.
    pub left_out: usize,
    /// Calls and tokens that this run used.
    pub spent: ModelCost,
    /// Number of stretches that have no lesson yet.
    pub open: usize,
}

/// Returns the estimated effort of a run with at most `calls_max` calls, without making a call.
///
/// # Errors
/// If the file of lessons in the folder cannot be read.
pub fn estimate_cost(
    name: &str,
    calls_max: u32,
    conversations: &[Conversation],
    out: &Path,
) -> anyhow::Result<Estimate> {
    let stretches = source::cut_stretches(conversations);
    let known = LessonFile::read(out)?;
    let open: Vec<&Stretch<'_>> = stretches
        .iter()
        .filter(|it| !known.holds(&lesson_key(it, name)))
        .collect();
    let asked: Vec<&&Stretch<'_>> = open.iter().take(usize::try_from(calls_max)?).collect();
    Ok(Estimate {
        stretches: stretches.len(),
        done: stretches.len() - open.len(),
        calls: asked.len(),
        prompt_tokens: asked.iter().map(|it| prompt::count_tokens(it)).sum(),
        completion_tokens: asked.len() * REPLY_TOKENS,
    })
}

/// Makes a lesson for each stretch that has none, appends each lesson to the file as soon as it is complete, and
/// writes the data set.
///
/// # Errors
/// If a file of the folder cannot be read or written, or if the endpoint fails three times in a row. Earlier lessons
/// are kept.
pub async fn generate_lessons(
    teacher: &Teacher,
    conversations: &[Conversation],
    out: &Path,
) -> anyhow::Result<TeachOutcome> {
    std::fs::create_dir_all(out)?;
    let mut stretches = source::cut_stretches(conversations);
    let order = |it: &Stretch<'_>| text_digest::digest_of_text(&format!("{} {}", teacher.seed, lesson_key(it, "")));
    stretches.sort_by_cached_key(order);
    let mut file = LessonFile::open(out)?;
    let count = stretches.len();
    let open: Vec<Stretch<'_>> = stretches
        .into_iter()
        .filter(|it| !file.holds(&lesson_key(it, &teacher.name)))
        .collect();
    let mut taught = TeachOutcome {
        open: open.len(),
        ..TeachOutcome::default()
    };
    let mut failures = Vec::new();
    for stretch in &open {
        if taught.spent.calls >= teacher.calls_max || failures.len() >= FAILURES_MAX {
            break;
        }
        match ask_teacher(teacher, stretch, teacher.calls_max - taught.spent.calls).await {
            Ok(lesson) => {
                failures.clear();
                taught.spent.calls += lesson.calls;
                taught.spent.usage.add_usage(lesson.usage);
                taught.left_out += lesson.left_out.len();
                taught.open -= 1;
                file.append(lesson)?;
            }
            Err(error) => failures.push(error),
        }
        eprintln!(
            "{} of {count} stretches, {} calls, {} questions",
            count - taught.open,
            taught.spent.calls,
            file.questions().count()
        );
    }
    taught.questions = write_data_set(conversations, &file, out)?;
    if let Some(error) = failures.pop() {
        let error = format!("{error:#}");
        bail!(
            "{error}; {} questions were kept, run it again once the endpoint answers and it goes on from there",
            taught.questions
        );
    }
    Ok(taught)
}

/// Asks the model about one stretch. If the reply cannot be read and a call is left, it asks once more.
async fn ask_teacher(teacher: &Teacher, stretch: &Stretch<'_>, calls_left: u32) -> anyhow::Result<Lesson> {
    let chat = prompt::build_chat(stretch);
    let attempts = [chat.clone(), chat.with_remark(prompt::REMARK)];
    let mut lesson = Lesson::of(stretch, &teacher.name);
    for chat in attempts.iter().take(usize::try_from(calls_left)?) {
        let completion = teacher.model.complete(chat).await?;
        lesson.calls += 1;
        lesson.usage.add_usage(completion.usage);
        if let Some(proposals) = prompt::parse_proposals(&completion.text) {
            lesson.take(proposals, stretch);
            return Ok(lesson);
        }
    }
    lesson.note_unreadable();
    Ok(lesson)
}

/// Writes the data set and returns its number of questions. A question about turns that the data no longer contains is
/// left out, and so is a question that repeats another one about the same conversation.
fn write_data_set(conversations: &[Conversation], file: &LessonFile, out: &Path) -> anyhow::Result<usize> {
    let turns = conversations.iter().flat_map(|it| {
        it.turns
            .iter()
            .map(move |turn| (it.conversation_id.as_str(), turn.id.as_str()))
    });
    let turns: BTreeSet<(&str, &str)> = turns.collect();
    let holds = |question: &Question| {
        let mut cited = question.evidence.iter().chain(&question.anchor);
        cited.all(|it| turns.contains(&(question.conversation_id.as_str(), it.as_str())))
    };
    let mut asked = BTreeSet::new();
    let mut questions: Vec<&Question> = file.questions().filter(|it| holds(it)).collect();
    questions.sort_by(|a, b| a.id.cmp(&b.id));
    questions.retain(|it| asked.insert((it.conversation_id.as_str(), it.question.to_lowercase())));
    lessons::write_lines(&out.join("conversations.jsonl"), conversations)?;
    lessons::write_lines(&out.join("questions.jsonl"), &questions)?;
    Ok(questions.len())
}
