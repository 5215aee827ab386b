//! Reasons to withhold a time: a later turn gives another one, it was only planned long before, or nothing shows that
//! the event took place on the day of the turn.

use chrono::{DateTime, Datelike, FixedOffset};
use domain::time::{Precision, TimeSpan};
use text::facts::{apply_correction, read_correction};
use text::split_words;

use super::{Candidate, is_named_by_question, is_year_of_origin, parts_clauses};
use crate::answer::selection::change::mentions_change;
use crate::answer::selection::choice::RIVAL_COVER;
use crate::evidence::evidence_lines::{Pool, is_same_speaker};
use crate::evidence::line::{Line, Sentence};
use crate::evidence::question::Question;
use crate::evidence::word_classes::{Class, classify_word, is_negation};

/// Returns true if the best candidate for a time should not be given as the answer. `all` are all candidates.
pub(super) fn is_doubtful(question: &Question, pool: &Pool<'_>, all: &[Candidate], best: &Candidate) -> bool {
    let line = &pool.lines[best.line];
    match (best.sentence, &best.span) {
        (Some(sentence), Some(span)) => {
            let said = Said { best, sentence, span };
            is_distant_plan(question, line, &said)
                || has_later_time(question, pool, all, &said)
                || is_corrected(pool, &said)
        }
        (None, _) | (_, None) => !is_day_of_event(question, line),
    }
}

/// The best candidate and the time that its sentence names.
struct Said<'a> {
    best: &'a Candidate,
    /// Index of the sentence in its line.
    sentence: usize,
    span: &'a TimeSpan,
}

/// Minimum number of days between a turn and the time that it plans, from which on the plan does not show when the event
/// took place.
const DISTANT: i64 = 7;

/// Returns true if a time is a plan for a distant day and the question asks when somebody did it. Events that only take
/// place on their day, such as a concert, are not doubted.
fn is_distant_plan(question: &Question, line: &Line<'_>, said: &Said<'_>) -> bool {
    let asks_for_deed = question.tense < 0.0 && split_words(&question.lower).contains(&"did");
    asks_for_deed && days_ahead(said.span, line.turn.observed_at) >= DISTANT
}

/// Returns the number of days from the day of a turn to the first day of a time; below 0 for an earlier time.
fn days_ahead(span: &TimeSpan, observed_at: DateTime<FixedOffset>) -> i64 {
    let start = span.start.with_timezone(observed_at.offset());
    (start.date_naive() - observed_at.date_naive()).num_days()
}

/// Minimum cover of a sentence that reports what was planned, as a share of the cover of the sentence of the plan.
const REPORT_COVER: f32 = 0.75;
/// Minimum cover of a line that changes a plan.
const CHANGE_COVER: f32 = 0.2;

/// Returns true if the same person later gives another time for the same thing: "I paid it on Tuesday, not Monday". A
/// plan also loses its time to a later report, or to a later time that is called new or changed.
fn has_later_time(question: &Question, pool: &Pool<'_>, all: &[Candidate], said: &Said<'_>) -> bool {
    let asks_for_one_of_several = question.recency < 0.0
        || question.recency >= 1.0
        || question.traits.plural
        || split_words(&question.lower).contains(&"first");
    if asks_for_one_of_several {
        return false;
    }
    let line = &pool.lines[said.best.line];
    let sentence = &line.sentences[said.sentence];
    let is_plan = days_ahead(said.span, line.turn.observed_at) > 0;
    let cover = sentence.cover.max(0.5);
    all.iter().any(|it| {
        let (Some(at), Some(span)) = (it.sentence, &it.span) else {
            return false;
        };
        let other = &pool.lines[it.line];
        let rival = &other.sentences[at];
        let is_report = days_ahead(span, other.turn.observed_at) <= 0;
        let is_same_thing = rival.cover >= RIVAL_COVER * cover
            && has_same_words(sentence, rival)
            && (is_plan || is_report || question.tense >= 0.0);
        let replaces_plan = is_plan
            && (is_report && rival.cover >= REPORT_COVER * cover
                || other.cover >= CHANGE_COVER && mentions_change(rival));
        (is_same_thing || replaces_plan)
            && !rival.question
            && other.own >= 0.0
            && is_same_speaker(&other.turn.actor, &line.turn.actor)
            && pool.is_later(it.line, said.best.line)
            && are_different_days(said.span, span)
    })
}

/// Returns true if the second sentence contains every question word that the first one contains.
fn has_same_words(first: &Sentence, second: &Sentence) -> bool {
    let mut pairs = first.matches.iter().zip(&second.matches);
    pairs.all(|(first, second)| *first < 1.0 || *second >= 1.0)
}

/// Returns true if two times exclude each other. The same day of two years does not: it may be a birthday.
fn are_different_days(a: &TimeSpan, b: &TimeSpan) -> bool {
    let is_same_date = a.start.month() == b.start.month() && a.start.day() == b.start.day();
    !a.overlaps(b) && !is_same_date
}

/// Number of later lines of a session that may correct a time.
const CORRECTING: usize = 8;
/// A question about no value, for turns whose question is not in the request.
const UNKNOWN_QUESTION: &str = "?";

/// Returns true if the speaker says soon after that the words of the time were wrong: "Sorry, on Tuesday, not Monday".
fn is_corrected(pool: &Pool<'_>, said: &Said<'_>) -> bool {
    let turn = pool.lines[said.best.line].turn;
    let corrects = |line: &usize| {
        let later = pool.lines[*line].turn;
        let question = match later.question.as_str() {
            "" => UNKNOWN_QUESTION,
            known => known,
        };
        is_same_speaker(&later.actor, &turn.actor)
            && read_correction(&later.text, question)
                .is_some_and(|it| it.wrong.is_some() && apply_correction(&said.span.words, &it).is_some())
    };
    let window = pool.window_around(said.best.line, 0, CORRECTING);
    window.iter().skip(1).any(corrects)
}

/// Returns true if the event in question may have taken place on the day on which a line was said: the sentence that
/// covers the question best names no other time or age, and its verb is a past form that is not denied.
fn is_day_of_event(question: &Question, line: &Line<'_>) -> bool {
    if question.traits.telling {
        return true;
    }
    let most = line.sentences.iter().map(|it| it.cover).fold(0.0, f32::max);
    let mut best = line.sentences.iter().filter(|it| it.cover >= most);
    best.any(|it| {
        let has_other_time = names_other_time(question, it, line.turn.observed_at) || mentions_age_or_hour(&it.text);
        it.caption || !has_other_time && may_report(question, it)
    })
}

/// Returns true if a sentence names a time outside the day of its turn, in the clause of a question word.
fn names_other_time(question: &Question, sentence: &Sentence, observed_at: DateTime<FixedOffset>) -> bool {
    let is_beside = |start: usize, end: usize| {
        sentence.hits.iter().any(|&(hit, _)| {
            let (from, to) = if hit < start { (hit, start) } else { (end.min(hit), hit) };
            !parts_clauses(sentence.text.get(from..to).unwrap_or_default())
        })
    };
    let includes_turn = |span: &TimeSpan| {
        let moment = observed_at.to_utc();
        days_ahead(span, observed_at) == 0 || span.start <= moment && moment < span.end
    };
    text::time::find_times(&sentence.text, observed_at).iter().any(|it| {
        it.span.precision != Precision::Unknown
            && !includes_turn(&it.span)
            && !is_named_by_question(question, &it.span)
            && !is_year_of_origin(&it.span, &it.range, &sentence.text)
            && is_beside(it.range.start, it.range.end)
    })
}

/// Returns true if a text contains a number that is an age or an hour: "at 62", "when she was 62".
fn mentions_age_or_hour(text: &str) -> bool {
    let words = lower_words(text);
    let is_age_or_hour = |at: usize| {
        let (before, word) = (&words[at - 1], &words[at]);
        let is_figure = word.starts_with(|it: char| it.is_ascii_digit());
        let follows_at = before == "at" && (is_figure || text::number_word(word).is_some());
        let follows_auxiliary = is_figure && classify_word(before) == Class::Auxiliary;
        let counts_nothing = words.get(at + 1).is_none_or(|it| classify_word(it) != Class::Content);
        (follows_at || follows_auxiliary) && counts_nothing
    };
    (1..words.len()).any(is_age_or_hour)
}

/// Returns true unless all forms of the question's verb in a sentence show that it reports no event: "I considered
/// buying it", "I never sold it". The forms of other languages are not read.
fn may_report(question: &Question, sentence: &Sentence) -> bool {
    let mut verbs = sentence.hits.iter().filter(|it| it.1).map(|it| it.0).peekable();
    sentence.pieces.is_some() || verbs.peek().is_none() || verbs.any(|at| is_reported(question, &sentence.text, at))
}

/// Returns true if the verb at a byte offset is not denied and, for a question about the past, may be a past form.
fn is_reported(question: &Question, text: &str, at: usize) -> bool {
    let (Some(before), Some(after)) = (text.get(..at), text.get(at..)) else {
        return true;
    };
    let clause = before.rfind([',', ';', ':', '.', '!', '?']).map_or(0, |it| it + 1);
    let leading = lower_words(before.get(clause..).unwrap_or_default());
    let may_precede_verb = |it: &&String| matches!(classify_word(it), Class::Auxiliary | Class::Filler);
    let mut beside = leading.iter().rev().take_while(may_precede_verb);
    let is_denied = !question.traits.negated && beside.any(|it| is_negation(it));
    let is_infinitive = leading.last().is_some_and(|it| it == "to");
    let words = lower_words(after);
    let is_past = question.tense >= 0.0 || words.first().is_none_or(|it| may_be_past(question, it));
    !is_denied && !is_infinitive && is_past
}

/// Returns true if a form of the question's verb may be a past form. In a question with "did", the verb is in its base
/// form; the past of some verbs that end with "t" or "d" is the same: "quit", "read".
fn may_be_past(question: &Question, word: &str) -> bool {
    let asked = split_words(&question.lower);
    let is_base = asked.contains(&"did") && asked.contains(&word);
    let is_present = word.ends_with("ing") || word.ends_with('s') || is_base && !word.ends_with(['t', 'd']);
    text::is_past(word) || word.ends_with("ed") || !is_present
}

fn lower_words(text: &str) -> Vec<String> {
    let words = split_words(text).into_iter();
    words.map(|it| it.to_lowercase().replace('’', "'")).collect()
}
