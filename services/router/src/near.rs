//! The word pieces that are nearest to one, remembered between questions.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use text::Table;

/// Pieces whose neighbours are kept; each takes about 100 bytes.
const KEPT: usize = 8_192;
/// Neighbours are at least this alike, and at most this many.
const LIKE: f32 = 0.4;
const NEIGHBOURS: usize = 6;

#[cfg(test)]
thread_local! {
    /// Pieces whose neighbours a test asked for.
    pub(crate) static ASKED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

static KNOWN: LazyLock<Mutex<HashMap<u32, Arc<[Neighbour]>>>> = LazyLock::new(Mutex::default);

/// A word piece with its likeness to another, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Neighbour {
    pub(crate) piece: u32,
    pub(crate) likeness: f32,
}

/// Returns the pieces nearest to one, itself among them; best first, ties by number. What is remembered changes how long it
/// takes, never the result.
pub(crate) fn neighbours(piece: u32) -> Arc<[Neighbour]> {
    #[cfg(test)]
    ASKED.set(ASKED.get() + 1);
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(neighbours) = known().get(&piece) {
        return Arc::clone(neighbours);
    }
    let all = (0..).zip(Table::builtin().sims(piece));
    let mut near: Vec<Neighbour> = all
        .filter(|it| it.1 >= LIKE)
        .map(|(piece, likeness)| Neighbour { piece, likeness })
        .collect();
    near.sort_by(|a, b| b.likeness.total_cmp(&a.likeness).then(a.piece.cmp(&b.piece)));
    near.truncate(NEIGHBOURS);
    let near: Arc<[Neighbour]> = near.into();
    let mut known = known();
    if known.len() >= KEPT {
        known.clear();
    }
    known.insert(piece, Arc::clone(&near));
    near
}
