//! Vectors as blobs, little-endian.

use domain::port::Sparse;

use super::failure::{Failure, Outcome};

/// Returns the bytes of a dense vector: four per number.
pub(crate) fn dense_blob(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|it| it.to_le_bytes()).collect()
}

/// Returns the dense vector stored in `bytes`.
///
/// # Errors
///
/// If the length is not a multiple of four.
pub(crate) fn dense_of(bytes: &[u8]) -> Outcome<Vec<f32>> {
    let (numbers, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(Failure::unreadable_body("a dense vector has a broken length"));
    }
    Ok(numbers.iter().map(|it| f32::from_le_bytes(*it)).collect())
}

/// Returns the bytes of a sparse vector: eight per entry, the term before the weight.
pub(crate) fn sparse_blob(vector: &[(u32, f32)]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(vector.len() * 8);
    for (term, weight) in vector {
        bytes.extend_from_slice(&term.to_le_bytes());
        bytes.extend_from_slice(&weight.to_le_bytes());
    }
    bytes
}

/// Returns the sparse vector stored in `bytes`.
///
/// # Errors
///
/// If the length is not a multiple of eight.
pub(crate) fn sparse_of(bytes: &[u8]) -> Outcome<Sparse> {
    let (entries, rest) = bytes.as_chunks::<8>();
    if !rest.is_empty() {
        return Err(Failure::unreadable_body("a sparse vector has a broken length"));
    }
    let entry =
        |[a, b, c, d, e, f, g, h]: [u8; 8]| (u32::from_le_bytes([a, b, c, d]), f32::from_le_bytes([e, f, g, h]));
    Ok(entries.iter().map(|it| entry(*it)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn float_bits(vector: &[f32]) -> Vec<u32> {
        vector.iter().map(|it| it.to_bits()).collect()
    }

    proptest! {
        #[test]
        fn dense_vectors_are_decoded_bit_for_bit(vector in proptest::collection::vec(any::<f32>(), 0..300)) {
            let blob = dense_blob(&vector);
            prop_assert_eq!(float_bits(&dense_of(&blob).unwrap()), float_bits(&vector));
            prop_assert!(dense_of(&[&blob[..], &[0]].concat()).is_err());
        }

        #[test]
        fn sparse_vectors_are_decoded_bit_for_bit(vector in proptest::collection::vec(any::<(u32, f32)>(), 0..300)) {
            let blob = sparse_blob(&vector);
            let back = sparse_of(&blob).unwrap();
            prop_assert_eq!(back.iter().map(|it| it.0).collect::<Vec<_>>(), vector.iter().map(|it| it.0).collect::<Vec<_>>());
            prop_assert_eq!(back.iter().map(|it| it.1.to_bits()).collect::<Vec<_>>(), vector.iter().map(|it| it.1.to_bits()).collect::<Vec<_>>());
            prop_assert!(sparse_of(&[&blob[..], &[0; 4]].concat()).is_err());
        }
    }
}
