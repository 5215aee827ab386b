//! Similarity of words: the same stem, or a similar vector in the built-in table.

use std::sync::Arc;

use domain::question::Question;
use quick_cache::sync::Cache;
use rustc_hash::FxHashMap;
use text::gloss::{Content, Piece, content_words};
use text::{EmbeddingTable, dot_product, stem_word};

/// Minimum similarity that counts, as a cosine to the power 1.5; lower values count as 0.
const FLOOR: f32 = 0.25;
/// Highest similarity of two different stems.
const NEAR: f32 = 0.9;

/// Number of stems whose vectors are cached; each takes about 600 bytes.
const VECTORS_KEPT: usize = 8_192;

/// A cache of the vectors of stems; it keeps those that are used often. The cache changes the time that an answer
/// takes, never the answer.
#[derive(Debug)]
pub(crate) struct StemVectors {
    cache: Cache<String, Arc<[f32]>>,
}

impl Default for StemVectors {
    fn default() -> StemVectors {
        StemVectors {
            cache: Cache::new(VECTORS_KEPT),
        }
    }
}

impl StemVectors {
    /// Returns the vector of a stem by the built-in table.
    fn vector_of_stem(&self, stem: &str) -> Arc<[f32]> {
        self.cache.get(stem).unwrap_or_else(|| {
            let vector: Arc<[f32]> = vector_of(stem).into();
            self.cache.insert(stem.to_owned(), Arc::clone(&vector));
            vector
        })
    }

    /// Clears the cache.
    pub(crate) fn clear(&self) {
        self.cache.clear();
    }
}

/// The words of one question, and the similarity of each seen stem to them.
pub(crate) struct Lexicon {
    /// The words of the question in their order, then its head.
    question_words: Vec<AskedWord>,
    /// Similarity of a stem to each of `question_words`.
    near: FxHashMap<String, Box<[f32]>>,
    stems: FxHashMap<String, String>,
    vectors: Arc<StemVectors>,
}

/// A word of the question with its vector.
struct AskedWord {
    stem: String,
    vector: Vec<f32>,
}

/// A word of a text with the properties that a comparison needs.
#[derive(Clone, Debug)]
pub(crate) struct Term {
    /// Stem of the word, from the crate `text`.
    pub(crate) stem: String,
    /// Byte offset of the word in the sentence.
    pub(crate) start: usize,
}

impl Lexicon {
    /// Returns the lexicon of a question; `vectors` is the cache of the vectors of stems.
    pub(crate) fn from_question(question: &Question, vectors: &Arc<StemVectors>) -> Lexicon {
        let words = question.words.iter().map(|it| &it.stem);
        let question_words = words.chain([&question.head]).map(|stem| AskedWord {
            vector: vector_of(stem),
            stem: stem.clone(),
        });
        Lexicon {
            question_words: question_words.collect(),
            near: FxHashMap::default(),
            stems: FxHashMap::default(),
            vectors: Arc::clone(vectors),
        }
    }

    /// Returns the content words of a sentence, without function words. Words of other languages are in English as far
    /// as it is known.
    pub(crate) fn read_terms(sentence: &str, pieces: Option<&[Piece]>) -> Vec<Term> {
        let base = sentence.as_ptr() as usize;
        let start = |word: &str| word.as_ptr() as usize - base;
        let term = |written: &str, word: &str| Term {
            stem: stem_word(word),
            start: start(written),
        };
        if let Some(pieces) = pieces {
            let term = |it: &Content<'_>| term(it.written, it.english.as_deref().unwrap_or(it.written));
            return content_words(sentence, pieces).iter().map(term).collect();
        }
        let words = text::split_words(sentence).into_iter().filter(|it| !text::is_stop(it));
        words.map(|it| term(it, it)).collect()
    }

    /// Returns the stem of a lower-case word.
    pub(crate) fn stem_word(&mut self, word: &str) -> String {
        if let Some(known) = self.stems.get(word) {
            return known.clone();
        }
        let stem = stem_word(word);
        self.stems.insert(word.to_owned(), stem.clone());
        stem
    }

    /// Returns the similarity of a stem to each word of the question, in their order, 0 to 1; 1 only for equal stems.
    pub(crate) fn near_words(&mut self, stem: &str) -> &[f32] {
        let head = self.question_words.len() - 1;
        &self.near_asked(stem)[..head]
    }

    /// Returns the similarity of a stem to the head of the question, 0 to 1; 1 only for equal stems.
    pub(crate) fn near_head(&mut self, stem: &str) -> f32 {
        let head = self.question_words.len() - 1;
        self.near_asked(stem)[head]
    }

    fn near_asked(&mut self, stem: &str) -> &[f32] {
        if !self.near.contains_key(stem) {
            let vector = self.vectors.vector_of_stem(stem);
            let near = self.question_words.iter().map(|it| match it.stem == stem {
                true => 1.0,
                false => vector_similarity(&it.vector, &vector),
            });
            self.near.insert(stem.to_owned(), near.collect());
        }
        &self.near[stem]
    }
}

/// Returns the similarity of two stems, 0 to 1; 1 only for equal stems.
pub(crate) fn stem_similarity(a: &str, b: &str) -> f32 {
    match a == b {
        true => 1.0,
        false => vector_similarity(&vector_of(a), &vector_of(b)),
    }
}

/// Returns the vector of a text by the built-in table.
pub(crate) fn vector_of(text: &str) -> Vec<f32> {
    EmbeddingTable::builtin().embed_text(text)
}

fn vector_similarity(a: &[f32], b: &[f32]) -> f32 {
    let cos = dot_product(a, b).max(0.0);
    let near = cos * cos.sqrt();
    if near < FLOOR { 0.0 } else { NEAR * near.min(1.0) }
}
