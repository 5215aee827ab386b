//! Likeness of words: the same stem, or near in the built-in table.

use std::collections::HashMap;

use text::gloss::{Content, Piece, content};
use text::{Table, dot, stem};

/// Cosines to the power 1.5 below this say nothing.
const FLOOR: f32 = 0.25;
/// A word near in meaning is never as good as the word itself.
const NEAR: f32 = 0.9;

/// Vectors of the words seen during one request.
#[derive(Default)]
pub(crate) struct Lexicon {
    vectors: HashMap<String, Vec<f32>>,
    stems: HashMap<String, String>,
    /// Likeness by the first word, then the second.
    known: HashMap<String, HashMap<String, f32>>,
}

/// A word of a text with what is needed to compare it.
#[derive(Clone, Debug)]
pub(crate) struct Term {
    /// As `text` stems it.
    pub(crate) stem: String,
    /// Bytes in the sentence.
    pub(crate) start: usize,
}

impl Lexicon {
    /// Returns the content words of a sentence, function words left out, and of other languages in English as far as it is known.
    pub(crate) fn terms(sentence: &str, pieces: Option<&[Piece]>) -> Vec<Term> {
        let base = sentence.as_ptr() as usize;
        let start = |word: &str| word.as_ptr() as usize - base;
        let term = |written: &str, word: &str| Term {
            stem: stem(word),
            start: start(written),
        };
        if let Some(pieces) = pieces {
            let term = |it: &Content<'_>| term(it.written, it.english.as_deref().unwrap_or(it.written));
            return content(sentence, pieces).iter().map(term).collect();
        }
        let words = text::words(sentence).into_iter().filter(|it| !text::is_stop(it));
        words.map(|it| term(it, it)).collect()
    }

    /// Returns the stem of a lower-case word.
    pub(crate) fn stem(&mut self, word: &str) -> String {
        if let Some(known) = self.stems.get(word) {
            return known.clone();
        }
        let stem = stem(word);
        self.stems.insert(word.to_owned(), stem.clone());
        stem
    }

    /// Returns the vector of a text.
    pub(crate) fn sentence(&self, text: &str) -> Vec<f32> {
        Table::builtin().embed(text)
    }

    /// Says how near two stems are, 0 to 1; 1 only for equal ones.
    pub(crate) fn near(&mut self, a: &str, b: &str) -> f32 {
        if a == b {
            return 1.0;
        }
        if let Some(known) = self.known.get(a).and_then(|it| it.get(b)) {
            return *known;
        }
        for stem in [a, b] {
            if !self.vectors.contains_key(stem) {
                self.vectors.insert(stem.to_owned(), Table::builtin().embed(stem));
            }
        }
        let (Some(left), Some(right)) = (self.vectors.get(a), self.vectors.get(b)) else {
            return 0.0;
        };
        let cos = dot(left, right).max(0.0);
        let near = cos * cos.sqrt();
        let near = if near < FLOOR { 0.0 } else { NEAR * near.min(1.0) };
        self.known.entry(a.to_owned()).or_default().insert(b.to_owned(), near);
        near
    }
}
