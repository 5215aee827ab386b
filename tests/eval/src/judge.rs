//! A language model judges answers. Each answer gets two verdicts. The second call shows the gold answer and the given
//! answer in the other order, because judges favour a position.
//!
//! [`prompt`] makes the prompt and reads the replies, [`verdicts`] stores them in a file so that an interrupted run
//! can continue, and [`report`] adds them up. The judge is any [`LanguageModel`].

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
use crate::drive::progress_bar;
use crate::run_file;
use prompt::{Order, Verdict};
use verdicts::{VerdictFile, VerdictLine};

/// An answer to be judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// Id of the answer; unique in the file.
    #[serde(alias = "question_id")]
    pub id: String,
    /// The question.
    pub question: String,
    /// The right answer; empty if there is none.
    #[serde(default)]
    pub gold: String,
    /// Other wordings of the right answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accept: Vec<String>,
    /// The answer to be judged; empty if none was given.
    #[serde(default)]
    pub given: String,
    /// Kind of question, for tables.
    #[serde(default)]
    pub category: String,
}

/// Returns the answers of a run to the questions of a data set. A question without a line has an empty answer.
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

/// Reads a file of answers, one on each line.
///
/// # Errors
/// If the file cannot be read, a line does not fit, or an id occurs twice.
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

/// A language model that judges, and the limits of its use.
pub struct Judge {
    /// Model that replies to the prompts.
    pub model: Arc<dyn LanguageModel>,
    /// Name of the model. A verdict by another model does not count as done.
    pub name: String,
    /// Number of parallel calls.
    pub jobs: usize,
}

/// Result of judging.
pub struct JudgeOutcome {
    /// Verdicts of all answers, including those of earlier runs.
    pub verdicts: Vec<VerdictLine>,
    /// Calls and tokens that this run used.
    pub spent: ModelCost,
    /// Errors that explain missing verdicts.
    pub failures: Vec<anyhow::Error>,
}

struct WantedVerdict<'a> {
    answer: &'a Answer,
    order: Order,
    key: String,
}

/// Asks for the verdicts that the file does not contain, and appends each to the file as soon as it is complete.
///
/// # Errors
/// If the file cannot be read or written. If the judge gives no reply about an answer, only that answer fails.
pub async fn judge_answers(judge: &Judge, answers: &[Answer], path: &Path) -> anyhow::Result<JudgeOutcome> {
    let mut file = VerdictFile::open(path)?;
    let wanted = answers.iter().flat_map(|answer| {
        Order::BOTH.map(|order| WantedVerdict {
            answer,
            order,
            key: verdicts::key(&judge.name, answer, order),
        })
    });
    let (held, missing): (Vec<_>, Vec<_>) = wanted.partition(|it| file.holds(&it.key));
    let bar = progress_bar(held.len() + missing.len(), "verdicts");
    bar.inc(held.len() as u64);
    let mut judged = JudgeOutcome {
        verdicts: held.iter().filter_map(|it| file.get(&it.key)).collect(),
        spent: ModelCost::default(),
        failures: Vec::new(),
    };
    let mut asked = stream::iter(missing)
        .map(|wanted| ask_judge(judge, wanted))
        .buffer_unordered(judge.jobs.max(1));
    while let Some(line) = asked.next().await {
        bar.inc(1);
        match line {
            Ok(line) => {
                judged.spent.calls = judged.spent.calls.saturating_add(line.calls);
                judged.spent.usage.add_usage(line.usage);
                file.append(&line)?;
                judged.verdicts.push(line);
            }
            Err(error) => judged.failures.push(error),
        }
    }
    bar.finish();
    Ok(judged)
}

/// Asks for one verdict. If the reply cannot be read, it asks once more.
async fn ask_judge(judge: &Judge, wanted: WantedVerdict<'_>) -> anyhow::Result<VerdictLine> {
    let chat = prompt::build_chat(wanted.answer, wanted.order);
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
        line.usage.add_usage(completion.usage);
        if let Some(read) = prompt::parse_reply(&completion.text) {
            (line.verdict, line.reason) = (read.verdict, read.reason);
            break;
        }
    }
    Ok(line)
}
