//! Late interaction: similarity of the word pieces of texts to the word pieces of a question.

use std::sync::{Mutex, MutexGuard, PoisonError};

use text::{Compared, EmbeddingTable};

use crate::route::query_word::Word;
use crate::space::view::View;

/// Columns are padded to a multiple of this, so that they can be compared with SIMD instructions.
const LANES: usize = 8;

/// Similarity of the word pieces of texts to the word pieces of a question, 0 to 1. It is computed when a piece first
/// occurs, since a question meets only a part of the built-in table. The values computed so far affect how long a
/// question takes, never its result.
#[derive(Default)]
pub struct Likeness {
    /// Word pieces of the question, in the order of its words.
    question_pieces: Compared,
    rows: Mutex<Rows>,
}

/// One row for each piece that occurred so far.
#[derive(Default)]
struct Rows {
    /// Number of word pieces of the question, padded to a multiple of [`LANES`].
    columns: usize,
    /// The number of the row of each piece of the table, counted from 1; 0 if the piece has no row yet.
    row_of: Vec<u32>,
    /// The rows, one after the other.
    values: Vec<f32>,
    summaries: Vec<Summary>,
}

/// Further values of a piece.
#[derive(Clone, Copy)]
struct Summary {
    /// The greatest value of the row of the piece.
    greatest: f32,
    /// The rarity of the piece in the space; NaN until it is first needed.
    rarity: f32,
}

impl Likeness {
    /// Returns the similarities to the pieces of some words, in the order of the words.
    pub(crate) fn from_words(words: &[Word]) -> Likeness {
        let question_pieces: Vec<u32> = words.iter().flat_map(|it| it.pieces.iter().copied()).collect();
        let rows = Rows {
            columns: question_pieces.len().next_multiple_of(LANES),
            row_of: vec![
                0;
                if question_pieces.is_empty() {
                    0
                } else {
                    EmbeddingTable::builtin().len()
                }
            ],
            ..Rows::default()
        };
        Likeness {
            question_pieces: EmbeddingTable::builtin().rows_to_compare(&question_pieces),
            rows: Mutex::new(rows),
        }
    }

    /// Returns true if no word of the question has a piece.
    pub(crate) fn is_empty(&self) -> bool {
        self.question_pieces.is_empty()
    }

    /// Locks the rows and returns a reader, to look up many pieces.
    pub(crate) fn lock_reader(&self) -> Reader<'_> {
        Reader {
            question_pieces: &self.question_pieces,
            rows: self.rows.lock().unwrap_or_else(PoisonError::into_inner),
        }
    }
}

/// Looks up how similar pieces of texts are to a question.
pub(crate) struct Reader<'a> {
    question_pieces: &'a Compared,
    rows: MutexGuard<'a, Rows>,
}

/// Sums of the rarity of the pieces of a text.
#[derive(Clone, Copy, Default)]
pub(crate) struct Coverage {
    /// The sum in which each piece counts by its similarity to the question.
    pub(crate) alike: f32,
    /// The sum over all pieces.
    pub(crate) all: f32,
}

impl Reader<'_> {
    /// Writes to `nearest` the greatest similarity of any of `pieces` to each piece of the question, in the order of
    /// its words.
    pub(crate) fn fill_greatest_similarities(&mut self, pieces: &[u32], nearest: &mut Vec<f32>) {
        let rows = &mut *self.rows;
        nearest.clear();
        nearest.resize(rows.columns, 0.0);
        if self.question_pieces.is_empty() {
            return;
        }
        let (nearest, _) = nearest.as_chunks_mut::<LANES>();
        for &piece in pieces {
            let start = rows.find_or_compute_row(self.question_pieces, piece) * rows.columns;
            let (row, _) = rows.values[start..start + rows.columns].as_chunks::<LANES>();
            for (most, own) in nearest.iter_mut().zip(row) {
                for lane in 0..LANES {
                    // The values are never NaN, so this is the maximum.
                    most[lane] = if own[lane] > most[lane] { own[lane] } else { most[lane] };
                }
            }
        }
    }

    /// Returns the cover of some pieces by the question, weighted by their rarity in the space.
    pub(crate) fn measure_coverage(&mut self, view: &View, pieces: &[u32]) -> Coverage {
        let mut coverage = Coverage::default();
        if self.question_pieces.is_empty() {
            return coverage;
        }
        let rows = &mut *self.rows;
        for &piece in pieces {
            let row = rows.find_or_compute_row(self.question_pieces, piece);
            let summary = &mut rows.summaries[row];
            if summary.rarity.is_nan() {
                summary.rarity = view.idf(view.piece_parts(piece));
            }
            coverage.alike += summary.rarity * summary.greatest;
            coverage.all += summary.rarity;
        }
        coverage
    }
}

impl Rows {
    /// Returns the number of the row of a piece, and computes the row if it does not exist.
    fn find_or_compute_row(&mut self, question_pieces: &Compared, piece: u32) -> usize {
        let place = &mut self.row_of[piece as usize];
        if *place == 0 {
            let start = self.values.len();
            self.values
                .extend(EmbeddingTable::builtin().similarities_to(question_pieces, piece));
            self.summaries.push(Summary {
                greatest: self.values[start..].iter().copied().fold(0.0, f32::max),
                rarity: f32::NAN,
            });
            self.values.resize(start + self.columns, 0.0);
            *place = self.summaries.len() as u32;
        }
        *place as usize - 1
    }
}

/// Returns for each word of a question the mean of the values that its pieces have in `nearest`; 0 for a word without
/// pieces.
pub(crate) fn by_word<'a>(words: &'a [Word], nearest: &'a [f32]) -> impl Iterator<Item = (&'a Word, f32)> {
    let mut at = 0;
    words.iter().map(move |word| {
        let own = &nearest[at..at + word.pieces.len()];
        at += own.len();
        (word, own.iter().sum::<f32>() / own.len().max(1) as f32)
    })
}
