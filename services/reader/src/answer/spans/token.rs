//! The words of a sentence with what phrases need to know of them.

use std::collections::BTreeSet;
use std::ops::Range;

use text::gloss::Piece;
use text::{Nouns, ends_clause, is_stop, words};

use super::super::amount;
use super::super::lexis::{Class, class, of_time};
use crate::lists;
use crate::plan::ASKS;
use crate::pool::{Pool, Sentence};
use crate::question::Question;

/// A word of a sentence in its place.
pub(super) struct Token {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) lower: String,
    pub(super) class: Class,
    /// Whether a mark that ends clauses stands before it.
    pub(super) breaks: bool,
    /// Whether a comma stands before it.
    pub(super) comma: bool,
    /// Whether it names a time, or is part of what does.
    pub(super) time: bool,
}

/// Words of a sentence that are searched.
const WORDS_MAX: usize = 80;

/// Returns who speaks and what stands capitalised inside sentences, in lower case: what opens a sentence and is one of those is
/// a name.
pub(super) fn names(pool: &Pool<'_>) -> BTreeSet<String> {
    let sentences = pool.lines.iter().flat_map(|it| &it.sentences).filter(|it| !it.caption);
    let inside = sentences.flat_map(|it| words(&it.text).into_iter().skip(1));
    let speakers = pool.lines.iter().flat_map(|it| words(&it.turn.actor));
    inside.chain(speakers).filter(|it| capital(it)).map(bare).collect()
}

fn capital(word: &str) -> bool {
    word.starts_with(char::is_uppercase) && word.chars().count() > 1 && !is_stop(word)
}

fn bare(word: &str) -> String {
    let lower = word.to_lowercase().replace('’', "'");
    lower.strip_suffix("'s").unwrap_or(&lower).to_owned()
}

/// First parts of family names and places.
const PARTICLES: [&str; 14] = [
    "van", "von", "de", "del", "della", "di", "da", "la", "le", "el", "mac", "san", "santa", "saint",
];

/// Says whether what opens a sentence is a name: it is one elsewhere, or no noun that is known and does something, "Emil fell".
fn named(word: &str, next: Option<&Token>, names: &BTreeSet<String>) -> bool {
    let lower = bare(word);
    let adverb = ["ly", "ing", "ed"].iter().any(|it| lower.ends_with(it));
    let acts = acts(next);
    let part = PARTICLES.contains(&lower.as_str()) && next.is_some_and(|it| it.class == Class::Name && !it.breaks);
    capital(word) && (part || names.contains(&lower) || acts && !adverb && Nouns::builtin().kind(&lower).is_none())
}

/// Says whether what stands before a word is its subject: "(prod) is".
pub(super) fn acts(token: Option<&Token>) -> bool {
    token.is_some_and(|it| matches!(it.class, Class::Verb | Class::Auxiliary) && !it.breaks && !it.comma)
}

/// Returns the bytes that answer nothing: those of `calls`, the names of who is spoken to, and of what changed the other value than is asked for.
pub(super) fn barred(question: &Question, calls: Vec<Range<usize>>, tokens: &[Token]) -> Vec<Range<usize>> {
    let mut out = calls;
    if question.recency >= 0.0 {
        out.extend(changed(tokens));
    }
    out
}

/// Returns the bytes of the names with which a sentence speaks to somebody who speaks too; "my dog, Rex" calls nobody.
pub(super) fn calls(text: &str, speakers: &[String]) -> Vec<Range<usize>> {
    let place = |it: &str| it.as_ptr() as usize - text.as_ptr() as usize;
    let names = text::vocatives(text)
        .into_iter()
        .filter(|it| speakers.contains(&it.to_lowercase()));
    names.map(|it| place(it)..place(it) + it.len()).collect()
}

/// Returns the bytes of what a sentence says that something was before: "cut from 90 to 14 days".
fn changed(tokens: &[Token]) -> Option<Range<usize>> {
    let verb = |it: &Token| lists::CHANGES.contains(text::stem(&it.lower).as_str());
    let from = tokens.iter().position(|it| it.lower == "from")?;
    let to = from + 1 + tokens[from + 1..].iter().take(5).position(|it| it.lower == "to")?;
    let joined = !tokens[from + 1..=to].iter().any(|it| it.breaks || it.comma);
    let figures = [from + 1, to + 1].map(|it| tokens.get(it).is_some_and(|it| it.class == Class::Number));
    (joined && figures == [true, true] && tokens[..from].iter().any(verb)).then(|| tokens[from].start..tokens[to].end)
}

/// Returns the words of a sentence; `times` are the bytes where it names a time, `names` what is a name also where it opens
/// one, `calls` those of the names with which it speaks to somebody.
pub(super) fn tokens(
    sentence: &Sentence,
    times: &[Range<usize>],
    (names, calls): (&BTreeSet<String>, &[Range<usize>]),
) -> Vec<Token> {
    let text = &sentence.text;
    let base = text.as_ptr() as usize;
    let mut last = 0;
    let mut out: Vec<Token> = Vec::new();
    let plain = |word: &str| Piece {
        range: word.as_ptr() as usize - base..word.as_ptr() as usize - base + word.len(),
        english: None,
    };
    let pieces = || words(text).into_iter().map(plain).collect();
    let pieces = sentence.pieces.clone().unwrap_or_else(pieces);
    let pieces = joined(text, pieces.into_iter().take(WORDS_MAX), times);
    for (at, piece) in pieces.into_iter().enumerate() {
        let Range { start, end } = piece.range;
        let gap = &text[last..start];
        let english = piece.english.as_deref().map(leading);
        let word = english.unwrap_or(&text[start..end]);
        let lower = word.to_lowercase().replace('’', "'");
        // "Compré" is "i bought": who speaks stands before it and takes no room.
        if piece.english.as_deref().is_some_and(|it| it.starts_with("i ")) {
            out.push(Token {
                start,
                end: start,
                lower: "i".to_owned(),
                class: Class::Pronoun,
                breaks: false,
                comma: false,
                time: false,
            });
        }
        out.push(Token {
            start,
            end,
            class: match coded(word) {
                Some(class) => class,
                // "64 GB" names nothing.
                None if out.last().is_some_and(|it| it.class == Class::Number) && amount::unit(&lower) => {
                    Class::Content
                }
                None => class(word, &lower, at == 0 && !sentence.caption),
            },
            time: of_time(&lower) || times.iter().any(|it| it.contains(&start)),
            lower,
            breaks: calls.iter().any(|it| it.start == start || it.end == last)
                || ends_clause(&text[..last], gap)
                || gap.contains(['(', ')', '"', '“', '”', '—', '–'])
                || gap.contains(" - ")
                // A caption may hold several sentences.
                || sentence.caption && gap.contains(". "),
            comma: gap.contains([',', '，', '、']),
        });
        last = end;
    }
    let opening = words(text).into_iter().next().filter(|_| !sentence.caption);
    let opens = opening.is_some_and(|it| named(it, out.get(1), names));
    if let Some(first) = out
        .first_mut()
        .filter(|it| opens && matches!(it.class, Class::Content | Class::Verb))
    {
        first.class = Class::Name;
    }
    out
}

/// Joins the words that are one address or code: "ana.k@post.example", "DS-17", "v2.14.1", "B-XY 1234".
fn joined(text: &str, pieces: impl Iterator<Item = Piece>, times: &[Range<usize>]) -> Vec<Piece> {
    let mut out: Vec<Piece> = Vec::new();
    let mut rest = pieces.peekable();
    while let Some(piece) = rest.next() {
        let written = |it: Range<usize>| text.get(it).unwrap_or_default();
        let next = rest.peek().map_or(piece.range.end, |it| it.range.end);
        let one = |last: &Piece| {
            let (left, gap) = (written(last.range.clone()), written(last.range.end..piece.range.start));
            let right = written(piece.range.clone());
            match gap {
                "" => false,
                " " => grouped(left, right, written(piece.range.end..next)),
                _ => glued(left, gap, right) || !gap.contains(char::is_whitespace) && address(text, piece.range.start),
            }
        };
        let timed = times.iter().any(|it| it.contains(&piece.range.start)) || piece.english.is_some();
        match out.last_mut().filter(|it| !timed && it.english.is_none() && one(it)) {
            Some(last) => last.range.end = piece.range.end,
            None => out.push(piece),
        }
    }
    out
}

/// Says whether what stands around `at` up to the next spaces is the address of a page or of mail.
fn address(text: &str, at: usize) -> bool {
    let start = text[..at].rfind(char::is_whitespace).map_or(0, |it| it + 1);
    let end = text[at..].find(char::is_whitespace).map_or(text.len(), |it| at + it);
    let run = text.get(start..end).unwrap_or_default();
    run.contains("://") || run.starts_with("www.") || run.trim_matches('@').contains('@')
}

/// Says whether a mark without space around it joins a code, a version or the name of a site.
fn glued(left: &str, gap: &str, right: &str) -> bool {
    let figure = |it: &str| it.contains(|it: char| it.is_ascii_digit());
    let short = (2..=4).contains(&right.len()) && !is_stop(right);
    match gap {
        "." => left.len() == 1 || left.contains('.') || figure(left) || figure(right) || short,
        "/" => left.contains(['.', '/']) || is_code(left),
        "-" => {
            let capitals = is_group(left) && is_group(right) && [left, right].concat().contains(char::is_uppercase);
            let counted = left.chars().all(char::is_alphabetic) && right.chars().all(|it| it.is_ascii_digit());
            capitals || counted || is_code(left) || is_code(right)
        }
        _ => false,
    }
}

/// Says whether a group goes on with a code: "DE89 3704 0044", "LH 1234". A noun `behind` it is what it counts.
fn grouped(left: &str, right: &str, behind: &str) -> bool {
    let code = is_code(left) || left.contains('-');
    let capitals = is_group(left) && left.contains(char::is_uppercase);
    let short = (2..=4).contains(&left.len()) && !amount::code(&left.to_lowercase());
    let figures = is_group(right) && (is_code(left) || right.contains(|it: char| it.is_ascii_digit()));
    let noun = behind.strip_prefix(' ').is_some_and(|it| !is_group(it) && !is_stop(it));
    capitals && figures && (code || short && !noun)
}

/// Says whether a word is written in capitals and figures.
fn is_group(word: &str) -> bool {
    let sign = |it: char| it.is_uppercase() || it.is_ascii_digit() || matches!(it, '-' | ' ');
    !word.is_empty() && word.chars().all(sign)
}

/// Says whether a figure stands behind a letter in a word.
fn is_code(word: &str) -> bool {
    let mut signs = word.chars().skip_while(|it| !it.is_alphabetic());
    signs.any(|it| it.is_ascii_digit())
}

/// The class of what is no word of a language: a code, an address, a string of letters and figures.
fn coded(word: &str) -> Option<Class> {
    let turns = word.chars().zip(word.chars().skip(1));
    let turns = turns.filter(|(a, b)| a.is_alphabetic() && b.is_ascii_digit()).count();
    let mixed = word.starts_with(|it: char| it.is_ascii_digit()) && turns > 1;
    if is_group(word) && is_code(word) {
        Some(Class::Name)
    } else {
        (mixed || word.contains(['@', '/'])).then_some(Class::Content)
    }
}

/// Returns the word of an English phrase that says what may follow it: "called" of "is called", "to" of "to the".
fn leading(phrase: &str) -> &str {
    match phrase.split_once(' ') {
        Some((first, "the")) => first,
        _ => phrase.rsplit(' ').next().unwrap_or(phrase),
    }
}

/// Says whether a sentence asks for what it does not hold: "What is your kitten called, by the way?"
pub(super) fn open(sentence: &Sentence) -> bool {
    let first = || text::words(&sentence.text).first().map(|it| it.to_lowercase());
    sentence.question && first().is_some_and(|it| ASKS.contains(&it.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_codes_are_one_word() {
        for (text, expected) in [
            (
                "Mail ana.kovalenko@post.example soon",
                "Mail|ana.kovalenko@post.example|soon",
            ),
            ("at www.fern.example/shop now", "at|www.fern.example/shop|now"),
            (
                "on https://fern.example:8080/a-b?c=1",
                "on|https://fern.example:8080/a-b?c=1",
            ),
            (
                "it is GB29 NWBK 6016 1331 9268 19 now",
                "it|is|GB29 NWBK 6016 1331 9268 19|now",
            ),
            ("the plate B-XY 1234", "the|plate|B-XY 1234"),
            ("part KR-204, v2.14.1", "part|KR-204|v2.14.1"),
            ("flight KL 605 at noon", "flight|KL 605|at|noon"),
            ("in NYC 3 friends came", "in|NYC|3|friends|came"),
            ("for EUR 50", "for|EUR|50"),
            ("a well-known 5-year-old", "a|well|known|5|year|old"),
            ("10/12 or and/or 555-1234", "10|12|or|and|or|555|1234"),
            ("Ann lives in St. Gallen", "Ann|lives|in|St|Gallen"),
            ("她2024年来", "她|2024|年|来"),
        ] {
            let base = text.as_ptr() as usize;
            let pieces = words(text).into_iter().map(|it| {
                let start = it.as_ptr() as usize - base;
                Piece {
                    range: start..start + it.len(),
                    english: None,
                }
            });
            let all = joined(text, pieces, &[]);
            let shown: Vec<&str> = all.iter().map(|it| &text[it.range.clone()]).collect();
            assert_eq!(shown.join("|"), expected);
        }
    }
}
