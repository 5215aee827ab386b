//! Scores a run against a data set without a language model.
//!
//! Evidence is measured by rank and under token budgets ([`retrieval`]). Answers are scored by shared stems
//! ([`answer`]) and in the way of the papers ([`published`]). Refusals are scored as a classification whose positive
//! class is the unanswerable questions ([`summary`]). A question without a line counts as an empty ranking.

pub mod answer;
pub mod porter;
pub mod published;
pub mod retrieval;
pub mod right;
pub mod summary;
pub mod words;

use std::collections::{BTreeSet, HashMap};

use anyhow::ensure;

use crate::data::{DataSet, Question, Turn};
use crate::run_file::Line;
use retrieval::{Gold, Groups, Metrics};

/// Gold labels that are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Labels {
    /// The published labels.
    Original,
    /// The published labels, with wrong citations replaced by those of the audit. Questions whose answer the audit
    /// found wrong are left out.
    #[default]
    Clean,
    /// Evidence and answers of the audit, with all questions.
    Audited,
}

/// Error class of the audit for a question whose citation is wrong but whose answer is right.
const CITATION_ERROR: &str = "WRONG_CITATION";

/// Number of first ranks that `trap@5` searches for trap evidence.
const TRAP_RANKS: usize = 5;

/// The scores of one question.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Id of the question.
    pub id: String,
    /// Id of its conversation.
    pub conversation: String,
    /// Category of the question.
    pub category: String,
    /// Whether the question has an answer.
    pub answerable: bool,
    /// Whether the system refused.
    pub refused: bool,
    /// Whether the line has an answer or says whether the system refused.
    pub answered: bool,
    /// Whether the run has a line for the question.
    pub present: bool,
    /// Metrics by name.
    pub metrics: Metrics,
}

/// Returns the scores of a run, one row for each question, in the order of the questions.
///
/// # Errors
/// If two lines are about the same question, or if a question is about an unknown conversation.
pub fn score_run(data: &DataSet, run: &[Line], labels: Labels) -> anyhow::Result<Vec<Row>> {
    let mut lines = HashMap::new();
    for line in run {
        ensure!(
            lines.insert(line.question_id.as_str(), line).is_none(),
            "two lines for {}",
            line.question_id
        );
    }
    let turns: HashMap<&str, HashMap<&str, &Turn>> = data
        .conversations
        .iter()
        .map(|it| {
            (
                it.conversation_id.as_str(),
                it.turns.iter().map(|turn| (turn.id.as_str(), turn)).collect(),
            )
        })
        .collect();
    let mut counted = HashMap::<String, usize>::new();
    let mut count = |text: &str| match counted.get(text) {
        Some(tokens) => *tokens,
        None => *counted
            .entry(text.to_owned())
            .or_insert_with(|| text::count_tokens(text)),
    };
    let mut rows = Vec::new();
    for question in data.questions.iter().filter(|it| !left_out(it, labels)) {
        let turns = turns.get(question.conversation_id.as_str());
        let turns = turns.ok_or_else(|| anyhow::anyhow!("{} is about an unknown conversation", question.id))?;
        rows.push(score_line(
            question,
            lines.get(question.id.as_str()).copied(),
            labels,
            turns,
            &mut count,
        ));
    }
    Ok(rows)
}

/// Adds three metrics: `right`, whether a given answer is right; `given`, whether an answerable question got an
/// answer; and `fooled`, whether an unanswerable question got one. Questions with options or a rubric do not ask for a
/// short answer and are skipped.
fn by_answer(question: &Question, line: &Line, metrics: &mut Metrics) {
    if !question.options.is_empty() || !question.rubric.is_empty() {
        return;
    }
    let given = line.answer.as_deref().filter(|it| !it.is_empty() && !line.refused());
    let name = if question.answerable { "given" } else { "fooled" };
    metrics.insert(name.into(), f64::from(given.is_some()));
    if let Some(given) = given {
        metrics.insert("right".into(), f64::from(right::is_right(question, given)));
    }
}

fn score_line(
    question: &Question,
    line: Option<&Line>,
    labels: Labels,
    turns: &HashMap<&str, &Turn>,
    count: retrieval::Count<'_>,
) -> Row {
    let missing = Line::default();
    let present = line.is_some();
    let line = line.unwrap_or(&missing);
    let answer = gold_answer(question, labels);
    let groups = gold_groups(question, labels);
    let mut metrics = Metrics::new();
    let answered = line.answer.is_some() || line.abstained.is_some();
    if answered {
        metrics.insert("answer".into(), answer::score_answer(question, answer, line));
        published::add_published_metrics(question, answer, line, &mut metrics);
        by_answer(question, line, &mut metrics);
    }
    if question.answerable && !groups.is_empty() {
        retrieval::by_rank(&groups, &line.ranked, &mut metrics);
        let gold = Gold {
            question,
            answer,
            groups: &groups,
            turns,
        };
        retrieval::by_budget(&gold, line, count, &mut metrics);
    }
    if !question.answerable && !question.trap_evidence.is_empty() {
        let mut top = line.ranked.iter().take(TRAP_RANKS).flat_map(|it| &it.turn_ids);
        metrics.insert(
            "trap@5".into(),
            f64::from(top.any(|id| question.trap_evidence.contains(id))),
        );
    }
    metrics.extend(line.latency_ms.map(|it| ("latency_ms".to_owned(), it)));
    metrics.extend(line.packed_tokens.map(|it| ("packed_tokens".to_owned(), it)));
    Row {
        id: question.id.clone(),
        conversation: question.conversation_id.clone(),
        category: question.category.clone(),
        answerable: question.answerable,
        refused: line.refused(),
        answered,
        present,
        metrics,
    }
}

fn left_out(question: &Question, labels: Labels) -> bool {
    let answer_is_wrong = question.audit_error.as_deref().is_some_and(|it| it != CITATION_ERROR);
    labels == Labels::Clean && answer_is_wrong
}

fn gold_answer(question: &Question, labels: Labels) -> &str {
    let audited = question
        .answer_audited
        .as_deref()
        .filter(|it| labels == Labels::Audited && !it.is_empty());
    audited.unwrap_or(&question.answer)
}

fn gold_groups(question: &Question, labels: Labels) -> Groups<'_> {
    let groups: Groups<'_> = question
        .evidence_groups
        .iter()
        .map(|it| it.iter().map(String::as_str).collect())
        .collect();
    if !groups.is_empty() {
        return groups
            .into_iter()
            .filter(|it: &BTreeSet<&str>| !it.is_empty())
            .collect();
    }
    let corrected = match labels {
        Labels::Original => false,
        Labels::Clean => question.audit_error.as_deref() == Some(CITATION_ERROR),
        Labels::Audited => true,
    };
    let audited = corrected && !question.evidence_audited.is_empty();
    let evidence = if audited {
        &question.evidence_audited
    } else {
        &question.evidence
    };
    let mut seen = BTreeSet::new();
    evidence
        .iter()
        .filter(|id| seen.insert(id.as_str()))
        .map(|id| BTreeSet::from([id.as_str()]))
        .collect()
}
