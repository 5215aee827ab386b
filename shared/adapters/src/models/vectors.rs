//! Texts that have a vector, and vectors of length 1.

use domain::port::Embedding;

/// Returns true if a text has a word. A text without words has no direction and is not sent to a model.
pub(crate) fn has_words(text: &str) -> bool {
    text.contains(char::is_alphanumeric)
}

/// Scales a vector of finite numbers to length 1. A vector of zeros stays as it is.
pub(crate) fn normalise_vector(mut vector: Embedding) -> Embedding {
    // As f64, the square of an f32 neither overflows nor vanishes.
    let squares = vector.iter().map(|it| f64::from(*it).powi(2));
    let length = squares.sum::<f64>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|it| *it = (f64::from(*it) / length) as f32);
    }
    vector
}

#[cfg(test)]
mod tests {
    use std::f32::consts::FRAC_1_SQRT_2;

    use super::*;

    #[test]
    fn vectors_of_any_length_are_scaled_to_length_1() {
        for number in [3.0, f32::MAX, f32::MIN_POSITIVE, 1e-45] {
            let vector = normalise_vector(vec![number, 0.0, -number]);
            for (found, expected) in vector.iter().zip([FRAC_1_SQRT_2, 0.0, -FRAC_1_SQRT_2]) {
                assert!((found - expected).abs() < 1e-6, "{number}: {vector:?}");
            }
        }
        assert_eq!(normalise_vector(vec![0.0, 0.0]), [0.0, 0.0]);
    }
}
