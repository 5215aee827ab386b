//! A search that looks at only some of the vectors, in the cases in which the server does so too.
//!
//! Qdrant searches a graph (HNSW). This module puts every vector into the list of its nearest centre, and reads the
//! lists whose centres are nearest to the query (an inverted file). So it misses other neighbours, and another share
//! of them, than the server. It shows that Mnemic tolerates a search that misses neighbours. It does not show how many
//! Qdrant misses.

/// Size in KB of the vectors that a filter accepts, up to which the server looks at all of them: its default of
/// `full_scan_threshold`.
const FULL_SCAN_KB: usize = 10_000;
/// Number of vectors for each centre, and number of lists out of ten that a query reads.
const VECTORS_A_CENTRE: usize = 200;
const TENTHS_READ: usize = 3;

/// Returns true if the server would search this number of vectors approximately.
pub(super) fn begins(vectors: usize, numbers: usize) -> bool {
    vectors * numbers * size_of::<f32>() > FULL_SCAN_KB * 1024
}

/// Vectors grouped by their nearest centre.
pub(super) struct Lists(Vec<List>);

struct List {
    centre: Vec<f32>,
    /// Indices of the vectors among the points.
    members: Vec<usize>,
}

impl Lists {
    /// Returns the lists of points that are ordered by id; `vector` returns the vector of the point at an index. The
    /// centres are vectors at equal distances in this order.
    pub(super) fn of<'a>(points: usize, vector: impl Fn(usize) -> Option<&'a [f32]>) -> Lists {
        let centres = (0..points).step_by(VECTORS_A_CENTRE).filter_map(&vector);
        let mut lists: Vec<List> = centres
            .map(|it| List {
                centre: it.to_vec(),
                members: Vec::new(),
            })
            .collect();
        for place in 0..points {
            let Some(vector) = vector(place) else { continue };
            let nearness = |it: &List| dot_product(&it.centre, vector);
            let nearest = lists.iter_mut().max_by(|a, b| nearness(a).total_cmp(&nearness(b)));
            if let Some(nearest) = nearest {
                nearest.members.push(place);
            }
        }
        Lists(lists)
    }

    /// Returns the indices of the vectors in the lists that are nearest to a query.
    pub(super) fn near(&self, query: &[f32]) -> impl Iterator<Item = usize> {
        let mut near: Vec<&List> = self.0.iter().collect();
        near.sort_by(|a, b| dot_product(&b.centre, query).total_cmp(&dot_product(&a.centre, query)));
        near.truncate((self.0.len() * TENTHS_READ).div_ceil(10));
        near.into_iter().flat_map(|it| it.members.iter().copied())
    }
}

/// Returns the scalar product of two vectors.
pub(super) fn dot_product(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
