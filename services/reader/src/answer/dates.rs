//! When something happened, as exactly as it is known and no more.

use chrono::{DateTime, FixedOffset};
use domain::time::{Precision, TimeSpan};

use super::Found;
use crate::pool::{Line, Pool};
use crate::question::Question;

/// A turn may be this much behind the best one and still lend its date, if the best one names none.
const BEHIND: f32 = 1.5;

/// A time that a turn names, with how much it looks like the answer.
struct Candidate {
    line: usize,
    worth: f32,
    span: TimeSpan,
}

/// Finds the time: the one named nearest to the matter in the best turns, else the day on which the best turn was told.
pub(crate) fn find(question: &Question, pool: &Pool<'_>, lines: &[usize]) -> Option<Found> {
    let &first = lines.first()?;
    let top = pool.lines[first].order;
    let mut best: Option<Candidate> = None;
    for &line in lines.iter().filter(|&&it| pool.lines[it].order >= top - BEHIND) {
        for candidate in candidates(pool, line, top) {
            if best.as_ref().is_none_or(|it| candidate.worth > it.worth) {
                best = Some(candidate);
            }
        }
    }
    let share = pool.lines[first]
        .sentences
        .iter()
        .map(|it| it.cover)
        .fold(0.0, f32::max);
    let Some(best) = best else {
        let told = pool.lines[first].turn.observed_at;
        let reason = Some("no time is named; this is when it was told".to_owned());
        return Some(Found {
            text: day(told),
            lines: vec![first],
            share: 0.5 * share,
            reason,
            conflict: false,
        });
    };
    let told = pool.lines[best.line].turn.observed_at;
    let reason = (!best.span.words.is_empty()).then(|| format!("\"{}\" was said on {}", best.span.words, day(told)));
    Some(Found {
        text: rendered(question, &best.span, told),
        lines: vec![best.line],
        share,
        reason,
        conflict: false,
    })
}

fn candidates(pool: &Pool<'_>, at: usize, top: f32) -> Vec<Candidate> {
    let line = &pool.lines[at];
    let mut out = Vec::new();
    for (sentence, it) in line.sentences.iter().enumerate().filter(|(_, it)| !it.caption) {
        for (order, span) in mentions(line, &it.text).into_iter().enumerate() {
            let asks = if it.question { 0.5 } else { 0.0 };
            let worth = (line.order - top) + 2.0 * it.cover - asks - 0.1 * order as f32 - 0.05 * sentence as f32;
            out.push(Candidate { line: at, worth, span });
        }
    }
    out
}

/// The resolved times of a turn whose words stand in the sentence; durations and the like are left out.
fn mentions(line: &Line<'_>, sentence: &str) -> Vec<TimeSpan> {
    let lower = sentence.to_lowercase();
    let stored = line
        .turn
        .times
        .iter()
        .filter(|it| !it.words.is_empty() && lower.contains(&it.words.to_lowercase()));
    let mut spans: Vec<TimeSpan> = stored.cloned().collect();
    if line.turn.times.is_empty() {
        spans = text::time::find(sentence, line.turn.observed_at)
            .into_iter()
            .map(|it| it.span)
            .collect();
    }
    spans.retain(|it| it.precision != Precision::Unknown);
    spans
}

/// "Last week" and its like stay relative to the day they were said on: which days are meant is not known. The time of day
/// is told only to who asks for it.
fn rendered(question: &Question, span: &TimeSpan, told: DateTime<FixedOffset>) -> String {
    if let Some(relative) = relative(span, told) {
        return relative;
    }
    let full = text::time::render(span, *told.offset());
    let full = full.strip_prefix("since ").unwrap_or(&full);
    let date = full.split_once(" at ").map_or(full, |it| it.0);
    if question.clock {
        full.to_owned()
    } else {
        date.to_owned()
    }
}

fn relative(span: &TimeSpan, told: DateTime<FixedOffset>) -> Option<String> {
    let lower = span.words.to_lowercase();
    let past = span.start < told;
    let words: Vec<&str> = lower.split_whitespace().collect();
    match words.as_slice() {
        ["last" | "past", unit] | ["this", "past" | "last", unit] if days(unit) => Some(unit),
        ["the", "past" | "last", unit] if days(unit) => Some(unit),
        [unit @ "weekend"] | [_, unit @ "weekend"] | ["over" | "on" | "at", "the", unit @ "weekend"] if past => {
            Some(unit)
        }
        _ => None,
    }
    .map(|unit| {
        let shown = if unit.starts_with("week") {
            (*unit).to_owned()
        } else {
            capitalised(unit)
        };
        format!("the {shown} before {}", day(told))
    })
    .or_else(|| {
        let (count, unit) = match words.as_slice() {
            [count, unit @ ("weeks" | "weekends"), "ago"] => (count, unit),
            _ => return None,
        };
        Some(format!("{count} {unit} before {}", day(told)))
    })
}

/// Units that leave open which days are meant.
fn days(unit: &str) -> bool {
    let week = [
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
    ];
    matches!(unit, "week" | "weekend") || week.contains(&unit)
}

fn capitalised(word: &str) -> String {
    let mut chars = word.chars();
    chars
        .next()
        .map(|it| it.to_uppercase().chain(chars).collect())
        .unwrap_or_default()
}

fn day(at: DateTime<FixedOffset>) -> String {
    at.format("%-d %B %Y").to_string()
}
