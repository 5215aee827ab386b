//! The statements of the lines of a pool, with the corrections that their speakers made later: "Sorry, I meant Braga."

use std::collections::BTreeSet;
use std::ops::Deref;

use chrono::{DateTime, FixedOffset};
use domain::evidence::Turn;
use text::facts::{Correction, Statement, Telling, apply_correction, read_correction, stated_in_reply};
use text::people::role::is_assistant_to;

use crate::evidence::amendments::amend_value;
use crate::evidence::evidence_lines::{Pool, is_same_speaker};

/// Number of earlier lines with statements that a correction may refer to. The clusterer uses the same number for facts.
const BACK: usize = 8;

/// A question about no value. It is used for turns whose question, if there is one, is not in the request.
const UNKNOWN_QUESTION: &str = "?";

/// A statement, and the lines from which it was read.
#[derive(Clone, Debug)]
pub(super) struct LineStatement {
    /// Index of the line that states it.
    pub(super) line: usize,
    /// Index of the later line that corrects it, if there is one.
    correction_line: Option<usize>,
    statement: Statement,
}

impl Deref for LineStatement {
    type Target = Statement;

    fn deref(&self) -> &Statement {
        &self.statement
    }
}

impl LineStatement {
    /// Returns the indices of the lines from which the statement was read: the one that states it, and the one that
    /// corrects it.
    pub(super) fn lines(&self) -> impl Iterator<Item = usize> {
        std::iter::once(self.line).chain(self.correction_line)
    }
}

/// Returns the statements of all lines, in the order of the lines; those of a line in the order of its text.
pub(super) fn find_line_statements(pool: &Pool<'_>) -> Vec<LineStatement> {
    let lines = 0..pool.lines.len();
    let mut by_line: Vec<Vec<LineStatement>> = lines.map(|it| read_line_statements(pool, it)).collect();
    for spoken in find_spoken_corrections(pool, &by_line) {
        apply_spoken_correction(&spoken, pool, &mut by_line);
    }
    by_line.into_iter().flatten().collect()
}

/// Returns the statements of a line with its amendments, including those that it makes by answering a question.
fn read_line_statements(pool: &Pool<'_>, line: usize) -> Vec<LineStatement> {
    let turn = pool.lines[line].turn;
    let telling = Telling {
        text: &turn.text,
        speaker: &turn.actor,
        addressee: &turn.addressee,
        observed_at: turn.observed_at,
    };
    let amend = |it: Statement| {
        let object = amend_value(turn, &it.object)?;
        Some(LineStatement {
            line,
            correction_line: None,
            statement: Statement { object, ..it },
        })
    };
    stated_in_reply(&telling, &turn.question)
        .into_iter()
        .filter_map(amend)
        .collect()
}

/// A line that corrects an earlier one.
struct SpokenCorrection {
    line: usize,
    correction: Correction,
}

/// Returns the corrections in lines that state nothing themselves. Those of a session are in the order of the lines.
fn find_spoken_corrections(pool: &Pool<'_>, by_line: &[Vec<LineStatement>]) -> Vec<SpokenCorrection> {
    let read = |line: usize| {
        let turn = pool.lines[line].turn;
        let is_silent = by_line[line].is_empty() && !is_assistant_to(&turn.actor, &turn.addressee);
        let correction = is_silent.then(|| read_line_correction(turn)).flatten()?;
        Some(SpokenCorrection { line, correction })
    };
    let mut corrections: Vec<SpokenCorrection> = (0..by_line.len()).filter_map(read).collect();
    // A second correction may correct the value of the first one.
    corrections.sort_by_key(|it| lines_before(pool, it.line).count());
    corrections
}

/// Returns the correction that a turn makes, if its text names the wrong value or admits a mistake of its speaker.
/// "No, it's Fido." alone may answer a question in a turn that the request hides. The pool has no trace of such a turn,
/// not even a gap, so the line directly before it does not show whether it is an answer.
fn read_line_correction(turn: &Turn) -> Option<Correction> {
    let question = match turn.question.as_str() {
        "" => UNKNOWN_QUESTION,
        known => known,
    };
    read_correction(&turn.text, question)
}

/// Returns the lines before a line in its session, the nearest first, as far as the pool has them.
fn lines_before(pool: &Pool<'_>, line: usize) -> impl Iterator<Item = usize> {
    let previous = move |it: &usize| pool.lines[*it].previous;
    std::iter::successors(previous(&line), previous).take(pool.lines.len())
}

/// Corrects the last statement of the same speaker that a correction fits. The clusterer has another rule for facts: it
/// corrects the last statement that fits, of any speaker. If the correction names no wrong value and fits several
/// values, it is unclear which one is wrong, so the statements that it would correct are left out.
fn apply_spoken_correction(spoken: &SpokenCorrection, pool: &Pool<'_>, by_line: &mut [Vec<LineStatement>]) {
    let SpokenCorrection { line, correction } = spoken;
    let correcting = pool.lines[*line].turn;
    let stating = lines_before(pool, *line).filter(|it| !by_line[*it].is_empty());
    let stating: Vec<usize> = stating.take(BACK).collect();
    let mut fits_another_speaker = false;
    for earlier in stating {
        let turn = pool.lines[earlier].turn;
        let statements = &by_line[earlier];
        let correct = |it: &LineStatement| correct_statement(it, correction, turn.observed_at);
        let wrong_values = statements.iter().filter_map(|it| Some(wrong_value(it, &correct(it)?)));
        let wrong_values = wrong_values.collect::<BTreeSet<&str>>().len();
        if wrong_values == 0 {
            continue;
        }
        if !is_same_speaker(&turn.actor, &correcting.actor) {
            fits_another_speaker = true;
            continue;
        }
        let is_sure = correction.wrong.is_some() || wrong_values == 1 && !fits_another_speaker;
        let apply = |it: &LineStatement| {
            let Some(right) = correct(it) else {
                return Some(it.clone());
            };
            let object = amend_value(correcting, &right.object).filter(|_| is_sure)?;
            Some(LineStatement {
                line: it.line,
                correction_line: Some(*line),
                statement: Statement { object, ..right },
            })
        };
        let corrected: Vec<LineStatement> = statements.iter().filter_map(apply).collect();
        by_line[earlier] = corrected;
        return;
    }
}

/// Returns the part of a statement that its correction replaces: its object, or the words of its beginning.
fn wrong_value<'a>(wrong: &'a Statement, right: &Statement) -> &'a str {
    match &wrong.since {
        Some(since) if wrong.object == right.object => &since.words,
        Some(_) | None => &wrong.object,
    }
}

/// Returns the corrected statement: with another object, or else with another beginning. Returns `None` if the
/// correction fits neither.
fn correct_statement(wrong: &Statement, by: &Correction, observed_at: DateTime<FixedOffset>) -> Option<Statement> {
    if let Some(object) = apply_correction(&wrong.object, by) {
        let times = text::time::find_times(&object, observed_at);
        let end = times.last().map(|it| it.span.end);
        return Some(Statement {
            object,
            until: wrong.until.map(|it| end.unwrap_or(it)),
            ..wrong.clone()
        });
    }
    let words = apply_correction(&wrong.since.as_ref()?.words, by)?;
    // A month without a preposition may be a person's name.
    let mut spans = ["", "in ", "on "].iter().filter_map(|it| {
        let times = text::time::find_times(&format!("{it}{words}"), observed_at);
        times.into_iter().next().map(|it| it.span)
    });
    Some(Statement {
        since: Some(spans.next()?),
        ..wrong.clone()
    })
}
