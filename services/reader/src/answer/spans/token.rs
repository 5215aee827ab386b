//! The words of a sentence with the properties that candidates need.

use std::ops::Range;

use text::gloss::Piece;
use text::{ends_clause, is_stop, split_words};

use crate::evidence::amount;
use crate::evidence::line::Sentence;
use crate::evidence::word_classes::{Class, classify_word, is_time_unit};
use crate::word_lists::{CHANGES, QUESTION_WORDS};

/// A word of a sentence and its place.
pub(super) struct Token {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) lower: String,
    pub(super) class: Class,
    /// Whether a mark that ends a clause precedes it.
    pub(super) breaks: bool,
    /// Whether a comma precedes it.
    pub(super) comma: bool,
    /// Whether it names a time or is part of a named time.
    pub(super) time: bool,
}

/// Maximum number of words of a sentence that are searched.
const WORDS_MAX: usize = 80;

/// Returns the byte range of a change between two figures: "from 90 to" of "cut from 90 to 14 days". Returns `None` if
/// the sentence has no such change.
pub(super) fn value_before(tokens: &[Token]) -> Option<Range<usize>> {
    let verb = |it: &Token| CHANGES.contains(text::stem_word(&it.lower).as_str());
    let from = tokens.iter().position(|it| it.lower == "from")?;
    let to = from + 1 + tokens[from + 1..].iter().take(5).position(|it| it.lower == "to")?;
    let joined = !tokens[from + 1..=to].iter().any(|it| it.breaks || it.comma);
    let figures = [from + 1, to + 1].map(|it| tokens.get(it).is_some_and(|it| it.class == Class::Number));
    (joined && figures == [true, true] && tokens[..from].iter().any(verb)).then(|| tokens[from].start..tokens[to].end)
}

/// Returns the words of a sentence. `times` are the byte ranges that name a time.
pub(super) fn read_tokens(sentence: &Sentence, times: &[Range<usize>]) -> Vec<Token> {
    let text = &sentence.text;
    let base = text.as_ptr() as usize;
    let mut last = 0;
    let mut out: Vec<Token> = Vec::new();
    let plain = |word: &str| Piece {
        range: word.as_ptr() as usize - base..word.as_ptr() as usize - base + word.len(),
        english: None,
    };
    let pieces = || split_words(text).into_iter().map(plain).collect();
    let pieces = sentence.pieces.clone().unwrap_or_else(pieces);
    for piece in join_pieces(text, pieces.into_iter().take(WORDS_MAX), times) {
        let Range { start, end } = piece.range;
        let gap = &text[last..start];
        let english = piece.english.as_deref().map(deciding_word);
        let word = english.unwrap_or(&text[start..end]);
        let lower = word.to_lowercase().replace('’', "'");
        out.push(Token {
            start,
            end,
            class: if is_coded(word) {
                Class::Content
            } else {
                classify_word(&lower)
            },
            time: is_time_unit(&lower) || times.iter().any(|it| it.contains(&start)),
            lower,
            breaks: ends_clause(&text[..last], gap)
                || gap.contains(['(', ')', '"', '“', '”', '—', '–'])
                || gap.contains(" - ")
                // A caption may hold several sentences.
                || sentence.caption && gap.contains(". "),
            comma: gap.contains([',', '，', '、']),
        });
        last = end;
    }
    out
}

/// Returns the pieces, with the words of one address or code joined: "ana.k@post.example", "DS-17", "v2.14.1", "B-XY
/// 1234".
fn join_pieces(text: &str, pieces: impl Iterator<Item = Piece>, times: &[Range<usize>]) -> Vec<Piece> {
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
                " " => continues_code(left, right, written(piece.range.end..next)),
                _ => {
                    is_joined_by_mark(left, gap, right)
                        || !gap.contains(char::is_whitespace) && is_address(text, piece.range.start)
                }
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

/// Returns true if the text around `at`, up to the next spaces, is a web or mail address.
fn is_address(text: &str, at: usize) -> bool {
    let start = text[..at].rfind(char::is_whitespace).map_or(0, |it| it + 1);
    let end = text[at..].find(char::is_whitespace).map_or(text.len(), |it| at + it);
    let run = text.get(start..end).unwrap_or_default();
    run.contains("://") || run.starts_with("www.") || run.trim_matches('@').contains('@')
}

/// Returns true if a mark without spaces around it joins a code, a version or the name of a site.
fn is_joined_by_mark(left: &str, gap: &str, right: &str) -> bool {
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

/// Returns true if `right` continues the code `left` after a space: "DE89 3704 0044", "LH 1234". In "NYC 3 friends" it
/// does not, since the noun after the figure (`behind`) is what the figure counts.
fn continues_code(left: &str, right: &str, behind: &str) -> bool {
    let code = is_code(left) || left.contains('-');
    let capitals = is_group(left) && left.contains(char::is_uppercase);
    let short = (2..=4).contains(&left.len()) && !amount::is_currency_code(&left.to_lowercase());
    let figures = is_group(right) && (is_code(left) || right.contains(|it: char| it.is_ascii_digit()));
    let noun = behind.strip_prefix(' ').is_some_and(|it| !is_group(it) && !is_stop(it));
    capitals && figures && (code || short && !noun)
}

/// Returns true if a word consists of capitals and figures.
fn is_group(word: &str) -> bool {
    let sign = |it: char| it.is_uppercase() || it.is_ascii_digit() || matches!(it, '-' | ' ');
    !word.is_empty() && word.chars().all(sign)
}

/// Returns true if a figure follows a letter in a word.
fn is_code(word: &str) -> bool {
    let mut signs = word.chars().skip_while(|it| !it.is_alphabetic());
    signs.any(|it| it.is_ascii_digit())
}

/// Returns true if a word is no word of a language, but a code, an address or a mix of letters and figures.
fn is_coded(word: &str) -> bool {
    let turns = word.chars().zip(word.chars().skip(1));
    let turns = turns.filter(|(a, b)| a.is_alphabetic() && b.is_ascii_digit()).count();
    let mixed = word.starts_with(|it: char| it.is_ascii_digit()) && turns > 1;
    is_group(word) && is_code(word) || mixed || word.contains(['@', '/'])
}

/// Returns the word of an English phrase that decides which words may follow: "called" of "is called", "to" of "to
/// the".
fn deciding_word(phrase: &str) -> &str {
    match phrase.split_once(' ') {
        Some((first, "the")) => first,
        _ => phrase.rsplit(' ').next().unwrap_or(phrase),
    }
}

/// Returns true if a sentence is an open question, which cannot contain its own answer: "How old is your kitten, by the
/// way?"
pub(super) fn asks_openly(sentence: &Sentence) -> bool {
    let first = || text::split_words(&sentence.text).first().map(|it| it.to_lowercase());
    sentence.question && first().is_some_and(|it| QUESTION_WORDS.contains(it.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_or_code_is_one_word() {
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
            let pieces = split_words(text).into_iter().map(|it| {
                let start = it.as_ptr() as usize - base;
                Piece {
                    range: start..start + it.len(),
                    english: None,
                }
            });
            let all = join_pieces(text, pieces, &[]);
            let shown: Vec<&str> = all.iter().map(|it| &text[it.range.clone()]).collect();
            assert_eq!(shown.join("|"), expected);
        }
    }
}
