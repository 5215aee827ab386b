use text::dot_product;

use crate::embedded::store::{Failure, Outcome};

/// Greatest magnitude of a code: the greatest number whose high and low part fit into a byte each.
const CODE_MAX: f32 = 32_639.0;
/// Factor between the high and the low part of a code.
const HIGH: i32 = 256;

/// A dense vector whose numbers are codes of 16 bits times a common step. The error of a number is at most half a step,
/// which is 1/65,278 of the greatest magnitude in the vector. The high bytes alone are a coarser vector for fast scans.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct QuantizedVector {
    pub(super) step: f32,
    pub(super) high: Box<[i8]>,
    pub(super) low: Box<[i8]>,
}

impl QuantizedVector {
    /// Quantizes a vector. Numbers that are not finite become zeros.
    pub(super) fn from_numbers(numbers: &[f32]) -> QuantizedVector {
        let finite = numbers.iter().copied().filter(|it| it.is_finite());
        let step = finite.fold(0.0_f32, |most, it| most.max(it.abs())) / CODE_MAX;
        let code = |number: &f32| match number.is_finite() && step > 0.0 {
            true => (number / step).round().clamp(-CODE_MAX, CODE_MAX) as i32,
            false => 0,
        };
        let high = |code: i32| (code + HIGH / 2).div_euclid(HIGH);
        let codes: Vec<i32> = numbers.iter().map(code).collect();
        QuantizedVector {
            step,
            high: codes.iter().map(|it| high(*it) as i8).collect(),
            low: codes.iter().map(|it| (it - high(*it) * HIGH) as i8).collect(),
        }
    }

    /// Returns the vector as bytes: the step, the high parts, then the low parts.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let codes = self.high.iter().chain(&self.low).map(|it| it.cast_unsigned());
        self.step.to_le_bytes().into_iter().chain(codes).collect()
    }

    /// Returns the vector of a dimension that is stored in `bytes`. Earlier versions stored four bytes for each number.
    ///
    /// # Errors
    /// If the bytes are no vector of this dimension.
    pub(super) fn from_bytes(bytes: &[u8], dimension: usize) -> Outcome<QuantizedVector> {
        if let Some((step, codes)) = bytes.split_first_chunk::<4>()
            && codes.len() == 2 * dimension
        {
            let (high, low) = codes.split_at(dimension);
            let signed = |codes: &[u8]| codes.iter().map(|it| it.cast_signed()).collect();
            return Ok(QuantizedVector {
                step: f32::from_le_bytes(*step),
                high: signed(high),
                low: signed(low),
            });
        }
        match bytes.as_chunks::<4>() {
            (numbers, []) if numbers.len() == dimension => {
                let numbers: Vec<f32> = numbers.iter().map(|it| f32::from_le_bytes(*it)).collect();
                Ok(QuantizedVector::from_numbers(&numbers))
            }
            _ => Err(Failure::unreadable_body("a stored vector has another length")),
        }
    }
}

/// Returns the number between two values of the high part.
pub(super) fn high_step(step: f32) -> f32 {
    step * HIGH as f32
}

/// Returns the dot product of a quantized vector and a query. `numbers` is memory for the vector, which is overwritten.
pub(super) fn score(step: f32, high: &[i8], low: &[i8], query: &[f32], numbers: &mut Vec<f32>) -> f32 {
    let code = |(high, low): (&i8, &i8)| (i32::from(*high) * HIGH + i32::from(*low)) as f32;
    numbers.clear();
    numbers.extend(high.iter().zip(low).map(code));
    dot_product(numbers, query) * step
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn numbers_of(vector: &QuantizedVector) -> Vec<f32> {
        let code = |(high, low): (&i8, &i8)| (i32::from(*high) * HIGH + i32::from(*low)) as f32 * vector.step;
        vector.high.iter().zip(&vector.low).map(code).collect()
    }

    proptest! {
        #[test]
        fn numbers_are_off_by_half_a_step_at_most(numbers in prop::collection::vec(-1e3_f32..1e3, 0..300)) {
            let vector = QuantizedVector::from_numbers(&numbers);
            for (number, coded) in numbers.iter().zip(numbers_of(&vector)) {
                prop_assert!((number - coded).abs() <= vector.step * 0.51, "{} became {}", number, coded);
            }
        }

        #[test]
        fn bytes_give_the_same_vector(numbers in prop::collection::vec(any::<f32>(), 3..300)) {
            let (vector, dimension) = (QuantizedVector::from_numbers(&numbers), numbers.len());
            let bytes = vector.to_bytes();
            prop_assert_eq!(QuantizedVector::from_bytes(&bytes, dimension).unwrap(), vector.clone());
            for other in [&bytes[1..], &[&bytes[..], &[0]].concat()[..], &[]] {
                prop_assert!(QuantizedVector::from_bytes(other, dimension).is_err());
            }
            let of_an_earlier_version: Vec<u8> = numbers.iter().flat_map(|it| it.to_le_bytes()).collect();
            prop_assert_eq!(QuantizedVector::from_bytes(&of_an_earlier_version, dimension).unwrap(), vector);
        }
    }

    #[test]
    fn numbers_that_are_not_finite_become_zeros() {
        let vector = QuantizedVector::from_numbers(&[f32::NAN, 0.5, f32::INFINITY, -0.5, f32::NEG_INFINITY]);
        assert_eq!(vector.high[..], [0, 127, 0, -127, 0]);
        let zeros = QuantizedVector::from_numbers(&[0.0; 4]);
        assert_eq!(numbers_of(&zeros), [0.0; 4]);
    }
}
