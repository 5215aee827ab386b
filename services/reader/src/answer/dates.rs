//! When something happened, as exactly as it is known and no more.

use std::ops::Range;

use chrono::{DateTime, FixedOffset};
use domain::time::{Precision, TimeSpan};

use super::Found;
use crate::pool::{Line, Pool, Sentence};
use crate::question::Question;
use crate::weights::{self, Weights};

/// What the choice of a time weighs, in the order of a candidate's row.
pub(crate) const NAMES: &[&str] = &[
    "rank",
    "lead",
    "cover",
    "asks",
    "away",
    "later_in_sentence",
    "later_in_turn",
    "told",
    "told_lead",
    "day",
    "week",
    "month",
    "year",
    "tense",
    "owned",
];

/// A time that a turn names, or the day on which it was told.
pub(crate) struct Candidate {
    pub(crate) line: usize,
    /// None for the day on which the turn was told.
    span: Option<TimeSpan>,
    /// What [`NAMES`] names.
    pub(crate) row: Vec<f32>,
    /// The time as it would be shown.
    pub(crate) text: String,
}

/// Finds the time that the weights like best among those named in the turns and the days on which they were told.
pub(crate) fn find(question: &Question, pool: &Pool<'_>, lines: &[usize], weights: &Weights) -> Option<Found> {
    let all = candidates(question, pool, lines);
    let mut best: Option<(f32, &Candidate)> = None;
    for it in &all {
        let worth = weights::dot(&it.row, &weights.times);
        if best.is_none_or(|it| worth > it.0) {
            best = Some((worth, it));
        }
    }
    let (_, best) = best?;
    let line = &pool.lines[best.line];
    let share = line.sentences.iter().map(|it| it.cover).fold(0.0, f32::max);
    let told = day(line.turn.observed_at);
    let (share, reason) = match &best.span {
        None => (
            0.5 * share,
            Some("no time is named; this is when it was told".to_owned()),
        ),
        Some(span) if span.words.is_empty() => (share, None),
        Some(span) => (share, Some(format!("\"{}\" was said on {told}", span.words))),
    };
    Some(Found {
        text: best.text.clone(),
        lines: vec![best.line],
        share,
        reason,
        conflict: false,
        stated: None,
    })
}

/// Bytes between a time and the matter that halve, and more, what their nearness is worth.
const NEAR: f32 = 30.0;
/// A clause between them counts as this many bytes.
const CLAUSE: usize = 40;

/// Returns the times named in the lines, in order, each line's own day last.
pub(crate) fn candidates(question: &Question, pool: &Pool<'_>, lines: &[usize]) -> Vec<Candidate> {
    let mut out = Vec::new();
    for (rank, &at) in lines.iter().enumerate() {
        let line = &pool.lines[at];
        let mut push = |span: Option<TimeSpan>, text: String, own: &[f32; 6]| {
            let row = row(question, pool, (rank, at), span.as_ref(), own);
            out.push(Candidate {
                line: at,
                span,
                row,
                text,
            });
        };
        for (sentence, it) in line.sentences.iter().enumerate().filter(|(_, it)| !it.caption) {
            for (order, (place, span)) in mentions(line, &it.text).into_iter().enumerate() {
                let asks = f32::from(u8::from(it.question));
                let away = 1.0 - (-(distance(it, &place) as f32) / NEAR).exp();
                let own = [
                    it.cover,
                    asks,
                    away,
                    order as f32,
                    sentence as f32,
                    it.subject - it.other,
                ];
                let text = rendered(question, &span, line.turn.observed_at);
                push(Some(span), text, &own);
            }
        }
        let cover = line.sentences.iter().map(|it| it.cover).fold(0.0, f32::max);
        push(None, day(line.turn.observed_at), &[cover, 0.0, 0.0, 0.0, 0.0, line.own]);
    }
    out
}

fn row(
    question: &Question,
    pool: &Pool<'_>,
    (rank, at): (usize, usize),
    span: Option<&TimeSpan>,
    [cover, asks, away, order, sentence, owned]: &[f32; 6],
) -> Vec<f32> {
    let line = &pool.lines[at];
    let flag = |it: bool| f32::from(u8::from(it));
    let precise = |wanted: &[Precision]| flag(span.is_some_and(|it| wanted.contains(&it.precision)));
    let lead = (line.order - pool.lines[pool.by_order[0]].order).max(-6.0);
    let told = flag(span.is_none());
    let ahead = span.map_or(0.0, |it| if it.start > line.turn.observed_at { 1.0 } else { -1.0 });
    vec![
        (-(rank as f32)).exp(),
        lead,
        *cover,
        *asks,
        *away,
        order.min(3.0),
        sentence.min(5.0),
        told,
        told * lead,
        precise(&[Precision::Instant, Precision::Day]),
        precise(&[Precision::Week]),
        precise(&[Precision::Month, Precision::Season]),
        precise(&[Precision::Year]),
        ahead * question.tense,
        if question.subject.is_some() { *owned } else { 0.0 },
    ]
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
