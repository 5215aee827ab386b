//! A language model as a judge of answers: two verdicts for each, of which the second sees gold and given answer in the other
//! order, since judges favour a place.
//!
//! [`prompt`] says what is asked and reads the replies, [`verdicts`] keeps them in a file so that a run that broke off goes on,
//! [`report`] adds them up. The judge is any [`LanguageModel`].

pub mod prompt;
pub mod report;
pub mod verdicts;

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, ensure};
use domain::port::{LanguageModel, ModelCost, Usage};
use futures::{StreamExt, stream};
use serde::{Deserialize, Serialize};

use crate::data::{DataSet, read_lines};
use crate::drive::progress;
use crate::run_file;
use prompt::{Order, Verdict};
use verdicts::{VerdictFile, VerdictLine};

/// An answer to be judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// Names it; unique in the file.
    #[serde(alias = "question_id")]
    pub id: String,
    /// What was asked.
    pub question: String,
    /// The right answer; empty if there is none.
    #[serde(default)]
    pub gold: String,
    /// Other wordings of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accept: Vec<String>,
    /// The answer to be judged; empty if none was given.
    #[serde(default)]
    pub given: String,
    /// Kind of question, for tables.
    #[serde(default)]
    pub category: String,
}

/// Returns the answers of a run to the questions of a data set; a question without a line has an empty one.
///
/// # Errors
/// If two lines are about the same question.
pub fn answers_of(data: &DataSet, run: &[run_file::Line]) -> anyhow::Result<Vec<Answer>> {
    let mut lines: HashMap<&str, &run_file::Line> = HashMap::new();
    for line in run {
        let before = lines.insert(&line.question_id, line);
        ensure!(before.is_none(), "two lines for {}", line.question_id);
    }
    let answers = data.questions.iter().map(|question| {
        let line = lines.get(question.id.as_str()).filter(|it| !it.refused());
        Answer {
            id: question.id.clone(),
            question: question.question.clone(),
            gold: question.answer.clone(),
            accept: question.accept.clone(),
            given: line.and_then(|it| it.answer.clone()).unwrap_or_default(),
            category: question.category.clone(),
        }
    });
    Ok(answers.collect())
}

/// Reads a file of answers, one a line.
///
/// # Errors
/// If it cannot be read, a line does not fit, or an id stands twice.
pub fn read_answers(path: &Path) -> anyhow::Result<Vec<Answer>> {
    let answers: Vec<Answer> = read_lines(path)?;
    let mut ids = HashSet::new();
    for answer in &answers {
        ensure!(
            ids.insert(&answer.id),
            "{}: two answers are called {}",
            path.display(),
            answer.id
        );
    }
    Ok(answers)
}

/// Who judges.
pub struct Judge {
    /// Replies to the prompts.
    pub model: Arc<dyn LanguageModel>,
    /// Its name: verdicts of another one do not count.
    pub name: String,
    /// Calls at once.
    pub jobs: usize,
}

/// What came of judging.
pub struct Judged {
    /// The verdicts of all answers, those of earlier runs too.
    pub verdicts: Vec<VerdictLine>,
    /// What this run spent.
    pub spent: ModelCost,
    /// Why verdicts are missing.
    pub failures: Vec<anyhow::Error>,
}

struct Wanted<'a> {
    answer: &'a Answer,
    order: Order,
    key: String,
}

/// Asks for the verdicts that the file does not hold, and adds each to it as soon as it is there.
///
/// # Errors
/// If the file cannot be read or written. An answer that the judge gives no reply to is a failure of that answer alone.
pub async fn judge(judge: &Judge, answers: &[Answer], path: &Path) -> anyhow::Result<Judged> {
    let mut file = VerdictFile::open(path)?;
    let wanted = answers.iter().flat_map(|answer| {
        Order::BOTH.map(|order| Wanted {
            answer,
            order,
            key: verdicts::key(&judge.name, answer, order),
        })
    });
    let (held, missing): (Vec<_>, Vec<_>) = wanted.partition(|it| file.holds(&it.key));
    let bar = progress(held.len() + missing.len(), "verdicts");
    bar.inc(held.len() as u64);
    let mut judged = Judged {
        verdicts: held.iter().filter_map(|it| file.get(&it.key)).collect(),
        spent: ModelCost::default(),
        failures: Vec::new(),
    };
    let mut asked = stream::iter(missing)
        .map(|wanted| ask(judge, wanted))
        .buffer_unordered(judge.jobs.max(1));
    while let Some(line) = asked.next().await {
        bar.inc(1);
        match line {
            Ok(line) => {
                judged.spent.calls = judged.spent.calls.saturating_add(line.calls);
                judged.spent.usage.add(line.usage);
                file.append(&line)?;
                judged.verdicts.push(line);
            }
            Err(error) => judged.failures.push(error),
        }
    }
    bar.finish();
    Ok(judged)
}

/// Asks for one verdict, and once more if the reply cannot be read.
async fn ask(judge: &Judge, wanted: Wanted<'_>) -> anyhow::Result<VerdictLine> {
    let chat = prompt::chat(wanted.answer, wanted.order);
    let attempts = [chat.clone(), chat.with_remark(prompt::REMARK)];
    let mut line = VerdictLine {
        key: wanted.key,
        id: wanted.answer.id.clone(),
        order: wanted.order,
        verdict: Verdict::Unreadable,
        reason: String::new(),
        calls: 0,
        usage: Usage::default(),
    };
    for chat in attempts {
        let completion = judge.model.complete(&chat).await;
        let completion = completion.with_context(|| format!("answer {}", wanted.answer.id))?;
        line.calls += 1;
        line.usage.add(completion.usage);
        if let Some(read) = prompt::read(&completion.text) {
            (line.verdict, line.reason) = (read.verdict, read.reason);
            break;
        }
    }
    Ok(line)
}
