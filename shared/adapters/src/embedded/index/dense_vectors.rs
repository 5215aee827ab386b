//! A scan of quantized vectors: the high bytes of all, then both bytes of the best.
//!
//! The scan compares one byte per number. The error of each score has an upper bound that follows from the vectors. All
//! candidates that could be among the best within that bound are scored again with both bytes, so the result is that of
//! a comparison of all complete vectors.

use text::dot_product;

use super::best_slots::{ScoredSlot, SlotsWithinMargin};
use super::quantized_vector::{QuantizedVector, high_step, score};

/// Number of sums that are computed in parallel.
const LANES: usize = 16;
/// Margin for the rounding errors of the f32 sums.
const ROUNDING: f32 = 1e-5;

/// The dense vectors of a block, by slot.
pub(super) struct Dense {
    dimension: usize,
    high: Vec<i8>,
    low: Vec<i8>,
    steps: Vec<f32>,
    /// Greatest distance between a vector and its high parts.
    blur: f32,
    /// Greatest length of a vector, computed from its high parts.
    length: f32,
}

impl Dense {
    pub(super) fn new(dimension: usize) -> Dense {
        Dense {
            dimension,
            high: Vec::new(),
            low: Vec::new(),
            steps: Vec::new(),
            blur: 0.0,
            length: 0.0,
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.high.capacity() + self.low.capacity() + self.steps.capacity() * 4
    }

    pub(super) fn push(&mut self, vector: &QuantizedVector) {
        self.push_parts(vector.step, &vector.high, &vector.low);
    }

    fn push_parts(&mut self, step: f32, high: &[i8], low: &[i8]) {
        self.blur = self.blur.max(step * length_of(low));
        self.length = self.length.max(high_step(step) * length_of(high));
        self.high.extend_from_slice(high);
        self.low.extend_from_slice(low);
        self.steps.push(step);
    }

    /// Returns accepted slots with their scores, including all of the best `limit`. A query of zeros finds nothing.
    pub(super) fn score_slots(&self, query: &[f32], accepts: impl Fn(usize) -> bool, limit: usize) -> Vec<ScoredSlot> {
        let length = dot_product(query, query).sqrt();
        if self.dimension == 0 || limit == 0 || length.is_nan() || length <= 0.0 {
            return Vec::new();
        }
        let (codes, step) = self.quantise_query(query);
        let off = query
            .iter()
            .zip(&codes)
            .map(|(number, code)| (number - f32::from(*code) * step).powi(2));
        let bound = self.blur * length + off.sum::<f32>().sqrt() * self.length + ROUNDING;
        let vectors = self.high.chunks_exact(self.dimension).zip(&self.steps).zip(0_u32..);
        let accepted = vectors.filter(|(_, slot)| accepts(*slot as usize));
        let coarse_score = |high: &[i8], unit: f32| integer_dot(high, &codes) as f32 * high_step(unit) * step;
        let mut best = SlotsWithinMargin::new(limit, 2.0 * bound);
        accepted.for_each(|((high, unit), slot)| best.push((slot, coarse_score(high, *unit))));
        let (mut scored, mut numbers) = (best.into_slots(), Vec::with_capacity(self.dimension));
        for (slot, of_slot) in &mut scored {
            let slot = *slot as usize;
            let place = slot * self.dimension..(slot + 1) * self.dimension;
            *of_slot = score(
                self.steps[slot],
                &self.high[place.clone()],
                &self.low[place],
                query,
                &mut numbers,
            );
        }
        scored
    }

    /// Moves vectors to new slots and removes those without a new slot.
    pub(super) fn move_slots(&mut self, moved: &[Option<u32>]) {
        let mut remaining = Dense::new(self.dimension);
        let size = self.dimension.max(1);
        let vectors = self.high.chunks_exact(size).zip(self.low.chunks_exact(size));
        for (((high, low), step), new) in vectors.zip(&self.steps).zip(moved) {
            if new.is_some() {
                remaining.push_parts(*step, high, low);
            }
        }
        *self = remaining;
    }

    pub(super) fn release_spare_memory(&mut self) {
        self.high.shrink_to_fit();
        self.low.shrink_to_fit();
        self.steps.shrink_to_fit();
    }

    /// Returns the codes of the query. They are finer than those of the vectors, but no sum of products can overflow.
    fn quantise_query(&self, query: &[f32]) -> (Vec<i16>, f32) {
        let most = i32::MAX / (i32::from(i8::MAX) * i32::try_from(self.dimension).unwrap_or(i32::MAX).max(1));
        let step = greatest_magnitude(query) / most.clamp(1, i32::from(i16::MAX)) as f32;
        (query.iter().map(|it| (it / step).round() as i16).collect(), step)
    }
}

fn greatest_magnitude(vector: &[f32]) -> f32 {
    vector.iter().fold(0.0, |most, it| most.max(it.abs()))
}

fn length_of(numbers: &[i8]) -> f32 {
    let squares: i32 = numbers.iter().map(|it| i32::from(*it) * i32::from(*it)).sum();
    (squares as f32).sqrt()
}

/// Returns the dot product. A compiler that sees sixteen separate sums reads sixteen codes at once; with one sum it reads
/// four.
fn integer_dot(vector: &[i8], query: &[i16]) -> i32 {
    let product = |a: &i8, b: &i16| i32::from(*a) * i32::from(*b);
    let ((chunks, rest), (others, other_rest)) = (vector.as_chunks::<LANES>(), query.as_chunks::<LANES>());
    let mut sums = [0_i32; LANES];
    for (codes, numbers) in chunks.iter().zip(others) {
        for lane in 0..LANES {
            sums[lane] += product(&codes[lane], &numbers[lane]);
        }
    }
    let rest: i32 = rest.iter().zip(other_rest).map(|(a, b)| product(a, b)).sum();
    sums.iter().sum::<i32>() + rest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_scan_finds_what_complete_vectors_give(
            vectors in prop::collection::vec(prop::collection::vec(-1.0_f32..1.0, 20), 1..60),
            query in prop::collection::vec(-1.0_f32..1.0, 20),
            limit in 1_usize..12,
            removed in 0_usize..9,
        ) {
            let mut dense = Dense::new(20);
            let vectors: Vec<QuantizedVector> = vectors.iter().map(|it| QuantizedVector::from_numbers(it)).collect();
            vectors.iter().for_each(|it| dense.push(it));
            let mut next = 0..;
            let moved: Vec<Option<u32>> =
                (0..vectors.len()).map(|it| if it % 9 == removed { None } else { next.next() }).collect();
            dense.move_slots(&moved);
            let remaining = vectors.iter().zip(&moved).filter(|it| it.1.is_some());
            let mut expected: Vec<f32> =
                remaining.map(|(it, _)| score(it.step, &it.high, &it.low, &query, &mut Vec::new())).collect();
            let mut found = dense.score_slots(&query, |_| true, limit);
            prop_assert!(found.iter().all(|(slot, score)| expected[*slot as usize].to_bits() == score.to_bits()));
            found.sort_by(|a, b| b.1.total_cmp(&a.1));
            found.truncate(limit);
            expected.sort_by(|a, b| b.total_cmp(a));
            expected.truncate(limit);
            prop_assert_eq!(found.iter().map(|it| it.1).collect::<Vec<_>>(), expected);
        }
    }
}
