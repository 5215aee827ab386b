//! When something happened, as exactly as it is known and no more.

use std::ops::Range;

use chrono::{DateTime, FixedOffset};
use domain::time::{Precision, TimeSpan};

use super::Found;
use crate::pool::{Line, Pool, Sentence};
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

/// Bytes between a time and the matter that halve, and more, what their nearness is worth.
const NEAR: f32 = 30.0;
/// A clause between them counts as this many bytes.
const CLAUSE: usize = 40;

fn candidates(pool: &Pool<'_>, at: usize, top: f32) -> Vec<Candidate> {
    let line = &pool.lines[at];
    let mut out = Vec::new();
    for (sentence, it) in line.sentences.iter().enumerate().filter(|(_, it)| !it.caption) {
        for (order, (place, span)) in mentions(line, &it.text).into_iter().enumerate() {
            let asks = if it.question { 0.5 } else { 0.0 };
            let away = 0.5 - 0.5 * (-(distance(it, &place) as f32) / NEAR).exp();
            let later = 0.02 * order as f32 + 0.05 * sentence as f32;
            let worth = (line.order - top) + 2.0 * it.cover - asks - away - later;
            out.push(Candidate { line: at, worth, span });
        }
    }
    out
}

/// Bytes from a time to the nearest word of the question in its sentence.
fn distance(sentence: &Sentence, place: &Range<usize>) -> usize {
    let one = |&(hit, _): &(usize, bool)| {
        let (from, to) = if hit < place.start {
            (hit, place.start)
        } else {
            (place.end.min(hit), hit)
        };
        let between = sentence.text.get(from..to).unwrap_or_default();
        let parts = between.contains([',', ';', ':', '，', '、']) || between.contains(" but ");
        between.len() + if parts { CLAUSE } else { 0 }
    };
    sentence.hits.iter().map(one).min().unwrap_or(usize::MAX)
}

/// The resolved times of a turn whose words stand in the sentence, with their places; durations and the like are left out.
fn mentions(line: &Line<'_>, sentence: &str) -> Vec<(Range<usize>, TimeSpan)> {
    let mut spans: Vec<(Range<usize>, TimeSpan)> = Vec::new();
    if line.turn.times.is_empty() {
        let found = text::time::find(sentence, line.turn.observed_at);
        spans.extend(found.into_iter().map(|it| (it.range, it.span)));
    }
    for span in line.turn.times.iter().filter(|it| !it.words.is_empty()) {
        let free = |at: &usize| !spans.iter().any(|it| it.0.start == *at);
        let found = sentence.match_indices(&span.words).map(|it| it.0).find(free);
        spans.extend(found.map(|at| (at..at + span.words.len(), span.clone())));
    }
    spans.retain(|it| it.1.precision != Precision::Unknown);
    spans
}

/// "Last week" and its like stay relative to the day they were said on: which days are meant is not known. The time of day
/// is told only to who asks for it.
fn rendered(question: &Question, span: &TimeSpan, told: DateTime<FixedOffset>) -> String {
    let full = text::time::render_mention(span, told);
    let full = full.strip_prefix("since ").unwrap_or(&full);
    let full = full
        .strip_prefix("The ")
        .map_or_else(|| full.to_owned(), |it| format!("the {it}"));
    if question.clock {
        return full;
    }
    full.split_once(" at ").map_or(full.as_str(), |it| it.0).to_owned()
}

fn day(at: DateTime<FixedOffset>) -> String {
    at.format("%-d %B %Y").to_string()
}
