use std::borrow::Cow;
use std::ops::Range;

/// A section of a turn that is compared as one piece.
#[derive(Clone, Debug)]
pub struct Part<'a> {
    /// Numbers of the sentences in the section.
    pub sentences: Range<usize>,
    /// Stems in order, including repeated ones.
    pub words: &'a [u32],
    /// The word pieces of one sentence after the other; sorted and without duplicates in each sentence.
    pub pieces: &'a [u32],
    /// Vector from the built-in table, in steps of 1/127.
    pub vector: &'a [i8],
}

impl<'a> Part<'a> {
    /// Returns the stems, sorted and without duplicates.
    pub fn distinct_words(&self) -> Vec<u32> {
        sort_and_dedup(self.words.to_vec())
    }

    /// Returns the word pieces, sorted and without duplicates.
    pub fn distinct_pieces(&self) -> Cow<'a, [u32]> {
        match self.sentences.len() {
            1 => Cow::Borrowed(self.pieces),
            _ => Cow::Owned(sort_and_dedup(self.pieces.to_vec())),
        }
    }
}

/// One sentence of a turn.
#[derive(Clone, Debug)]
pub struct Sentence<'a> {
    /// Range of the sentence in the displayed text, in bytes.
    pub range: Range<usize>,
    /// Stems in order.
    pub words: &'a [u32],
    /// Word pieces, sorted and without duplicates.
    pub pieces: &'a [u32],
    /// True if the sentence ends with a question mark.
    pub question: bool,
    /// True if the sentence is the caption.
    pub caption: bool,
    /// Degree to which the sentence states a standing wish, 0 to 1 (`text::question::wishes`).
    pub standing: f32,
    /// True if the sentence is a greeting, a comment, or has no content.
    pub filler: bool,
    /// Degrees to which the section is about speaker and addressee. The first pair applies if the turn does not follow
    /// a question, the second if it does.
    pub owners: [(f32, f32); 2],
    /// o200k tokens after a label or another sentence.
    pub tokens: u32,
    /// One bit for each pattern that occurs.
    pub patterns: u32,
    /// Vector from the built-in table, in steps of 1/127.
    pub vector: &'a [i8],
}

/// Returns terms sorted and without duplicates.
pub(super) fn sort_and_dedup(mut terms: Vec<u32>) -> Vec<u32> {
    terms.sort_unstable();
    terms.dedup();
    terms
}
