//! The words of a sentence with what phrases need to know of them.

use std::ops::Range;

use text::words;

use super::super::lexis::{Class, class};
use super::super::time_words::of_time;
use crate::pool::Sentence;

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

/// Returns the words of a sentence; `times` are the bytes where it names a time.
pub(super) fn tokens(sentence: &Sentence, times: &[Range<usize>]) -> Vec<Token> {
    let text = &sentence.text;
    let base = text.as_ptr() as usize;
    let mut last = 0;
    let mut out = Vec::new();
    for (at, word) in words(text).into_iter().take(WORDS_MAX).enumerate() {
        let start = word.as_ptr() as usize - base;
        let gap = &text[last..start];
        let lower = word.to_lowercase().replace('’', "'");
        out.push(Token {
            start,
            end: start + word.len(),
            class: class(word, &lower, at == 0 && !sentence.caption),
            time: of_time(&lower) || times.iter().any(|it| it.contains(&start)),
            lower,
            breaks: gap.contains(['.', ';', ':', '!', '?', '(', ')', '"', '“', '”', '…', '—', '–'])
                || gap.contains(" - "),
            comma: gap.contains([',', '，', '、']),
        });
        last = start + word.len();
    }
    out
}
