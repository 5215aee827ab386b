//! Later words of a person that end a stated value without giving another one: "We moved out", "I eat meat again".

use text::facts::Subject;
use text::split_words;

use super::line_statements::LineStatement;
use crate::evidence::evidence_lines::{Pool, is_same_speaker};
use crate::evidence::line::Sentence;
use crate::evidence::verb_context::VerbContext;
use crate::evidence::word_classes::{Class, classify_word, is_negation, is_time_unit};

/// Returns true if the person who states his or her home says later that he or she has moved. If the statement itself
/// reports a move, "we moved" may be the same move, so only "moved out" and the like count. A planned move is not
/// doubted.
pub(super) fn has_moved_since(home: &LineStatement, pool: &Pool<'_>) -> bool {
    let said_at = pool.lines[home.line].turn.observed_at;
    let is_planned = home.since.as_ref().is_some_and(|it| it.start > said_at);
    !is_planned && later_own_sentences(home, pool).any(|it| reports_move(&it.text, home.event))
}

/// Returns true if a person says the opposite of his or her statement later, with all words of the question and no more:
/// "I eat meat again" after "I don't eat meat", but not "I eat meat substitutes". `stems` are the words of the question.
pub(super) fn is_reversed_since(statement: &LineStatement, stems: &[String], pool: &Pool<'_>) -> bool {
    let holds = statement.positive && !statement.ended;
    later_own_sentences(statement, pool).any(|it| {
        let words = split_words(&it.text);
        let has_word = |stem: &String| it.terms.iter().any(|term| term.stem == *stem);
        let is_asked = |at: &usize| {
            let start = offset_of(&it.text, words[*at]);
            let mut terms = it.terms.iter();
            terms.any(|term| term.start == start && stems.contains(&term.stem))
        };
        let asked: Vec<usize> = (0..words.len()).filter(is_asked).collect();
        let Some(last) = asked.last() else {
            return false;
        };
        let is_opposite = |at: &usize| {
            let verb = VerbContext::read(&it.text, offset_of(&it.text, words[*at]));
            let denies_object = words[*at..*last].iter().any(|it| is_negation(&lowercase_word(it)));
            verb.is_denied() == holds && !denies_object && !verb.is_intended("")
        };
        let mut own_verbs = asked.iter().filter(|at| opens_own_clause(&it.text, &words, **at));
        stems.iter().all(has_word) && is_end_of_statement(&it.text, &words, *last) && own_verbs.any(is_opposite)
    })
}

/// Returns true if nothing but "again", "now" or "any more" follows the word at an index in its clause: "I don't drink
/// coffee after five" limits a statement, and does not reverse it.
fn is_end_of_statement(sentence: &str, words: &[&str], at: usize) -> bool {
    match lowercase_word_at(words, at + 1).as_str() {
        "" | "again" | "now" | "anymore" => true,
        "any" => matches!(lowercase_word_at(words, at + 2).as_str(), "more" | "longer"),
        _ => has_mark_after(sentence, words, at),
    }
}

/// Returns the spoken English sentences of a person after a statement about himself or herself.
fn later_own_sentences<'a>(statement: &'a LineStatement, pool: &'a Pool<'_>) -> impl Iterator<Item = &'a Sentence> {
    let is_own = statement.subject == Subject::Speaker;
    let actor = &pool.lines[statement.line].turn.actor;
    let is_later = move |at: &usize| {
        is_own && pool.is_later(*at, statement.line) && is_same_speaker(&pool.lines[*at].turn.actor, actor)
    };
    let lines = (0..pool.lines.len()).filter(is_later);
    let sentences = lines.flat_map(move |at| &pool.lines[at].sentences);
    sentences.filter(|it| !it.question && !it.caption && it.pieces.is_none())
}

/// Returns true if "I moved" or "we moved" without a place is a main clause of a sentence: "We finally moved on Friday".
/// "Since I moved" refers to a known move, "I moved out at 18" to an earlier one, and "I was moved" to a feeling.
fn reports_move(sentence: &str, only_away: bool) -> bool {
    let words = split_words(sentence);
    let is_verb = |at: &usize| words[*at].eq_ignore_ascii_case("moved");
    let mut verbs = (0..words.len()).filter(is_verb);
    verbs.any(|at| {
        let context = VerbContext::read(sentence, offset_of(sentence, words[at]));
        opens_own_clause(sentence, &words, at)
            && !context.is_denied()
            && !context.is_intended("")
            && !context.is_passive()
            && !names_earlier_time(&words[at..])
            && is_without_place(sentence, &words, at, only_away)
    })
}

/// Returns true if "I" or "we" opens a main clause before the verb at an index: "I moved", "Yesterday we finally moved".
fn opens_own_clause(sentence: &str, words: &[&str], at: usize) -> bool {
    let is_own = |it: &str| matches!(lowercase_word(it).split('\'').next(), Some("i" | "we"));
    let is_filler = |it: &str| classify_word(&lowercase_word(it)) == Class::Filler;
    let may_precede_verb = |it: &str| matches!(classify_word(&lowercase_word(it)), Class::Auxiliary | Class::Filler);
    let between = words[..at].iter().rev();
    let count = between.take_while(|it| !is_own(it) && may_precede_verb(it)).count();
    let Some(subject) = at.checked_sub(count + 1).filter(|it| is_own(words[*it])) else {
        return false;
    };
    let start = subject - words[..subject].iter().rev().take_while(|it| is_filler(it)).count();
    let joins = |it: &str| matches!(lowercase_word(it).as_str(), "and" | "so" | "but");
    start == 0 || (start..=subject).any(|it| has_mark_after(sentence, words, it - 1)) || joins(words[start - 1])
}

/// Returns true if words name a time that lies years back: "at 18", "in 2009", "when I was ten", "three years ago".
fn names_earlier_time(words: &[&str]) -> bool {
    let is_figure = |it: &str| it.starts_with(|it: char| it.is_ascii_digit());
    let is_earlier = |at: usize| match lowercase_word(words[at]).as_str() {
        "when" | "year" | "years" => true,
        "at" => words.get(at + 1).is_some_and(|it| is_figure(it)),
        other => other.len() == 4 && other.parse::<u16>().is_ok(),
    };
    (0..words.len()).any(is_earlier)
}

/// Returns true if no place and no thing follows "moved" at an index. If `only_away` is set, "out", "away", "house" or
/// "again" must follow.
fn is_without_place(sentence: &str, words: &[&str], at: usize, only_away: bool) -> bool {
    let (next, second) = (lowercase_word_at(words, at + 1), lowercase_word_at(words, at + 2));
    let ends_after_next = || second.is_empty() || has_mark_after(sentence, words, at + 1);
    let is_time = || text::time::words::is_named(&second) || is_time_unit(&second);
    match next.as_str() {
        "out" | "away" => !matches!(second.as_str(), "of" | "from"),
        "house" | "again" => true,
        _ if only_away => false,
        "" | "because" | "and" | "but" => true,
        _ if has_mark_after(sentence, words, at) => true,
        "here" => false,
        "back" | "more" | "most" | "much" => ends_after_next(),
        "in" => ends_after_next() || second == "with" || is_time() || classify_word(&second) == Class::Filler,
        "on" | "at" => matches!(second.as_str(), "the" | "a" | "last") || is_time(),
        "so" => matches!(second.as_str(), "i" | "we" | "now"),
        other => {
            let is_object = matches!(
                classify_word(&second),
                Class::Content | Class::Determiner | Class::Number
            );
            classify_word(other) == Class::Filler && (!is_object || ends_after_next() || is_time())
        }
    }
}

/// Returns the word at an index in lower case, or an empty text after the last word.
fn lowercase_word_at(words: &[&str], at: usize) -> String {
    words.get(at).map(|it| lowercase_word(it)).unwrap_or_default()
}

/// Returns a word in lower case with straight apostrophes.
fn lowercase_word(word: &str) -> String {
    word.to_lowercase().replace('\u{2019}', "'")
}

/// Marks between two clauses.
const MARKS: [char; 8] = [',', '.', ';', ':', '!', '(', '—', '–'];

fn has_mark_after(sentence: &str, words: &[&str], at: usize) -> bool {
    let end = offset_of(sentence, words[at]) + words[at].len();
    let next = words.get(at + 1).map_or(sentence.len(), |it| offset_of(sentence, it));
    sentence.get(end..next).is_some_and(|it| it.contains(MARKS))
}

fn offset_of(sentence: &str, word: &str) -> usize {
    word.as_ptr() as usize - sentence.as_ptr() as usize
}
