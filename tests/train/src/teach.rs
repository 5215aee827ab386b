//! A language model as a teacher: it writes questions about the talks and trajectories of a user, with their answers, the turns
//! that hold them and the turn that each starts from (S3Mem trains its heads on labels made like that).
//!
//! [`source`] reads what a user has and cuts it into stretches, [`prompt`] says what is asked and reads the replies, [`check`] leaves
//! out what the stretch does not bear out, [`lessons`] keeps the rest in a file so that a run that broke off goes on. What comes
//! out is a folder as `fit` reads it.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use anyhow::bail;
use domain::port::{LanguageModel, ModelCost};
use eval::data::{Conversation, Question};

use lessons::{Lesson, LessonFile};
use source::Stretch;

pub mod check;
pub mod command;
pub mod lessons;
pub mod prompt;
pub mod source;

/// Failures of the endpoint, one after another, at which a run ends.
const FAILURES_MAX: usize = 3;
/// Tokens that a reply is estimated at: four questions.
const REPLY_TOKENS: usize = 320;

/// Who teaches.
pub struct Teacher {
    /// Replies to the prompts.
    pub model: Arc<dyn LanguageModel>,
    /// Its name: lessons of another one do not count.
    pub name: String,
    /// Calls at most, repetitions included.
    pub calls_max: u32,
    /// Decides which stretches come first.
    pub seed: u64,
}

/// What a run would take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Stretches of the data.
    pub stretches: usize,
    /// Those of them that were taught before.
    pub done: usize,
    /// Calls, if every reply can be read.
    pub calls: usize,
    /// Tokens that the model reads.
    pub prompt_tokens: usize,
    /// Tokens that it writes, roughly.
    pub completion_tokens: usize,
}

/// What came of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Taught {
    /// Questions in the data set, those of earlier runs too.
    pub questions: usize,
    /// Questions of this run that were left out, and replies that could not be read.
    pub left_out: usize,
    /// What this run spent.
    pub spent: ModelCost,
    /// Stretches that are left.
    pub open: usize,
}

/// Says what a run of so many calls would take, without a call.
///
/// # Errors
/// If the folder holds a file of lessons that cannot be read.
pub fn estimate(name: &str, calls_max: u32, conversations: &[Conversation], out: &Path) -> anyhow::Result<Estimate> {
    let stretches = source::stretches(conversations);
    let known = LessonFile::read(out)?;
    let open: Vec<&Stretch<'_>> = stretches.iter().filter(|it| !known.holds(&it.key(name))).collect();
    let asked: Vec<&&Stretch<'_>> = open.iter().take(usize::try_from(calls_max)?).collect();
    Ok(Estimate {
        stretches: stretches.len(),
        done: stretches.len() - open.len(),
        calls: asked.len(),
        prompt_tokens: asked.iter().map(|it| prompt::tokens(it)).sum(),
        completion_tokens: asked.len() * REPLY_TOKENS,
    })
}

/// Has the stretches taught that were not, adds each lesson to its file as soon as it is there, and writes the data set.
///
/// # Errors
/// If a file of the folder cannot be read or written, or the endpoint fails three times in a row: what came before is kept.
pub async fn teach(teacher: &Teacher, conversations: &[Conversation], out: &Path) -> anyhow::Result<Taught> {
    std::fs::create_dir_all(out)?;
    let mut stretches = source::stretches(conversations);
    let order = |it: &Stretch<'_>| lessons::digest(&format!("{} {}", teacher.seed, it.key("")));
    stretches.sort_by_cached_key(order);
    let mut file = LessonFile::open(out)?;
    let count = stretches.len();
    let open: Vec<Stretch<'_>> = stretches
        .into_iter()
        .filter(|it| !file.holds(&it.key(&teacher.name)))
        .collect();
    let mut taught = Taught {
        open: open.len(),
        ..Taught::default()
    };
    let mut failures = Vec::new();
    for stretch in &open {
        if taught.spent.calls >= teacher.calls_max || failures.len() >= FAILURES_MAX {
            break;
        }
        match ask(teacher, stretch, teacher.calls_max - taught.spent.calls).await {
            Ok(lesson) => {
                failures.clear();
                taught.spent.calls += lesson.calls;
                taught.spent.usage.add(lesson.usage);
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
    taught.questions = write(conversations, &file, out)?;
    if let Some(error) = failures.pop() {
        let error = format!("{error:#}");
        bail!(
            "{error}; {} questions were kept, run it again once the endpoint answers and it goes on from there",
            taught.questions
        );
    }
    Ok(taught)
}

/// Asks about one stretch, and once more if the reply cannot be read and a call is left.
async fn ask(teacher: &Teacher, stretch: &Stretch<'_>, calls_left: u32) -> anyhow::Result<Lesson> {
    let chat = prompt::chat(stretch);
    let attempts = [chat.clone(), chat.with_remark(prompt::REMARK)];
    let mut lesson = Lesson::of(stretch, &teacher.name);
    for chat in attempts.iter().take(usize::try_from(calls_left)?) {
        let completion = teacher.model.complete(chat).await?;
        lesson.calls += 1;
        lesson.usage.add(completion.usage);
        if let Some(proposals) = prompt::read(&completion.text) {
            lesson.take(proposals, stretch);
            return Ok(lesson);
        }
    }
    lesson.note_unreadable();
    Ok(lesson)
}

/// Writes the data set, and returns its number of questions. A question about turns that the data does not hold any more is left out,
/// and so is one that is asked of the same conversation already.
fn write(conversations: &[Conversation], file: &LessonFile, out: &Path) -> anyhow::Result<usize> {
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
