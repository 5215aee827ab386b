//! Likeness of word pieces, remembered between questions.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use text::Table;

/// Rows kept; each takes about 110 kB.
const KEPT: usize = 256;

#[cfg(test)]
thread_local! {
    /// Rows asked for by a test.
    pub(crate) static ASKED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

static ROWS: LazyLock<Mutex<Near>> = LazyLock::new(Mutex::default);

/// The likeness of some word pieces to all others. What it holds changes how long a question takes, never its result.
#[derive(Default)]
pub(crate) struct Near {
    rows: HashMap<u32, (u64, Arc<[f32]>)>,
    clock: u64,
}

impl Near {
    /// Returns `max(0, cosine)^1.5` of a row of the built-in table to every row.
    pub(crate) fn row(piece: u32) -> Arc<[f32]> {
        #[cfg(test)]
        ASKED.set(ASKED.get() + 1);
        if let Some(row) = ROWS.lock().unwrap_or_else(PoisonError::into_inner).touched(piece) {
            return row;
        }
        let row: Arc<[f32]> = Table::builtin().sims(piece).into();
        ROWS.lock().unwrap_or_else(PoisonError::into_inner).keep(piece, &row);
        row
    }

    fn touched(&mut self, piece: u32) -> Option<Arc<[f32]>> {
        self.clock += 1;
        let (used, row) = self.rows.get_mut(&piece)?;
        *used = self.clock;
        Some(Arc::clone(row))
    }

    fn keep(&mut self, piece: u32, row: &Arc<[f32]>) {
        if self.rows.len() >= KEPT
            && let Some(oldest) = self.rows.iter().min_by_key(|it| it.1.0).map(|it| *it.0)
        {
            self.rows.remove(&oldest);
        }
        self.rows.insert(piece, (self.clock, Arc::clone(row)));
    }
}
