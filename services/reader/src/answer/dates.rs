//! The time at which something happened, as exactly as the evidence gives it and no more.

mod doubts;

use std::ops::Range;

use chrono::{DateTime, Datelike, FixedOffset};
use domain::time::{Precision, TimeSpan};
use text::split_words;
use text::time::{Kind, Mention};

use super::FoundAnswer;
use super::clause_values::start_of_clause_in_question;
use crate::evidence::evidence_lines::Pool;
use crate::evidence::line::{Line, Sentence};
use crate::evidence::question::Question;
use crate::feature_weights::{Weights, weighted_sum};

/// Names of the features that the choice of a time weighs, in the order of a candidate's row.
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

/// A time that a turn names, or the day on which the turn was said.
pub(crate) struct Candidate {
    pub(crate) line: usize,
    /// Index of the sentence that names the time; `None` for the day on which the turn was said.
    sentence: Option<usize>,
    /// The named time; `None` for the day on which the turn was said.
    span: Option<TimeSpan>,
    /// Values of [`NAMES`].
    pub(crate) row: Vec<f32>,
    /// The time as it is shown.
    pub(crate) text: String,
}

/// Returns the time with the highest score among the times that the turns name and the days on which they were said. Of
/// equal scores, the first wins. Returns `None` if there is a reason to doubt that time.
pub(crate) fn find_time(
    question: &Question,
    pool: &Pool<'_>,
    lines: &[usize],
    weights: &Weights,
) -> Option<FoundAnswer> {
    let mut all = find_candidates(question, pool, lines);
    if let Some(window) = &question.window
        && all
            .iter()
            .any(|it| it.span.as_ref().is_some_and(|span| span.overlaps(window)))
    {
        all.retain(|it| it.span.as_ref().is_none_or(|span| span.overlaps(window)));
    }
    let timed = |it: &Candidate| it.span.as_ref().is_some_and(|it| it.precision == Precision::Instant);
    if question.traits.clock && all.iter().any(timed) {
        all.retain(timed);
    }
    let mut best: Option<(f32, &Candidate)> = None;
    for it in &all {
        let worth = weighted_sum(&it.row, &weights.times);
        if best.is_none_or(|it| worth > it.0) {
            best = Some((worth, it));
        }
    }
    let (_, best) = best?;
    let line = &pool.lines[best.line];
    let share = line.sentences.iter().map(|it| it.cover).fold(0.0, f32::max);
    let day = format_day(line.turn.observed_at);
    let (share, reason) = match &best.span {
        None => (
            0.5 * share,
            Some("no time is stated; this is the day on which it was said".to_owned()),
        ),
        Some(span) if span.words.is_empty() => (share, None),
        Some(span) => (share, Some(format!("\"{}\" was said on {day}", span.words))),
    };
    Some(FoundAnswer {
        text: best.text.clone(),
        lines: vec![best.line],
        share,
        reason,
        conflict: false,
        is_doubtful: doubts::is_doubtful(question, pool, &all, best),
        stated: None,
    })
}

/// Distance in bytes between a time and the next question word at which the nearness falls by a factor e.
const NEAR: f32 = 30.0;
/// Number of bytes that a clause between them adds.
const CLAUSE: usize = 40;

/// Returns the times in the lines that can answer, in order, and the day of each line last. For a question about when
/// something was talked about, only the days are returned.
pub(crate) fn find_candidates(question: &Question, pool: &Pool<'_>, lines: &[usize]) -> Vec<Candidate> {
    let mut out = Vec::new();
    for (rank, &at) in lines.iter().enumerate() {
        let line = &pool.lines[at];
        let mut push = |sentence: Option<usize>, span: Option<TimeSpan>, text: String, own: &[f32; 6]| {
            let row = feature_row(question, pool, rank, at, span.as_ref(), own);
            out.push(Candidate {
                line: at,
                sentence,
                span,
                row,
                text,
            });
        };
        let sentences = line.sentences.iter().enumerate();
        for (sentence, it) in sentences.filter(|(_, it)| !it.caption && !question.traits.telling) {
            for (order, (place, span)) in find_time_mentions(question, line, it).into_iter().enumerate() {
                let asks = f32::from(u8::from(it.question));
                let away = 1.0 - (-(distance_to_question_word(it, &place) as f32) / NEAR).exp();
                let own = [
                    it.cover,
                    asks,
                    away,
                    order as f32,
                    sentence as f32,
                    it.subject - it.other,
                ];
                let text = render_time(question, &span, line.turn.observed_at);
                push(Some(sentence), Some(span), text, &own);
            }
        }
        if question.traits.habitual && !has_progressive_verb(&question.lower) {
            continue;
        }
        let cover = line.sentences.iter().map(|it| it.cover).fold(0.0, f32::max);
        push(
            None,
            None,
            format_day(line.turn.observed_at),
            &[cover, 0.0, 0.0, 0.0, 0.0, line.own],
        );
    }
    out
}

/// Returns true if the question contains a verb in "-ing". The day of the turn can answer "when is she moving", but not
/// "when does it open", which asks for a repeated time.
fn has_progressive_verb(lower: &str) -> bool {
    split_words(lower)
        .into_iter()
        .any(|it| it.len() > 4 && it.ends_with("ing"))
}

fn feature_row(
    question: &Question,
    pool: &Pool<'_>,
    rank: usize,
    at: usize,
    span: Option<&TimeSpan>,
    [cover, asks, away, order, sentence, owned]: &[f32; 6],
) -> Vec<f32> {
    let line = &pool.lines[at];
    let flag = |it: bool| f32::from(u8::from(it));
    let precise = |precisions: &[Precision]| flag(span.is_some_and(|it| precisions.contains(&it.precision)));
    let lead = (line.order - pool.lines[pool.by_order[0]].order).max(-6.0);
    let is_undated = flag(span.is_none());
    let ahead = span.map_or(0.0, |it| if it.start > line.turn.observed_at { 1.0 } else { -1.0 });
    vec![
        (-(rank as f32)).exp(),
        lead,
        *cover,
        *asks,
        *away,
        order.min(3.0),
        sentence.min(5.0),
        is_undated,
        is_undated * lead,
        precise(&[Precision::Instant, Precision::Day]),
        precise(&[Precision::Week]),
        precise(&[Precision::Month, Precision::Season]),
        precise(&[Precision::Year]),
        ahead * question.tense,
        if question.subject.is_some() { *owned } else { 0.0 },
    ]
}

/// Returns the number of bytes from a time to the nearest question word in its sentence.
fn distance_to_question_word(sentence: &Sentence, place: &Range<usize>) -> usize {
    let one = |&(hit, _): &(usize, bool)| {
        let (from, to) = if hit < place.start {
            (hit, place.start)
        } else {
            (place.end.min(hit), hit)
        };
        let between = sentence.text.get(from..to).unwrap_or_default();
        between.len() + if parts_clauses(between) { CLAUSE } else { 0 }
    };
    sentence.hits.iter().map(one).min().unwrap_or(usize::MAX)
}

/// Returns true if the text between two words shows that they belong to different clauses.
fn parts_clauses(between: &str) -> bool {
    between.contains([',', ';', ':', '，', '、']) || between.contains(" but ")
}

/// Returns the resolved times of a turn that occur in the sentence and can answer, with their byte ranges. Durations
/// and times of unknown precision are left out, and so are the times of clauses before the one in question.
fn find_time_mentions(question: &Question, line: &Line<'_>, compared: &Sentence) -> Vec<(Range<usize>, TimeSpan)> {
    let observed_at = line.turn.observed_at;
    let sentence = compared.text.as_str();
    let mut spans: Vec<(Range<usize>, TimeSpan)> = Vec::new();
    if line.turn.times.is_empty() {
        let found = text::time::find_times(sentence, observed_at);
        spans.extend(found.into_iter().map(|it| (it.range, it.span)));
    }
    for span in line.turn.times.iter().filter(|it| !it.words.is_empty()) {
        let free = |at: &usize| !spans.iter().any(|it| it.0.start == *at);
        let found = sentence.match_indices(&span.words).map(|it| it.0).find(free);
        spans.extend(found.map(|at| (at..at + span.words.len(), span.clone())));
    }
    if question.traits.begins {
        spans.extend(find_starts_of_durations(sentence, observed_at));
    }
    spans.retain(|it| it.1.precision != Precision::Unknown);
    let places: Vec<Range<usize>> = spans.iter().map(|it| it.0.clone()).collect();
    let from = start_of_clause_in_question(compared, &places);
    spans.retain(|(place, span)| place.start >= from && can_answer(question, span, place, sentence, observed_at));
    spans
}

/// Returns the starts of durations that still last: "I've been playing for four months now" began four months ago.
fn find_starts_of_durations(sentence: &str, observed_at: DateTime<FixedOffset>) -> Vec<(Range<usize>, TimeSpan)> {
    let lower = sentence.to_lowercase().replace('’', "'");
    let lasts = split_words(&lower)
        .into_iter()
        .any(|it| it == "been" || it.ends_with("'ve") || matches!(it, "have" | "has"));
    let lengths = text::time::find_times(sentence, observed_at)
        .into_iter()
        .filter(|it| lasts && it.kind == Kind::Duration);
    let start = |it: Mention| {
        let ago = text::time::find_times(&format!("{} ago", it.span.words), observed_at)
            .into_iter()
            .next()?;
        let span = TimeSpan {
            words: it.span.words,
            ..ago.span
        };
        Some((it.range, span))
    };
    lengths.filter_map(start).collect()
}

/// Returns true if a time can answer. A time that the question names cannot, a year of origin cannot ("a sloop from
/// 1962" was not bought then), and a past event is in no later year than its turn, in the offset of the turn, and does
/// not begin after the question was asked.
fn can_answer(
    question: &Question,
    span: &TimeSpan,
    place: &Range<usize>,
    sentence: &str,
    observed_at: DateTime<FixedOffset>,
) -> bool {
    let start = span.start.with_timezone(observed_at.offset());
    let to_come = start.year() > observed_at.year() || question.asked_at.is_some_and(|it| start > it);
    let later = question.tense < 0.0 && to_come;
    !is_year_of_origin(span, place, sentence) && !later && !is_named_by_question(question, span)
}

fn is_year_of_origin(span: &TimeSpan, place: &Range<usize>, sentence: &str) -> bool {
    let before = sentence.get(..place.start).unwrap_or_default();
    span.precision == Precision::Year && before.trim_end().ends_with(" from")
}

fn is_named_by_question(question: &Question, span: &TimeSpan) -> bool {
    question.lower.contains(&span.words.to_lowercase())
}

/// Returns the time as it is shown. "Last week" and similar times stay relative to the day on which they were said,
/// since the exact days are not known. The time of day is shown only if the question asks for it, and then without the
/// day.
fn render_time(question: &Question, span: &TimeSpan, observed_at: DateTime<FixedOffset>) -> String {
    let full = text::time::render_mention(span, observed_at);
    let full = full.strip_prefix("since ").unwrap_or(&full);
    let full = full
        .strip_prefix("The ")
        .map_or_else(|| full.to_owned(), |it| format!("the {it}"));
    match full.split_once(" at ") {
        Some((_, hour)) if question.traits.clock => hour.to_owned(),
        Some((day, _)) => day.to_owned(),
        None => full,
    }
}

fn format_day(at: DateTime<FixedOffset>) -> String {
    at.format("%-d %B %Y").to_string()
}
