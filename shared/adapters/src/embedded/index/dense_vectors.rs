//! Scalar quantization: vectors as bytes for a fast scan, and as f32 for exact scores.
//!
//! The scan compares codes of one byte per number. The error of each score has an upper bound that follows from the
//! vectors. All candidates that could be among the best within that bound are scored again with f32, so the result is
//! exact.

use std::io::{self, Write};

use text::dot_product;

use super::best_slots::{ScoredSlot, SlotsWithinMargin};
use super::image::{Image, Section};

/// Number of sums that are computed in parallel.
const LANES: usize = 16;
/// Margin for the rounding errors of the f32 sums.
const ROUNDING: f32 = 1e-5;

/// The dense vectors of a block, by slot.
pub(super) struct Dense {
    dimension: usize,
    /// The vectors of the first slots, in an image.
    mapped: Option<MappedVectors>,
    exact: Vec<f32>,
    /// The codes are signed; they are stored as bytes, as in an image.
    codes: Vec<u8>,
    /// For each slot, the factor between codes and numbers of the vector.
    steps: Vec<f32>,
    /// Greatest distance between a vector and its decoded codes.
    blur: f32,
    /// Greatest length of a vector, computed from its codes.
    length: f32,
}

/// Vectors in an image: the same columns as in [`Dense`].
struct MappedVectors {
    exact: Section,
    codes: Section,
    steps: Section,
}

impl Dense {
    pub(super) fn new(dimension: usize) -> Dense {
        Dense {
            dimension,
            mapped: None,
            exact: Vec::new(),
            codes: Vec::new(),
            steps: Vec::new(),
            blur: 0.0,
            length: 0.0,
        }
    }

    /// Uses the vectors of an image in place.
    pub(super) fn from_image(image: &Image) -> Dense {
        Dense {
            mapped: Some(MappedVectors {
                exact: image.exact.clone(),
                codes: image.codes.clone(),
                steps: image.steps.clone(),
            }),
            blur: image.head.blur,
            length: image.head.length,
            ..Dense::new(image.head.dimension)
        }
    }

    /// Returns the number of numbers in a vector.
    pub(super) fn dimension(&self) -> usize {
        self.dimension
    }

    /// Returns the greatest distance between a vector and its decoded codes, and the greatest length of a vector.
    pub(super) fn bounds(&self) -> (f32, f32) {
        (self.blur, self.length)
    }

    /// Returns the approximate number of bytes that the vectors use outside of an image.
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
            self.codes.push(code.cast_unsigned());
        }
        self.blur = self.blur.max(blur.sqrt());
        self.length = self.length.max(length.sqrt());
        self.exact.extend_from_slice(vector);
        self.steps.push(step);
    }

    /// Returns accepted slots with exact scores: the best `limit` slots, and others whose approximate scores are too
    /// close to exclude them. A query of zeros finds nothing.
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
        let score = |vector: &[u8], unit: f32| integer_dot(vector, &codes) as f32 * unit * step;
        let mut best = SlotsWithinMargin::new(limit, 2.0 * bound);
        let mut push = |slot: u32, vector: &[u8], unit: f32| {
            if accepts(slot as usize) {
                best.push((slot, score(vector, unit)));
            }
        };
        let mapped = self.mapped_count();
        if let Some(it) = &self.mapped {
            let vectors = it.codes.bytes().chunks_exact(self.dimension).zip(it.steps.items());
            vectors
                .zip(0..)
                .for_each(|((vector, unit), slot)| push(slot, vector, f32::from_le_bytes(*unit)));
        }
        let vectors = self.codes.chunks_exact(self.dimension).zip(&self.steps);
        vectors
            .zip(mapped as u32..)
            .for_each(|((vector, unit), slot)| push(slot, vector, *unit));
        let (mut scored, mut decoded) = (best.into_slots(), Vec::with_capacity(self.dimension));
        for (slot, score) in &mut scored {
            *score = dot_product(self.exact_vector(*slot as usize, &mut decoded), query);
        }
        scored
    }

    /// Writes the vectors of some slots in the format of an image.
    pub(super) fn write_image(&self, slots: &[u32], out: &mut dyn Write) -> io::Result<()> {
        let dimension = self.dimension;
        let (mut decoded, mut bytes) = (Vec::with_capacity(dimension), Vec::with_capacity(4 * dimension));
        for slot in slots {
            bytes.clear();
            let vector = self.exact_vector(*slot as usize, &mut decoded);
            bytes.extend(vector.iter().flat_map(|it| it.to_le_bytes()));
            out.write_all(&bytes)?;
        }
        for slot in slots {
            let (at, mapped) = self.place_of(*slot as usize);
            let codes = mapped.map_or(self.codes.as_slice(), |it| it.codes.bytes());
            out.write_all(&codes[at * dimension..(at + 1) * dimension])?;
        }
        for slot in slots {
            let step = match self.place_of(*slot as usize) {
                (at, Some(it)) => it.steps.items()[at],
                (at, None) => self.steps[at].to_le_bytes(),
            };
            out.write_all(&step)?;
        }
        Ok(())
    }

    /// Copies the vectors of the image into memory and releases the image.
    pub(super) fn copy_from_image(&mut self) {
        let Some(mapped) = self.mapped.take() else { return };
        let numbers = |it: &Section, own: &[f32]| {
            let former = it.items().iter().map(|it| f32::from_le_bytes(*it));
            former.chain(own.iter().copied()).collect()
        };
        self.exact = numbers(&mapped.exact, &self.exact);
        self.codes = [mapped.codes.bytes(), &self.codes].concat();
        self.steps = numbers(&mapped.steps, &self.steps);
    }

    /// Returns the number of slots whose vectors lie in an image.
    fn mapped_count(&self) -> usize {
        self.mapped.as_ref().map_or(0, |it| it.steps.items::<4>().len())
    }

    /// Returns the index of the vector of a slot: in the image if the image is returned too, otherwise in memory.
    fn place_of(&self, slot: usize) -> (usize, Option<&MappedVectors>) {
        let mapped = self.mapped_count();
        match slot.checked_sub(mapped) {
            Some(at) => (at, None),
            None => (slot, self.mapped.as_ref()),
        }
    }

    /// Returns the vector of a slot; `decoded` holds it if it lies in an image.
    fn exact_vector<'a>(&'a self, slot: usize, decoded: &'a mut Vec<f32>) -> &'a [f32] {
        let (at, mapped) = self.place_of(slot);
        let range = at * self.dimension..(at + 1) * self.dimension;
        let Some(mapped) = mapped else {
            return &self.exact[range];
        };
        decoded.clear();
        decoded.extend(mapped.exact.items()[range].iter().map(|it| f32::from_le_bytes(*it)));
        decoded
    }

    /// Moves vectors to new slots and removes those without a new slot. Nothing may lie in an image.
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

/// Returns the dot product. A compiler that sees sixteen separate sums reads sixteen codes at once; with one sum it
/// reads four.
fn integer_dot(vector: &[u8], query: &[i16]) -> i32 {
    let product = |a: &u8, b: &i16| i32::from(a.cast_signed()) * i32::from(*b);
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
