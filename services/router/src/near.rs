//! The word pieces that are nearest to one, remembered between questions.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use domain::port::Sparse;
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
struct Neighbour {
    piece: u32,
    likeness: f32,
}

/// Returns pieces with the nearest to each, by the greatest likeness to any of them; that of a piece to itself is 1.
pub(crate) fn with_neighbours(pieces: impl Iterator<Item = u32>) -> Sparse {
    let mut terms: BTreeMap<u32, f32> = BTreeMap::new();
    for own in pieces {
        let mut raise = |piece: u32, likeness: f32| {
            let weight = terms.entry(piece).or_default();
            *weight = likeness.max(*weight);
        };
        neighbours(own).iter().for_each(|it| raise(it.piece, it.likeness));
        raise(own, 1.0);
    }
    terms.into_iter().collect()
}

/// Returns the pieces nearest to one, itself among them; best first, ties by number. What is remembered changes how long it
/// takes, never the result.
fn neighbours(piece: u32) -> Arc<[Neighbour]> {
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
