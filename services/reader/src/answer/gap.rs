//! How a candidate stands to the gap of the question: right before its verb, behind its last words, or as the one a pronoun
//! means.

use std::ops::Range;

use super::lexis::{Class, class, denies};
use super::slots;
use super::spans::{Shape, Span};
use super::traits::flag;
use crate::implied::{studies, switches};
use crate::lists;
use crate::pool::{Line, Sentence};
use crate::question::Question;

/// Says how a candidate fills the gap: whether it does what the verb says, follows the words that the question ends with, is
/// whom a pronoun that does it in the next sentence means, and whether its verb is denied.
pub(super) fn fills(question: &Question, line: &Line<'_>, span: &Span, row: &mut [f32]) {
    let sentence = &line.sentences[span.sentence];
    let fronted = question.gap.fronted.as_ref().is_some_and(|it| *it == span.led);
    let had = question.gap.had && matches!(span.led.as_str(), "has" | "have" | "had" | "got");
    let denied = !question.negated && is_denied(sentence, span);
    let stands = [equals, behind_tail, before_end, switched, studied];
    let follows = || fronted || had || stands.iter().any(|it| it(question, sentence, span));
    row[slots::TAIL] = flag(!denied && follows());
    row[slots::DENIED] = flag(denied);
    if question.gap.agent {
        let does = before_verb(question, sentence, span) || by(sentence, span) || takes(question, sentence, span);
        row[slots::AGENT] = flag(does);
        row[slots::STANDS_FOR] = flag(!does && stands_for(line, span));
    }
}

/// "I don't drink coffee any more, only tea", "I drink no coffee": coffee is what is not drunk.
fn is_denied(sentence: &Sentence, span: &Span) -> bool {
    let not = |at: usize| {
        let clause = after_mark(&sentence.text[..at]);
        let words = between(sentence, clause..at).unwrap_or_default();
        let phrase = sentence.pieces.iter().flatten().find(|it| it.range.contains(&at));
        let whole = phrase.and_then(|it| it.english.as_deref()).unwrap_or_default();
        whole.split(' ').any(denies) || words.iter().rev().take_while(|it| helps(it)).any(|it| denies(&it.1))
    };
    let follows = |at: usize| {
        let words = between(sentence, end_of(&sentence.text, at)..span.start).unwrap_or_default();
        let other = |it: &(Class, String)| matches!(it.1.as_str(), "but" | "only" | "except" | "because");
        let joined = sentence.text[at..span.start].find(MARKS).is_none() && !words.iter().any(other);
        joined && (not(at) || words.iter().any(|it| denies(&it.1)))
    };
    verbs(sentence).filter(|it| *it < span.start).any(follows)
}

/// "The secret is marjoram", "the price was cut to 9 euros", "colour=green": what is said to be what is asked for.
fn equals(question: &Question, sentence: &Sentence, span: &Span) -> bool {
    if keyed(question, sentence, span) {
        return true;
    }
    let Some(noun) = &question.gap.equals else { return false };
    let is = |it: &(Class, String)| matches!(it.1.as_str(), "is" | "was" | "are" | "were");
    let follows = |at: usize, end: usize| {
        let words = between(sentence, end..span.start);
        let words = words.as_deref().and_then(<[_]>::split_first);
        words.is_some_and(|(first, rest)| {
            let called = |it: &(Class, String)| leads(it) || matches!(it.1.as_str(), "called" | "named");
            is(first) && rest.iter().all(called) || becomes(first, rest, turned(&sentence.text[..at]))
        })
    };
    let mut nouns = sentence
        .terms
        .iter()
        .filter(|it| it.stem == *noun && it.start < span.start);
    nouns.any(|it| {
        let end = end_of(&sentence.text, it.start);
        follows(it.start, end) || beside(sentence, span, end)
    })
}

/// "My new boss, Tobias": a name right behind who that is.
fn beside(sentence: &Sentence, span: &Span, end: usize) -> bool {
    let gap = sentence.text.get(end..span.start).map_or("", str::trim);
    span.shape == Shape::Name && sentence.pieces.is_none() && matches!(gap, "" | "," | "–" | "—" | "(" | ":")
}

/// "(Changed the password) to", "(the password) was changed to".
fn becomes(first: &(Class, String), rest: &[(Class, String)], turned: bool) -> bool {
    let words = || std::iter::once(first).chain(rest);
    let turns = |it: &(Class, String)| is_turn(&it.1);
    let Some(to) = words().position(|it| it.1 == "to") else {
        return false;
    };
    let opens = words().take(to).all(|it| helps(it) || turns(it)) && words().skip(to + 1).all(leads);
    opens && (turned || words().take(to).any(turns))
}

fn turned(before: &str) -> bool {
    text::words(before).into_iter().any(|it| is_turn(&it.to_lowercase()))
}

/// Verbs of what becomes something else, by stem.
fn is_turn(lower: &str) -> bool {
    let turns = [
        "chang", "switch", "cut", "rais", "lower", "reduc", "increas", "went", "gone", "drop", "renam", "updat", "set",
        "move", "extend", "postpon",
    ];
    turns.contains(&text::stem(lower).as_str())
}

/// "pool_size=50", `"commit": "a41f9e2"` behind a key whose words the question asks for.
fn keyed(question: &Question, sentence: &Sentence, span: &Span) -> bool {
    let quotes = ['"', '\'', ' '];
    let before = sentence.text[..span.start].trim_end_matches(quotes);
    let Some(key) = before.strip_suffix(['=', ':']) else {
        return false;
    };
    // In prose a colon follows many a word.
    if before.ends_with(':') && !key.ends_with('"') {
        return false;
    }
    let before = key.trim_end_matches(quotes);
    let part = |it: char| it.is_alphanumeric() || matches!(it, '_' | '-' | '.');
    let start = before.rfind(|it| !part(it));
    let key = start.map_or(before, |at| before[at..].trim_start_matches(|it| !part(it)));
    let stems: Vec<String> = key
        .split(|it: char| !it.is_alphanumeric())
        .map(|it| text::stem(&it.to_lowercase()))
        .collect();
    let asked = |it: &String| question.words.iter().any(|word| word.stem == *it);
    let whole = key.contains(['_', '-', '.']) && question.lower.contains(&key.to_lowercase());
    let named = stems
        .last()
        .is_some_and(|it| *it == question.head || Some(it) == question.gap.equals.as_ref());
    whole || named && stems.iter().all(asked)
}

/// What parts clauses.
const MARKS: [char; 12] = ['.', ';', ':', '!', '?', '(', ')', '"', '…', '—', '–', ','];

/// Returns where the last clause of a text starts.
fn after_mark(text: &str) -> usize {
    let mark = text.char_indices().rev().find(|it| MARKS.contains(&it.1));
    mark.map_or(0, |(at, mark)| at + mark.len_utf8())
}

/// Returns the classes and the words of a stretch of a sentence, those of other languages in English; none if a mark stands in it.
fn between(sentence: &Sentence, range: Range<usize>) -> Option<Vec<(Class, String)>> {
    let text = sentence.text.get(range.clone())?;
    if text.contains(MARKS) {
        return None;
    }
    let classed = |it: &str| {
        let lower = it.to_lowercase().replace('’', "'");
        (class(it, &lower, false), lower)
    };
    let Some(pieces) = &sentence.pieces else {
        return Some(text::words(text).into_iter().map(classed).collect());
    };
    let inside = pieces
        .iter()
        .filter(|it| it.range.end <= range.end && it.range.end > range.start);
    let words = inside.flat_map(|it| {
        let english = it.english.as_deref().unwrap_or(&sentence.text[it.range.clone()]);
        // Of "allergic to" the rest stands behind its first word.
        let rest = english.split_once(' ').map_or("", |it| it.1);
        let shown = if it.range.start < range.start { rest } else { english };
        shown.split_whitespace().filter(|it| *it != "me")
    });
    Some(words.map(classed).collect())
}

/// Returns where the word that starts at `at` ends.
fn end_of(text: &str, at: usize) -> usize {
    text::words(&text[at..])
        .first()
        .map_or(at, |word| word.as_ptr() as usize - text.as_ptr() as usize + word.len())
}

fn verbs(sentence: &Sentence) -> impl Iterator<Item = usize> {
    sentence.hits.iter().filter(|it| it.1).map(|it| it.0)
}

/// "Repaired by Ann".
fn by(sentence: &Sentence, span: &Span) -> bool {
    let follows = |at: usize| {
        let words = (at <= span.start).then(|| between(sentence, at..span.start)).flatten();
        words.is_some_and(|it| {
            it.first().is_some_and(|it| it.1 == "by") && it[1..].iter().all(|it| it.0 == Class::Determiner)
        })
    };
    verbs(sentence).map(|it| end_of(&sentence.text, it)).any(follows)
}

/// Stems of a verb, of what its other side does, and what stands before who does the first in a sentence of the second.
const SIDES: [(&str, &str, &str); 5] = [
    ("buy", "sell", "to"),
    ("sell", "buy", "from"),
    ("borrow", "lend", "to"),
    ("lend", "borrow", "from"),
    ("teach", "learn", "from"),
];

/// "Sold the boat to a neighbour" tells who bought it.
fn takes(question: &Question, sentence: &Sentence, span: &Span) -> bool {
    let verb = question.words.iter().find(|it| it.verb);
    let told = |side: &(&str, &str, &str)| {
        let mut before = sentence.terms.iter().filter(|it| it.start < span.start);
        span.led == side.2 && before.any(|it| it.stem == side.1)
    };
    verb.is_some_and(|verb| SIDES.iter().filter(|it| it.0 == verb.stem).any(told))
}

/// Says whether a candidate stands before the verb that the question leaves without a subject.
pub(super) fn before_verb(question: &Question, sentence: &Sentence, span: &Span) -> bool {
    let small = |it: &(Class, String)| helps(it) || relative(&it.1);
    // In German all that it is done to stands before the verb.
    let elsewhere = sentence.pieces.is_some() && span.says.is_some();
    let other = |it: &(Class, String)| matches!(it.0, Class::Pronoun | Class::Conjunction);
    let bears = |it: &[(Class, String)]| {
        it.iter().all(small) || controls(it) || described(it, span) || elsewhere && !it.iter().any(other)
    };
    question.gap.agent
        && verbs(sentence)
            .filter(|it| *it >= span.end)
            .any(|it| between(sentence, span.end..it).is_some_and(|it| bears(&it)))
}

/// "Marta from support (tells them)".
fn described(words: &[(Class, String)], span: &Span) -> bool {
    let noun = |it: &(Class, String)| matches!(it.0, Class::Determiner | Class::Content | Class::Name);
    let whose = words
        .split_first()
        .filter(|it| it.0.0 == Class::Preposition && span.shape == Shape::Name);
    whose.is_some_and(|(_, rest)| !rest.is_empty() && rest.iter().skip_while(|it| noun(it)).all(helps))
}

/// "Used the time to", "promised to": who does that does what follows.
fn controls(words: &[(Class, String)]) -> bool {
    let mut words = words.iter().skip_while(|it| helps(it));
    let verb = words
        .next()
        .is_some_and(|it| lists::CONTROLS.contains(text::stem(&it.1).as_str()));
    let other = |it: &(Class, String)| matches!(it.0, Class::Pronoun | Class::Name | Class::Conjunction);
    let rest: Vec<&(Class, String)> = words.collect();
    verb && rest.last().is_some_and(|it| it.1 == "to") && !rest.iter().any(|it| other(it))
}

/// "(The soup) that you (cooked)": says whether all between is who does it.
fn is_relative(sentence: &Sentence, from: usize, verb: usize) -> bool {
    let words = between(sentence, from..verb).unwrap_or_default();
    let person = |it: &(Class, String)| matches!(it.0, Class::Pronoun | Class::Name);
    let who = words.split_first().map_or(
        &words[..],
        |(first, rest)| if relative(&first.1) { rest } else { &words },
    );
    who.split_first()
        .is_some_and(|(first, rest)| person(first) && rest.iter().all(helps))
}

/// What stands between who does something and the verb.
fn helps(word: &(Class, String)) -> bool {
    matches!(word.0, Class::Auxiliary | Class::Filler)
}

/// What stands before a noun and is no part of what it names.
fn leads(word: &(Class, String)) -> bool {
    matches!(word.0, Class::Determiner | Class::Filler)
}

fn relative(lower: &str) -> bool {
    matches!(lower, "who" | "that" | "which")
}

fn behind_tail(question: &Question, sentence: &Sentence, span: &Span) -> bool {
    let Some((word, preposition)) = &question.gap.tail else {
        return false;
    };
    let figure = preposition.is_empty() && sentence.text[span.start..].starts_with(|it: char| it.is_ascii_digit());
    if figure || matches!(span.shape, Shape::Action | Shape::Reason | Shape::Clause) {
        return false;
    }
    let follows = |at: usize| {
        let words = between(sentence, end_of(&sentence.text, at)..span.start);
        words.is_some_and(|it| match it.as_slice() {
            all if preposition.is_empty() => all.iter().all(leads),
            [(_, first), rest @ ..] => first == preposition && rest.iter().all(leads),
            [] => false,
        })
    };
    let mut ends = sentence.terms.iter().filter(|it| it.stem == *word);
    // "The soup that you cooked".
    if preposition.is_empty()
        && ends
            .clone()
            .any(|it| span.end <= it.start && is_relative(sentence, span.end, it.start))
    {
        return true;
    }
    ends.any(|it| it.start < span.start && end_of(&sentence.text, it.start) <= span.start && follows(it.start))
}

/// "(Four) in Leeds", asked how many are in Leeds.
fn before_end(question: &Question, sentence: &Sentence, span: &Span) -> bool {
    let (asked, after) = (text::words(&question.lower), &sentence.text[span.end..].to_lowercase());
    let [.., preposition, last] = asked.as_slice() else {
        return false;
    };
    let follows = text::words(after).iter().take(2).eq([preposition, last]);
    question.many && follows && class(preposition, preposition, false) == Class::Preposition
}

/// "Switched from kayaks to (canoes)", asked what is used, or was before.
fn switched(question: &Question, sentence: &Sentence, span: &Span) -> bool {
    let used = question.words.iter().any(|it| it.verb && it.stem == "use");
    let led = if question.recency < 0.0 { "from" } else { "to" };
    used && span.led == led && matches!(span.shape, Shape::Name | Shape::Phrase) && switches(&sentence.text)
}

/// "A master's in (law)".
fn studied(question: &Question, sentence: &Sentence, span: &Span) -> bool {
    let asked = question.words.iter().any(|it| it.stem == "studi");
    let between = |at: usize| sentence.text.get(at..span.start).is_some_and(|it| it.trim() == "in");
    asked && matches!(span.shape, Shape::Name | Shape::Phrase) && studies(&sentence.text).is_some_and(between)
}

/// "Ludvik plays in the park. He also repaired it": the name that the sentence before opens with.
fn stands_for(line: &Line<'_>, span: &Span) -> bool {
    let Some(next) = line.sentences.get(span.sentence + 1) else {
        return false;
    };
    let does = |at: usize| {
        let words = between(next, 0..at).unwrap_or_default();
        let mut back = words.iter().rev().skip_while(|it| helps(it));
        back.next()
            .is_some_and(|it| matches!(it.1.as_str(), "he" | "she" | "they" | "he's" | "she's" | "they've"))
    };
    span.shape == Shape::Name && span.start == 0 && verbs(next).any(does)
}
