//! The words of a sentence with what phrases need to know of them.

use std::collections::BTreeSet;
use std::ops::Range;

use text::gloss::Piece;
use text::{Nouns, is_stop, words};

use super::super::lexis::{Class, class};
use super::super::time_words::of_time;
use crate::plan::ASKS;
use crate::pool::{Pool, Sentence};

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

/// Says whether what opens a sentence is a name: it is one elsewhere, or no noun that is known and does something, "Emil fell".
fn named(word: &str, next: Option<&Token>, names: &BTreeSet<String>) -> bool {
    let lower = bare(word);
    let adverb = ["ly", "ing", "ed"].iter().any(|it| lower.ends_with(it));
    let acts = next.is_some_and(|it| matches!(it.class, Class::Verb | Class::Auxiliary) && !it.breaks && !it.comma);
    capital(word) && (names.contains(&lower) || acts && !adverb && Nouns::builtin().kind(&lower).is_none())
}

/// Says whether a word is an abbreviation in capitals, longer than initials.
pub(super) fn shouted(word: &str) -> bool {
    word.chars().count() > 2 && word.chars().all(|it| it.is_uppercase() || it.is_ascii_digit())
}

/// Verbs of change, by stem: what it was stands after "from", what it is now after "to".
const CHANGES: &[&str] = &[
    "cut", "went", "go", "gone", "rose", "rise", "rais", "drop", "fell", "fall", "reduc", "increas", "lower", "chang",
    "move", "grew", "grow", "bump", "switch", "shrink", "extend", "shorten", "push", "postpon",
];

/// Returns the bytes of what a sentence says that something was before: "cut from 90 to 14 days".
pub(super) fn changed(tokens: &[Token]) -> Option<Range<usize>> {
    let verb = |it: &Token| CHANGES.contains(&text::stem(&it.lower).as_str());
    let from = tokens.iter().position(|it| it.lower == "from")?;
    let to = from + 1 + tokens[from + 1..].iter().take(5).position(|it| it.lower == "to")?;
    let joined = !tokens[from + 1..=to].iter().any(|it| it.breaks || it.comma);
    let figures = [from + 1, to + 1].map(|it| tokens.get(it).is_some_and(|it| it.class == Class::Number));
    (joined && figures == [true, true] && tokens[..from].iter().any(verb)).then(|| tokens[from].start..tokens[to].end)
}

/// Returns the words of a sentence; `times` are the bytes where it names a time, `names` what is a name also where it opens one.
pub(super) fn tokens(sentence: &Sentence, times: &[Range<usize>], names: &BTreeSet<String>) -> Vec<Token> {
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
    for (at, piece) in pieces.into_iter().take(WORDS_MAX).enumerate() {
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
            class: class(word, &lower, at == 0 && !sentence.caption),
            time: of_time(&lower) || times.iter().any(|it| it.contains(&start)),
            lower,
            breaks: gap.contains(['.', ';', ':', '!', '?', '(', ')', '"', '“', '”', '…', '—', '–'])
                || gap.contains(" - "),
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
