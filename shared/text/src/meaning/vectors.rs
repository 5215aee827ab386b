//! Cosine similarity of normalised vectors, as their dot product.

/// Number of sums that are computed in parallel: as many as a processor can add without waiting.
const LANES: usize = 16;

/// Returns the dot product of two vectors of the same length; for normalised vectors this is the cosine. The order of
/// additions is fixed, so equal vectors give equal bits.
#[inline]
#[must_use]
pub fn dot_product(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; LANES];
    let ((ones, one), (others, other)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (x, y) in ones.iter().zip(others) {
        for lane in 0..LANES {
            lanes[lane] += x[lane] * y[lane];
        }
    }
    let rest: f32 = one.iter().zip(other).map(|(x, y)| x * y).sum();
    lanes.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use super::dot_product;

    #[test]
    fn each_position_counts_once() {
        for length in [0, 1, 15, 16, 17, 40] {
            let (a, b): (Vec<f32>, Vec<f32>) = (1..=length).map(|it| (it as f32, 2.0)).unzip();
            assert_eq!(dot_product(&a, &b), (length * (length + 1)) as f32);
        }
    }
}
