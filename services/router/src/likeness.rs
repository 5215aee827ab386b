//! How near the word pieces of texts are to those of a question.

use std::sync::{Mutex, MutexGuard, PoisonError};

use text::Table;

use crate::query::Word;

/// Columns are filled up to a multiple of this, so that they are compared side by side.
const LANES: usize = 8;

/// Likeness of word pieces of texts to those of a question, 0 to 1. It is computed when a piece is first met: a question
/// meets a tenth of the built-in table. What is computed so far changes how long a question takes, never its result.
#[derive(Default)]
pub struct Likeness {
    /// Word pieces of the question, in the order of its words.
    asked: Vec<u32>,
    rows: Mutex<Rows>,
}

/// A row for each piece met so far.
#[derive(Default)]
pub(crate) struct Rows {
    /// Word pieces of the question, then padding up to a multiple of [`LANES`].
    columns: usize,
    /// Number of the row of each piece of the table, from 1; 0 if there is none yet.
    row_of: Vec<u32>,
    /// The rows, one after the other.
    values: Vec<f32>,
    /// The greatest value of each row.
    greatest: Vec<f32>,
}

impl Likeness {
    /// Returns the likeness to the pieces of some words, in their order.
    pub(crate) fn of(words: &[Word]) -> Likeness {
        let asked: Vec<u32> = words.iter().flat_map(|it| it.pieces.iter().copied()).collect();
        let rows = Rows {
            columns: asked.len().next_multiple_of(LANES),
            row_of: vec![0; if asked.is_empty() { 0 } else { Table::builtin().len() }],
            ..Rows::default()
        };
        Likeness {
            asked,
            rows: Mutex::new(rows),
        }
    }

    /// Returns true if no word of the question has a piece.
    pub(crate) fn is_empty(&self) -> bool {
        self.asked.is_empty()
    }

    /// Returns the rows, to look many pieces up.
    pub(crate) fn reader(&self) -> Reader<'_> {
        Reader {
            asked: &self.asked,
            rows: self.rows.lock().unwrap_or_else(PoisonError::into_inner),
        }
    }
}

/// Looks up how near pieces of texts are to a question.
pub(crate) struct Reader<'a> {
    asked: &'a [u32],
    rows: MutexGuard<'a, Rows>,
}

impl Reader<'_> {
    /// Writes to `nearest` the greatest likeness of any of `pieces` to each piece of the question, in the order of its words.
    pub(crate) fn nearest(&mut self, pieces: &[u32], nearest: &mut Vec<f32>) {
        nearest.clear();
        nearest.resize(self.rows.columns, 0.0);
        if self.asked.is_empty() {
            return;
        }
        let (nearest, _) = nearest.as_chunks_mut::<LANES>();
        for &piece in pieces {
            let start = self.row(piece) * self.rows.columns;
            let (row, _) = self.rows.values[start..start + self.rows.columns].as_chunks::<LANES>();
            for (most, own) in nearest.iter_mut().zip(row) {
                for lane in 0..LANES {
                    most[lane] = most[lane].max(own[lane]);
                }
            }
        }
    }

    /// Returns the greatest likeness of a piece to any piece of the question; 0 if it has none.
    pub(crate) fn greatest(&mut self, piece: u32) -> f32 {
        if self.asked.is_empty() {
            return 0.0;
        }
        let row = self.row(piece);
        self.rows.greatest[row]
    }

    fn row(&mut self, piece: u32) -> usize {
        let rows = &mut *self.rows;
        let place = &mut rows.row_of[piece as usize];
        if *place == 0 {
            let table = Table::builtin();
            let start = rows.values.len();
            rows.values
                .extend(self.asked.iter().map(|&it| table.likeness(it, piece)));
            rows.greatest
                .push(rows.values[start..].iter().copied().fold(0.0, f32::max));
            rows.values.resize(start + rows.columns, 0.0);
            *place = rows.greatest.len() as u32;
        }
        *place as usize - 1
    }
}

/// Returns for each word of a question the mean of what its pieces have in `nearest`; 0 for a word without pieces.
pub(crate) fn by_word<'a>(words: &'a [Word], nearest: &'a [f32]) -> impl Iterator<Item = (&'a Word, f32)> {
    let mut at = 0;
    words.iter().map(move |word| {
        let own = &nearest[at..at + word.pieces.len()];
        at += own.len();
        (word, own.iter().sum::<f32>() / own.len().max(1) as f32)
    })
}
