//! Reasons to withhold a time: a later turn gives another one, it was only planned long before, or nothing shows that
//! the event took place on the day of the turn.

use chrono::{DateTime, Datelike, FixedOffset};
use domain::time::{Precision, TimeSpan};
use text::facts::{apply_correction, read_correction};
use text::lexicon::contractions::split_bare_contraction;
use text::lexicon::{Class as WordClass, is_in_class};
use text::split_words;

use super::{Candidate, is_named_by_question, is_year_of_origin, parts_clauses};
use crate::answer::selection::change::mentions_change;
use crate::answer::selection::choice::RIVAL_COVER;
use crate::evidence::evidence_lines::{Pool, is_same_speaker};
use crate::evidence::line::{Line, Sentence};
use crate::evidence::question::Question;
use crate::evidence::word_classes::{Class, classify_word, is_negation, is_time_unit};

/// Returns true if the best candidate for a time should not be given as the answer. `all` are all candidates.
pub(super) fn is_doubtful(question: &Question, pool: &Pool<'_>, all: &[Candidate], best: &Candidate) -> bool {
    let line = &pool.lines[best.line];
    match (best.sentence, &best.span) {
        (Some(sentence), Some(span)) => {
            let said = Said { best, sentence, span };
            is_unsure(question, line, &said)
                || is_distant_plan(question, line, &said)
                || has_later_time(question, pool, all, &said)
                || is_plan_missed(question, pool, &said)
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

/// Returns true if the clause of a time denies or only supposes it, or asks for it: "The exam isn't on Friday", "The
/// exam on Friday was cancelled", "It might be on Friday", "Friday might work", "Is it on Friday?". "It isn't until
/// Friday" names the day, and so do "No it's on Friday" and "Are you coming to my party on Friday?". The forms of other
/// languages are not read.
fn is_unsure(question: &Question, line: &Line<'_>, said: &Said<'_>) -> bool {
    let sentence = &line.sentences[said.sentence];
    let Some(at) = sentence
        .text
        .find(&said.span.words)
        .filter(|_| sentence.pieces.is_none())
    else {
        return false;
    };
    let asked = split_words(&question.lower);
    let is_bound = |it: &String| matches!(it.as_str(), "until" | "till" | "since");
    let time_words = lower_words(&said.span.words);
    let is_bounded = time_words.first().is_some_and(is_bound);
    let leads_to_time = |it: &&String| classify_word(it) != Class::Content && !is_bound(it);
    let before = clause_words_before(&sentence.text, at);
    // "No it's on Friday" is a reply to a question.
    let reply_words = usize::from(before.first().is_some_and(|it| matches!(it.as_str(), "no" | "nope")));
    let mut leading = before[reply_words..].iter().rev().take_while(leads_to_time);
    let after = clause_words_after(&sentence.text, at + said.span.words.len());
    let denies =
        |it: &String| is_negation(it) && it != "instead" && !asked.contains(&it.as_str()) && !question.traits.negated;
    let supposes = |it: &String| is_in_class(it, WordClass::UnsureAuxiliary);
    let mut possible_prepositions = time_words.first().into_iter().chain(before.last());
    let is_subject = possible_prepositions.all(|it| classify_word(it) != Class::Linking);
    asks_whether(sentence)
        || !is_bounded && leading.any(|it| denies(it) || supposes(it))
        || is_subject && after.iter().take_while(|it| is_verb_part(it)).any(supposes)
        || is_following_verb_denied(&after, denies)
}

/// Returns true if a sentence is a question such as "Is it on Friday?". "Are you coming to my party on Friday?" asks
/// for the day only if the question is about coming.
fn asks_whether(sentence: &Sentence) -> bool {
    let words = lower_words(&sentence.text);
    let begins_with_be = words.first().is_some_and(|it| is_in_class(it, WordClass::FormOfBe));
    let asks_listener = words.get(1).is_some_and(|it| it == "you");
    sentence.question && begins_with_be && (!asks_listener || sentence.hits.iter().any(|it| it.1))
}

/// Returns true if a denied verb follows a time: "was cancelled", "didn't take place". "Wasn't cheap" and "can't wait"
/// deny something else, and "not Monday" and "without Tom" have no verb.
fn is_following_verb_denied(after: &[String], denies: impl Fn(&String) -> bool) -> bool {
    let end = after.iter().position(|it| !is_verb_part(it)).unwrap_or(after.len());
    let (parts, next) = (&after[..end], after.get(end));
    let has_finite_verb = |words: &[String]| words.iter().any(|it| text::is_auxiliary(it));
    let is_verb = |it: &String| text::is_past(it) || it.ends_with("ed") || it.ends_with("ing");
    let is_negative_verb = |it: &String| it == "never" || it != "not" && classify_word(it) == Class::Auxiliary;
    let is_denied =
        (0..end).any(|at| denies(&parts[at]) && (is_negative_verb(&parts[at]) || has_finite_verb(&parts[..at])));
    let has_be = parts.iter().any(|it| is_form_of_be(it));
    let is_about_other_thing = next.is_some_and(|it| match classify_word(it) {
        Class::Determiner => has_be,
        Class::Content => has_be && !is_verb(it) || it == "wait",
        Class::Auxiliary | Class::Linking | Class::Filler | Class::Number => false,
    });
    let is_ended = next.is_some_and(|it| denies(it) && is_verb(it)) && has_finite_verb(parts);
    is_denied && !is_about_other_thing || is_ended
}

/// Returns true for a form of "be", also with "not": "was", "wasn't", "wasnt".
fn is_form_of_be(word: &str) -> bool {
    let bare = split_bare_contraction(word).map(|it| it.0);
    let verb = bare.or_else(|| word.strip_suffix("n't")).unwrap_or(word);
    is_in_class(verb, WordClass::FormOfBe)
}

/// Marks between clauses and sentences.
const CLAUSE_MARKS: [char; 6] = [',', ';', ':', '.', '!', '?'];

/// Returns the words between a byte offset and the end of its clause, in lower case.
fn clause_words_after(text: &str, end: usize) -> Vec<String> {
    let after = text.get(end..).unwrap_or_default();
    let clause = after.split(CLAUSE_MARKS).next();
    lower_words(clause.unwrap_or_default())
}

/// Returns true if a word may occur between a subject and its verb.
fn is_verb_part(word: &str) -> bool {
    matches!(classify_word(word), Class::Auxiliary | Class::Filler)
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
/// Minimum cover of a line or a sentence that changes a plan.
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

/// Returns true if the same person says after a plan that the event was late or early, or, from the planned day on, that
/// it did not take place: "It came a week late", "The crib has not come".
fn is_plan_missed(question: &Question, pool: &Pool<'_>, said: &Said<'_>) -> bool {
    let line = &pool.lines[said.best.line];
    if days_ahead(said.span, line.turn.observed_at) <= 0 {
        return false;
    }
    let next_lines = pool.window_around(said.best.line, 0, CORRECTING);
    let plan_cover = line.sentences[said.sentence].cover;
    (0..pool.lines.len()).any(|at| {
        let other = &pool.lines[at];
        let is_due = question.tense < 0.0 && said.span.start <= other.turn.observed_at;
        let points_back = |it: &Sentence| {
            let mut words = lower_words(&it.text).into_iter();
            next_lines.contains(&at) && words.any(|it| matches!(it.as_str(), "it" | "they"))
        };
        let misses = |it: &Sentence| {
            let is_late = mentions_delay(&it.text) || is_due && arrives_late(&it.text);
            let denies_plan =
                || is_due && (it.cover >= REPORT_COVER * plan_cover || points_back(it)) && denies_verb(it);
            is_late && (it.cover >= CHANGE_COVER || points_back(it)) || denies_plan()
        };
        is_same_speaker(&other.turn.actor, &line.turn.actor)
            && pool.is_later(at, said.best.line)
            && other.sentences.iter().any(|it| !it.question && misses(it))
    })
}

/// Returns true if a text says that something came on another day than planned: "a week late", "two days later than
/// planned".
fn mentions_delay(text: &str) -> bool {
    let words = lower_words(text);
    let is_delay = |at: usize| match words[at].as_str() {
        "late" | "early" => at > 0 && is_length_of_days(&words[at - 1]),
        "later" | "earlier" => words.get(at + 1).is_some_and(|it| it == "than"),
        "delayed" | "overdue" | "postponed" => true,
        _ => false,
    };
    (0..words.len()).any(is_delay)
}

/// Returns true if a sentence ends with "came late" or similar words. "It's getting late" is about the hour, and "I was
/// late" about the speaker.
fn arrives_late(text: &str) -> bool {
    let words = lower_words(text);
    let mut back = words.iter().rev().filter(|it| classify_word(it) != Class::Filler);
    let mut next_back = || back.next().map_or("", String::as_str);
    let (last, verb, subject) = (next_back(), next_back(), next_back());
    let is_speaker = matches!(subject, "i" | "we");
    last == "late" && (matches!(verb, "came" | "arrived") || matches!(verb, "was" | "were") && !is_speaker)
}

/// Returns true if a word is a unit of time of a day or more.
fn is_length_of_days(lower: &str) -> bool {
    is_time_unit(lower) && !["second", "minute", "hour"].contains(&lower.strip_suffix('s').unwrap_or(lower))
}

/// Returns true if a sentence denies the question's verb or a similar one. "I haven't run since the marathon" does not
/// deny the marathon. The forms of other languages are not read.
fn denies_verb(sentence: &Sentence) -> bool {
    let mut verbs = sentence.hits.iter().filter(|it| it.1).map(|it| it.0);
    let is_since = lower_words(&sentence.text).iter().any(|it| it == "since");
    !is_since && sentence.pieces.is_none() && verbs.any(|at| is_denied(&clause_words_before(&sentence.text, at)))
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
    let leading = clause_words_before(text, at);
    let is_denied = !question.traits.negated && is_denied(&leading);
    let is_infinitive = leading.last().is_some_and(|it| it == "to");
    let words = lower_words(text.get(at..).unwrap_or_default());
    let is_past = question.tense >= 0.0 || words.first().is_none_or(|it| may_be_past(question, it));
    !is_denied && !is_infinitive && is_past
}

/// Returns the words between the start of a clause and a byte offset in it, in lower case.
fn clause_words_before(text: &str, at: usize) -> Vec<String> {
    let before = text.get(..at).unwrap_or_default();
    let clause = before.rfind(CLAUSE_MARKS).map_or(0, |it| it + 1);
    lower_words(before.get(clause..).unwrap_or_default())
}

/// Returns true if a negation is among the auxiliaries and adverbs at the end of the words before a verb.
fn is_denied(words_before: &[String]) -> bool {
    let mut verb_parts = words_before.iter().rev().take_while(|it| is_verb_part(it));
    verb_parts.any(|it| is_negation(it))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_denial_of_the_verb_after_a_time_denies_the_time() {
        let is_denied = |after: &str| is_following_verb_denied(&lower_words(after), |it| is_negation(it));
        for after in "was cancelled|isn't happening|didn't take place|never happened".split('|') {
            assert!(is_denied(after), "{after}");
        }
        for after in "wasn't cheap|isn't it|can't wait|without Tom|not Monday|is fun|".split('|') {
            assert!(!is_denied(after), "{after}");
        }
    }

    #[test]
    fn a_late_speaker_does_not_delay_the_event() {
        assert!(arrives_late("The crib was late."));
        assert!(!arrives_late("The wedding was lovely, but I was late."));
    }
}
