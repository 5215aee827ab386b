//! A search that looks at some of the vectors, where the server does too.
//!
//! Qdrant walks a graph (HNSW); this puts every vector into the list of its nearest centre, and reads the lists whose centres are
//! nearest to the query (an inverted file). So it misses neighbours in another way and by another share than the server does: it
//! shows that Mnemic copes with a search that misses some, not how many Qdrant misses.

use std::sync::Arc;

use uuid::Uuid;

use super::held::Held;
use super::vectors::dot;

/// KB of vectors that a filter accepts up to which the server looks at all of them: its default of `full_scan_threshold`.
const FULL_SCAN_KB: usize = 10_000;
/// Vectors a centre, and lists read for a query out of ten.
const VECTORS_A_CENTRE: usize = 200;
const TENTHS_READ: usize = 3;

/// Returns true if the server would not look at all of so many vectors.
pub(super) fn begins(vectors: usize, numbers: usize) -> bool {
    vectors * numbers * size_of::<f32>() > FULL_SCAN_KB * 1024
}

/// Vectors by their nearest centre.
pub(super) struct Lists(Vec<List>);

struct List {
    centre: Vec<f32>,
    /// Places of the vectors among the points.
    members: Vec<usize>,
}

impl Lists {
    /// Takes vectors at equal distances in the order of their ids as centres.
    pub(super) fn of(points: &[(Uuid, Arc<Held>)], using: usize) -> Lists {
        let vector = |place: usize| points[place].1.dense.get(&using);
        let centres = (0..points.len()).step_by(VECTORS_A_CENTRE).filter_map(vector);
        let mut lists: Vec<List> = centres
            .map(|it| List {
                centre: it.clone(),
                members: Vec::new(),
            })
            .collect();
        for place in 0..points.len() {
            let Some(vector) = vector(place) else { continue };
            let nearness = |it: &List| dot(&it.centre, vector);
            let nearest = lists.iter_mut().max_by(|a, b| nearness(a).total_cmp(&nearness(b)));
            if let Some(nearest) = nearest {
                nearest.members.push(place);
            }
        }
        Lists(lists)
    }

    /// Returns the places of the vectors in the lists that are nearest to a query.
    pub(super) fn near(&self, query: &[f32]) -> impl Iterator<Item = usize> {
        let mut near: Vec<&List> = self.0.iter().collect();
        near.sort_by(|a, b| dot(&b.centre, query).total_cmp(&dot(&a.centre, query)));
        near.truncate((self.0.len() * TENTHS_READ).div_ceil(10));
        near.into_iter().flat_map(|it| it.members.iter().copied())
    }
}
