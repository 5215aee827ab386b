//! Slots that may have several values at the same time: the things that a person is allergic to.

use domain::predicate::Predicate;
use text::facts::{Statement, Subject};
use text::{split_words, stem_word, stem_words};

use super::Sought;
use super::line_statements::LineStatement;
use crate::answer::{FoundAnswer, strip_speaker_words};
use crate::evidence::evidence_lines::{Pool, is_same_speaker};

/// The values of a statement that still hold.
struct Held<'a> {
    statement: &'a LineStatement,
    values: Vec<String>,
    /// Whether all values of the statement hold.
    is_whole: bool,
}

impl Sought {
    /// Returns all present values in the order in which they were stated, or `None` if there are none. A later denial
    /// removes a value, except if others deny a person's own statement. Returns `None` too if it is unclear which value
    /// a denial means, or if the teller says later that a value is wrong.
    pub(super) fn all_that_hold(&self, statements: &[LineStatement], pool: &Pool<'_>) -> Option<FoundAnswer> {
        let observed_at = |line: usize| pool.lines[line].turn.observed_at;
        let mut held: Vec<Held<'_>> = Vec::new();
        for statement in statements {
            let is_denial = !statement.positive
                || Predicate::from_verb_phrase(&statement.predicate) == Predicate::IsNotAllergicTo
                || statement.ended
                || self.is_past(statement, observed_at(statement.line).to_utc());
            if is_denial {
                remove_denied_values(statement, &mut held)?;
            } else {
                let new = find_new_values(statement, &held);
                held.extend(new);
            }
        }
        held.retain(|it| !it.values.is_empty());
        let is_wrong = |it: &Held<'_>| it.values.iter().any(|value| is_called_wrong(it.statement, value, pool));
        if held.iter().any(is_wrong) {
            return None;
        }
        let values: Vec<String> = held.iter().map(Held::show).collect();
        let mut lines: Vec<usize> = Vec::new();
        for line in held.iter().flat_map(|it| it.statement.lines()) {
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        let last = observed_at(*lines.last()?);
        let confidences = held.iter().map(|it| it.statement.confidence);
        Some(FoundAnswer {
            text: values.join(", "),
            lines,
            share: 1.0,
            reason: Some(format!("stated on {}", last.format("%-d %B %Y"))),
            conflict: false,
            is_doubtful: false,
            stated: Some(confidences.fold(1.0, f32::min)),
        })
    }
}

impl Held<'_> {
    /// Returns the values as they were said, or the rest of them.
    fn show(&self) -> String {
        match self.is_whole {
            true => strip_speaker_words(&self.statement.object),
            false => self.values.join(", "),
        }
    }

    fn has_value(&self, value: &str) -> bool {
        self.values.iter().any(|it| is_same_value(it, value))
    }
}

/// Returns the values of a statement that do not hold yet; `None` if there are none.
fn find_new_values<'a>(statement: &'a LineStatement, held: &[Held<'_>]) -> Option<Held<'a>> {
    let mut values = split_values(statement);
    let count = values.len();
    values.retain(|value| !held.iter().any(|it| it.has_value(value)));
    (!values.is_empty()).then_some(Held {
        statement,
        is_whole: values.len() == count,
        values,
    })
}

/// Removes the values that a statement denies. Returns `None` if it denies something that only resembles a value: then
/// it is unclear whether the value still holds.
fn remove_denied_values(denial: &LineStatement, held: &mut [Held<'_>]) -> Option<()> {
    for denied in split_values(denial) {
        let is_known = held.iter().any(|it| it.has_value(&denied));
        let stems = stem_words(&denied);
        for it in held.iter_mut() {
            if !is_own(denial) && is_own(it.statement) {
                continue;
            }
            let resembles = |value: &String| stem_words(value).iter().any(|stem| stems.contains(stem));
            if !is_known && it.values.iter().any(resembles) {
                return None;
            }
            let count = it.values.len();
            it.values.retain(|value| !is_same_value(value, &denied));
            it.is_whole &= it.values.len() == count;
        }
    }
    Some(())
}

/// Returns the single values of a statement: "penicillin and walnuts" are two.
fn split_values(statement: &Statement) -> Vec<String> {
    let object = strip_speaker_words(&statement.object);
    let parts = object.split(", ").flat_map(|it| it.split(" and "));
    let parts = parts.map(|it| it.strip_prefix("and ").unwrap_or(it).trim());
    parts.filter(|it| !it.is_empty()).map(str::to_owned).collect()
}

fn is_same_value(a: &str, b: &str) -> bool {
    a.to_lowercase() == b.to_lowercase()
}

/// Returns true if the teller of a statement says later that its value is wrong without stating another fact: "It's not
/// cats at all, it's dust mites".
pub(super) fn is_called_wrong(statement: &LineStatement, value: &str, pool: &Pool<'_>) -> bool {
    let stated = &pool.lines[statement.line].turn.actor;
    let stems = stem_words(value);
    let denies = |text: &str| {
        let words = split_words(text);
        words.windows(2).any(|it| {
            let before = it[0].to_lowercase().replace('’', "'");
            (before == "not" || before.ends_with("n't")) && stems.first() == Some(&stem_word(it[1]))
        })
    };
    pool.lines.iter().enumerate().any(|(at, line)| {
        is_same_speaker(&line.turn.actor, stated)
            && pool.is_later(at, statement.line)
            && line.sentences.iter().any(|it| !it.question && denies(&it.text))
    })
}

fn is_own(statement: &Statement) -> bool {
    statement.subject == Subject::Speaker
}
