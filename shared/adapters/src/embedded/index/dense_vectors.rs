//! Scalar quantization: vectors as bytes for a fast scan, and as f32 for exact scores.
//!
//! The scan compares codes of one byte per number. The error of each score has an upper bound that follows from the
//! vectors. All candidates that could be among the best within that bound are scored again with f32, so the result is
//! exact.

use text::dot_product;

use super::best_slots::{ScoredSlot, SlotsWithinMargin};

/// Number of sums that are computed in parallel.
const LANES: usize = 16;
/// Margin for the rounding errors of the f32 sums.
const ROUNDING: f32 = 1e-5;

/// The dense vectors of a block, by slot.
pub(super) struct Dense {
    dimension: usize,
    exact: Vec<f32>,
    codes: Vec<i8>,
    /// For each slot, the factor between codes and numbers of the vector.
    steps: Vec<f32>,
    /// Greatest distance between a vector and its decoded codes.
    blur: f32,
    /// Greatest length of a vector, computed from its codes.
    length: f32,
}

impl Dense {
    pub(super) fn new(dimension: usize) -> Dense {
        Dense {
            dimension,
            exact: Vec::new(),
            codes: Vec::new(),
            steps: Vec::new(),
            blur: 0.0,
            length: 0.0,
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.exact.capacity() * 4 + self.codes.capacity() + self.steps.capacity() * 4
    }

    pub(super) fn push(&mut self, vector: &[f32]) {
        let step = greatest_magnitude(vector) / f32::from(i8::MAX);
        let codes = vector
            .iter()
            .map(|it| if step > 0.0 { (it / step).round() as i8 } else { 0 });
        let (mut blur, mut length) = (0.0, 0.0);
        for (number, code) in vector.iter().zip(codes) {
            let coded = f32::from(code) * step;
            blur += (number - coded) * (number - coded);
            length += coded * coded;
            self.codes.push(code);
        }
        self.blur = self.blur.max(blur.sqrt());
        self.length = self.length.max(length.sqrt());
        self.exact.extend_from_slice(vector);
        self.steps.push(step);
    }

    /// Returns accepted slots with exact scores, including all of the best `limit`. A query of zeros finds nothing.
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
        let vectors = self.codes.chunks_exact(self.dimension).zip(&self.steps).zip(0_u32..);
        let accepted = vectors.filter(|(_, slot)| accepts(*slot as usize));
        let score = |vector: &[i8], unit: f32| integer_dot(vector, &codes) as f32 * unit * step;
        let mut best = SlotsWithinMargin::new(limit, 2.0 * bound);
        accepted.for_each(|((vector, unit), slot)| best.push((slot, score(vector, *unit))));
        let mut scored = best.into_slots();
        for (slot, score) in &mut scored {
            let start = *slot as usize * self.dimension;
            *score = dot_product(&self.exact[start..start + self.dimension], query);
        }
        scored
    }

    /// Moves vectors to new slots and removes those without a new slot.
    pub(super) fn move_slots(&mut self, moved: &[Option<u32>]) {
        let mut remaining = Dense::new(self.dimension);
        for (vector, new) in self.exact.chunks_exact(self.dimension.max(1)).zip(moved) {
            if new.is_some() {
                remaining.push(vector);
            }
        }
        *self = remaining;
    }

    pub(super) fn release_spare_memory(&mut self) {
        self.exact.shrink_to_fit();
        self.codes.shrink_to_fit();
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
