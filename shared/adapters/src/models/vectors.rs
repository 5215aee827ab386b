//! Texts that have a vector, and vectors of length 1.

use domain::port::Embedding;

/// Returns true if a text has a word. A text without words has no direction and is not sent to a model.
pub(crate) fn has_words(text: &str) -> bool {
    text.contains(char::is_alphanumeric)
}

/// Scales a vector to length 1.
pub(crate) fn normalise_vector(mut vector: Embedding) -> Embedding {
    let length = vector.iter().map(|it| it * it).sum::<f32>().sqrt();
    vector.iter_mut().for_each(|it| *it /= length.max(f32::MIN_POSITIVE));
    vector
}
