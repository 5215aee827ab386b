//! Splits text into the tokens of the grammar.

use std::borrow::Cow;

use crate::time_words::lexicon::Class;
use crate::time_words::word_table::class_of_word;

/// The tense of the words around a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum Tense {
    #[default]
    Open,
    Past,
    Future,
    /// The words before are about the past, and these words may be about the past or the future: "exam went ok, results
    /// friday".
    Unsure,
}

/// A word, a number or a mark of the text.
#[derive(Debug)]
pub(crate) struct Token<'a> {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The text in lower case.
    pub(crate) lower: Cow<'a, str>,
    pub(crate) class: Class,
    /// True if it begins with a capital letter.
    pub(crate) capital: bool,
    /// True if nothing lies between the token before and this one.
    pub(crate) glued: bool,
    /// The number of its sentence, from 0.
    pub(crate) sentence: usize,
    pub(crate) tense: Tense,
}

/// Returns the tokens of `text` in order, with their tense open; every token begins and ends at a character boundary.
pub(crate) fn split_tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens: Vec<Token<'_>> = Vec::with_capacity(text.len() / 4);
    let mut at = 0;
    let mut sentence = 0;
    while let Some(first) = text.get(at..).and_then(|rest| rest.chars().next()) {
        if first.is_whitespace() {
            if first == '\n' {
                sentence += 1;
            }
            at += first.len_utf8();
            continue;
        }
        let end = token_end(text, at, first);
        let lower = to_lowercase_cow(text.get(at..end).unwrap_or_default());
        let glued = tokens.last().is_some_and(|last| last.end == at);
        tokens.push(Token {
            start: at,
            end,
            class: classify_token(&lower, first),
            lower,
            capital: first.is_uppercase(),
            glued,
            sentence,
            tense: Tense::Open,
        });
        if matches!(first, '!' | '?' | '。' | '！' | '？') || (first == '.' && ends_sentence(text, end)) {
            sentence += 1;
        }
        at = end;
    }
    tokens
}

fn ends_sentence(text: &str, end: usize) -> bool {
    let mut rest = text.get(end..).unwrap_or_default().chars();
    rest.next().is_none_or(char::is_whitespace)
        && rest
            .next()
            .is_none_or(|next| !next.is_lowercase() && !next.is_numeric())
}

fn token_end(text: &str, at: usize, first: char) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let take = |inside: fn(char) -> bool| rest.find(|c| !inside(c)).unwrap_or(rest.len());
    if first.is_ascii_digit() {
        let digits = take(|c| c.is_ascii_digit());
        return at + digits + ordinal_ending(rest.get(digits..).unwrap_or_default());
    }
    if is_quote(first) {
        let tail = rest.get(first.len_utf8()..).unwrap_or_default();
        let letters = tail.find(|c: char| !c.is_alphabetic()).unwrap_or(tail.len());
        let after_word = text
            .get(..at)
            .and_then(|t| t.chars().next_back())
            .is_some_and(char::is_alphanumeric);
        return at + first.len_utf8() + if after_word { letters } else { 0 };
    }
    if is_letter(first) {
        at + take(is_letter)
    } else {
        at + first.len_utf8()
    }
}

/// Returns the length of "st", "nd", "rd", "th" or the French "er" after digits; 0 if there is none.
fn ordinal_ending(rest: &str) -> usize {
    let ending = rest.get(..2).unwrap_or_default();
    let known = ["st", "nd", "rd", "th", "er"]
        .iter()
        .any(|e| ending.eq_ignore_ascii_case(e));
    let ends = rest
        .get(2..)
        .and_then(|tail| tail.chars().next())
        .is_none_or(|c| !c.is_alphanumeric());
    if known && ends { 2 } else { 0 }
}

fn is_quote(c: char) -> bool {
    matches!(c, '\'' | '’')
}

/// Returns true for a letter of a script with spaces between words; each Chinese or Japanese character is a token of
/// its own.
fn is_letter(c: char) -> bool {
    c.is_alphabetic() && !matches!(u32::from(c), 0x2E80..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF) || is_mark(c)
}

/// Returns true for combining marks, which belong to their letter.
fn is_mark(c: char) -> bool {
    matches!(u32::from(c), 0x300..=0x36F)
}

fn to_lowercase_cow(word: &str) -> Cow<'_, str> {
    if word.chars().all(|c| c.is_lowercase() || !c.is_alphabetic()) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(word.to_lowercase())
}

fn classify_token(lower: &str, first: char) -> Class {
    if first.is_ascii_digit() {
        let digits = lower.trim_end_matches(|c: char| !c.is_ascii_digit());
        let Ok(value) = digits.parse::<u32>() else {
            return Class::Other;
        };
        let plain = digits.len() == lower.len();
        return if plain {
            Class::Digits(value, digits.len())
        } else {
            Class::Ordinal(value)
        };
    }
    if is_letter(first) || is_quote(first) {
        return class_of_word(lower);
    }
    Class::Mark(first)
}
