//! The order of turns: how well each covers the question, fits its kind, and belongs to its subject.

use chrono::Utc;
use domain::anchor::AnswerKind;
use domain::evidence::Turn;
use domain::message::AnswerV1;
use domain::time::{Precision, TimeSpan};
use text::meaning::patterns;

use crate::evidence::amount::contains_money;
use crate::evidence::line::{Line, question_cover};
use crate::evidence::question::{Asked, Question};

/// Names of the features of the order of turns, in the order of [`feature_row`].
pub(crate) const NAMES: &[&str] = &[
    "cover",
    "cover_window",
    "cover_sentence",
    "cover_things",
    "likeness",
    "dated",
    "asks",
    "neighbours",
    "around",
    "replies",
    "owned",
    "owned_by_others",
    "fits",
    "router",
    "surrounds",
    "newer_now",
    "older_first",
];

/// Weights of the cover by a whole turn, by its window and by its best sentence, and of the cover of all words except
/// the verb.
const COVER: [f32; 4] = [0.35, 0.35, 0.15, 0.15];
/// Points of a turn that covers the question fully.
const COVER_POINTS: f32 = 9.0;

/// Returns the score of a turn as an answer by words alone, about 0 to 12, from its [`compute_measures`].
pub(crate) fn compute_height(measures: &[f32; 8]) -> f32 {
    let [covers @ .., likeness, dated, asks, neighbours] = measures;
    let cover: f32 = covers.iter().zip(COVER).map(|(it, weight)| it * weight).sum();
    COVER_POINTS * cover + 1.5 * likeness + 0.8 * dated - asks + 0.8 * neighbours
}

/// Returns the measures of how well a turn answers by words alone: the first eight of [`NAMES`].
pub(crate) fn compute_measures(lines: &[Line<'_>], at: usize, request: &AnswerV1, question: &Question) -> [f32; 8] {
    let line = &lines[at];
    if question.words.is_empty() {
        return [0.0; 8];
    }
    let turn = line.cover;
    let window = question_cover(&window_matches(lines, at), question);
    let sentence = line.sentences.iter().map(|it| it.cover).fold(0.0, f32::max);
    let things: f32 = question.words.iter().filter(|it| !it.verb).map(|it| it.weight).sum();
    let pairs = line.matches.iter().zip(&question.words);
    let thing: f32 = pairs
        .filter(|(_, word)| !word.verb)
        .map(|(it, word)| it * word.weight)
        .sum();
    let thing = if things > 0.0 { thing / things } else { turn };
    let asks = line.sentences.iter().filter(|it| it.question).count() as f32 / line.sentences.len().max(1) as f32;
    [
        turn,
        window,
        sentence,
        thing,
        line.likeness,
        score_time_match(line.turn, request),
        asks,
        score_adjacent_words(line, question),
    ]
}

/// Returns the matches of a turn together with the turns around it, which count less: a question before its answer, or
/// a topic two turns before.
fn window_matches(lines: &[Line<'_>], at: usize) -> Vec<f32> {
    let mut out = lines[at].matches.clone();
    let previous = lines[at].previous;
    let around = [
        (previous, 0.7),
        (lines[at].next, 0.5),
        (previous.and_then(|it| lines[it].previous), 0.4),
    ];
    for (other, weight) in around {
        let Some(other) = other else { continue };
        out.iter_mut()
            .zip(&lines[other].matches)
            .for_each(|(mine, it)| *mine = mine.max(weight * it));
    }
    out
}

/// Returns, as a mean over adjacent question words, how well one sentence contains both.
pub(crate) fn score_adjacent_words(line: &Line<'_>, question: &Question) -> f32 {
    let pairs = question.words.len().saturating_sub(1);
    if pairs == 0 {
        return 0.0;
    }
    let both = |it: usize| {
        line.sentences
            .iter()
            .map(|s| s.matches[it].min(s.matches[it + 1]))
            .fold(0.0, f32::max)
    };
    (0..pairs).map(both).sum::<f32>() / pairs as f32
}

/// Returns 1 for a turn within the requested time (0.7 if that time is longer than a week), 0.25 within 31 days of it,
/// 0 farther away, and 0.5 if no time is asked for.
pub(crate) fn score_time_match(turn: &Turn, request: &AnswerV1) -> f32 {
    let Some(window) = &request.anchors.window else {
        return 0.5;
    };
    let observation_span = TimeSpan::from_instant(turn.observed_at.with_timezone(&Utc));
    let near = |it: &TimeSpan| {
        if it.overlaps(window) {
            return if matches!(window.precision, Precision::Instant | Precision::Day | Precision::Week) {
                1.0
            } else {
                0.7
            };
        }
        let gap = if it.start >= window.end {
            it.start - window.end
        } else {
            window.start - it.end
        };
        if gap.num_days() <= 31 { 0.25 } else { 0.0 }
    };
    turn.times
        .iter()
        .chain([&observation_span])
        .map(near)
        .fold(0.0, f32::max)
}

/// Minimum logarithm of the router's probability; smaller values are raised to it.
const UNLIKELY: f32 = -8.0;

/// Returns the features of the order of turns: the measures, ownership, kind, the router's probability, and the age.
pub(crate) fn feature_row(lines: &[Line<'_>], at: usize, request: &AnswerV1, question: &Question) -> Vec<f32> {
    let line = &lines[at];
    let logarithm = |it: usize| request.scenes[it].probability.max(1e-6).ln().max(UNLIKELY);
    let router = line.rank.map_or(UNLIKELY, logarithm);
    let has_subject = question.subject.is_some();
    let own = |it: f32| if has_subject { it } else { 0.0 };
    let around = [line.previous, line.next]
        .into_iter()
        .flatten()
        .map(|it| lines[it].height)
        .fold(0.0, f32::max);
    let flag = |it: bool| f32::from(u8::from(it));
    let age = relative_age(lines, at);
    line.measures
        .iter()
        .copied()
        .chain([
            around / COVER_POINTS,
            score_as_reply(lines, at),
            own(line.own),
            own(((line.own + 1.0) / 2.0).max(0.05).ln()),
            flag(fits_answer_kind(question, line)),
            router,
            flag(line.rank.is_none()),
            question.recency.max(0.0) * age,
            question.recency.min(0.0) * age,
        ])
        .collect()
}

/// Returns the cover of this question by a question of another speaker in the previous turn: "What's the cat called?"
/// before "Milo!".
fn score_as_reply(lines: &[Line<'_>], at: usize) -> f32 {
    let before = lines[at].previous.map(|it| &lines[it]);
    let Some(before) = before.filter(|it| it.turn.actor != lines[at].turn.actor) else {
        return 0.0;
    };
    let questions = before.sentences.iter().filter(|it| it.question);
    questions.map(|it| it.cover).fold(0.0, f32::max)
}

/// Returns the relative age among the turns of the pool: 0 for the oldest, 1 for the newest.
fn relative_age(lines: &[Line<'_>], at: usize) -> f32 {
    let times = || lines.iter().map(|it| it.turn.observed_at);
    let (Some(first), Some(last)) = (times().min(), times().max()) else {
        return 0.0;
    };
    let all = (last - first).num_seconds();
    let here = (lines[at].turn.observed_at - first).num_seconds();
    if all > 0 { here as f32 / all as f32 } else { 0.0 }
}

fn fits_answer_kind(question: &Question, line: &Line<'_>) -> bool {
    let turn = line.turn;
    let has = |it: usize| line.reading.patterns[it] > 0;
    match question.kind {
        AnswerKind::When => has(patterns::DATE) || !turn.times.is_empty(),
        AnswerKind::Duration => has(patterns::DURATION),
        AnswerKind::Number if question.class == Some(Asked::Money) => contains_money(&turn.text),
        AnswerKind::Number => has(patterns::NUMBER) || has(patterns::MONEY),
        AnswerKind::Where => has(patterns::PLACE),
        AnswerKind::Who => has(patterns::KIN) || has(patterns::CAPITAL),
        AnswerKind::Why | AnswerKind::How => has(patterns::REASON) || has(patterns::FEELING),
        AnswerKind::Kind => has(patterns::LIST) || has(patterns::PREFERENCE) || !turn.caption.is_empty(),
        AnswerKind::WhatIs => has(patterns::CAPITAL) || has(patterns::QUOTE),
        AnswerKind::WhatDoes => has(patterns::PAST) || has(patterns::PLAN),
        AnswerKind::YesNo | AnswerKind::Message | AnswerKind::Other => false,
    }
}
