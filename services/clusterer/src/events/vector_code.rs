//! Compact codes of vectors. A code takes a quarter of the memory of its vector and tells whether the cosine to another
//! vector may exceed a limit.
//!
//! The code of a vector `y` is a step and a whole number from -127 to 127 for each component, so that `code = step *
//! numbers` is near `y`. With the exact vector `x` on the other side, the inequality of Cauchy and Schwarz gives
//!
//! `|x·y - x·code| = |x·(y - code)| <= |x| * |y - code|`.
//!
//! [`cosine`] adds `n` products in `f32`. Whatever the order of additions, its result differs from `x·y` by at most
//! `n * u / (1 - n * u) * sum |x_i * y_i|`, where `u = f32::EPSILON / 2` (Higham, Accuracy and Stability of Numerical
//! Algorithms, section 3.1). For fewer than a million components this is less than `0.6 * n * f32::EPSILON * |x| * |y|`.
//! So the bound of the error is
//!
//! `|cosine - x·code| <= |x| * error`, where `error = |y - code| + n * f32::EPSILON * |y|`.
//!
//! `error` is a property of the code and is stored with it. What the second term has more than needed covers the rounding
//! of the numbers here, which are computed in `f64`. The bound holds for vectors whose length is near 1: longer ones
//! could exceed the range of `f32`.

/// The code of one vector.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct VectorCode {
    numbers: Box<[i8]>,
    step: f32,
    /// Greatest difference between the cosine and its approximation, for another vector of length 1; greater than 0.
    error: f32,
}

/// A vector that is compared with codes.
pub(super) struct MeasuredVector<'a> {
    components: &'a [f32],
    length: f64,
}

impl<'a> MeasuredVector<'a> {
    pub(super) fn new(components: &'a [f32]) -> MeasuredVector<'a> {
        MeasuredVector {
            components,
            length: length_of(components.iter().map(|it| f64::from(*it))),
        }
    }
}

impl VectorCode {
    pub(super) fn new(vector: &[f32]) -> VectorCode {
        let greatest = vector.iter().fold(0.0_f32, |greatest, it| greatest.max(it.abs()));
        let step = greatest / f32::from(i8::MAX);
        // The conversion limits the numbers; a quotient that is not a number, as in a zero vector, becomes 0.
        let numbers: Box<[i8]> = vector.iter().map(|it| (it / step).round() as i8).collect();
        let pairs = vector.iter().zip(numbers.iter());
        let differences = pairs.map(|(it, number)| f64::from(*it) - f64::from(step) * f64::from(*number));
        let rounding = vector.len() as f64 * f64::from(f32::EPSILON);
        let error = length_of(differences) + rounding * MeasuredVector::new(vector).length;
        VectorCode {
            numbers,
            step,
            error: (error as f32).next_up(),
        }
    }

    /// Returns true if the [`cosine`] to a vector may exceed a limit, and false only if it surely does not.
    pub(super) fn may_exceed(&self, vector: &MeasuredVector<'_>, limit: f32) -> bool {
        if self.numbers.len() != vector.components.len() {
            return 0.0 > limit;
        }
        let greatest = self.approximate_cosine(vector) + self.error_bound(vector);
        // It is not a number if a component is not one, or is infinite.
        greatest.is_nan() || greatest > f64::from(limit)
    }

    fn approximate_cosine(&self, vector: &MeasuredVector<'_>) -> f64 {
        let pairs = self.numbers.iter().zip(vector.components);
        let products = pairs.map(|(number, it)| f64::from(*number) * f64::from(*it));
        f64::from(self.step) * products.sum::<f64>()
    }

    /// Returns the maximum difference between the [`cosine`] to a vector and its approximation.
    fn error_bound(&self, vector: &MeasuredVector<'_>) -> f64 {
        vector.length * f64::from(self.error)
    }
}

/// Returns the cosine of two vectors of length 1, at most 1, or 0 if their dimensions differ.
pub(super) fn cosine(one: &[f32], other: &[f32]) -> f32 {
    if one.len() != other.len() {
        return 0.0;
    }
    one.iter().zip(other).map(|(x, y)| x * y).sum::<f32>().min(1.0)
}

fn length_of(components: impl Iterator<Item = f64>) -> f64 {
    components.map(|it| it * it).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns a vector of length 1 in the same direction; a zero vector is unchanged.
    fn normalised(mut vector: Vec<f32>) -> Vec<f32> {
        let length = MeasuredVector::new(&vector).length as f32;
        if length > 0.0 {
            vector.iter_mut().for_each(|it| *it /= length);
        }
        vector
    }

    /// Returns a vector of length 1 whose cosine to `one` is about `cosine`; `other` gives the direction of the rest.
    fn turned(one: &[f32], other: &[f32], cosine: f32) -> Vec<f32> {
        let along = super::cosine(one, other);
        let rest = normalised(other.iter().zip(one).map(|(other, one)| other - along * one).collect());
        let sine = (1.0 - cosine * cosine).max(0.0).sqrt();
        let both = one.iter().zip(&rest);
        normalised(both.map(|(one, rest)| cosine * one + sine * rest).collect())
    }

    /// Checks the bound for two vectors in both directions, and that a cosine above a limit is never missed.
    fn check_pair(one: &[f32], other: &[f32]) {
        for (x, y) in [(one, other), (other, one)] {
            let (code, vector) = (VectorCode::new(y), MeasuredVector::new(x));
            let exact = cosine(x, y);
            let (approximate, bound) = (code.approximate_cosine(&vector), code.error_bound(&vector));
            // The bound is for the sum, which may exceed 1 by its rounding.
            let sum: f32 = x.iter().zip(y).map(|(x, y)| x * y).sum();
            let difference = (f64::from(sum) - approximate).abs();
            assert!(difference <= bound, "{difference} exceeds {bound} for {x:?} and {y:?}");
            for limit in [exact.next_down(), exact - 0.1, -2.0] {
                assert!(code.may_exceed(&vector, limit), "{exact} exceeds {limit}");
            }
            assert!(!code.may_exceed(&vector, exact + 2.1 * bound as f32 + 1e-6));
        }
    }

    /// Returns vectors whose codes are exact, or as inexact as possible.
    fn extreme_vectors(dimension: usize) -> Vec<Vec<f32>> {
        let filled = |component: fn(usize) -> f32| normalised((0..dimension).map(component).collect());
        vec![
            filled(|at| if at == 0 { 1.0 } else { 0.0 }),
            filled(|at| if at == 0 { -1.0 } else { 0.0 }),
            filled(|_| 1.0),
            filled(|at| if at % 2 == 0 { 1.0 } else { -1.0 }),
            filled(|_| 0.0),
            // All components but the first lie between two numbers of the code.
            filled(|at| if at == 0 { 127.0 } else { 0.5 }),
            filled(|at| if at == 0 { 127.0 } else { 63.499 }),
            filled(|at| if at == 0 { 1.0 } else { 1e-30 }),
            filled(|at| 0.5_f32.powi(at as i32 % 60)),
        ]
    }

    #[test]
    fn the_bound_holds_for_extreme_vectors() {
        for dimension in [1, 2, 127, 128, 1_000] {
            let vectors = extreme_vectors(dimension);
            for one in &vectors {
                for other in &vectors {
                    check_pair(one, other);
                    check_pair(one, &turned(one, other, 0.8));
                }
            }
        }
        check_pair(&[], &[]);
    }

    #[test]
    fn dissimilar_vectors_are_recognised() {
        let one = normalised((0..128).map(|it| (it as f32).sin()).collect());
        let other = normalised((0..128).map(|it| (it as f32 * 1.7).cos()).collect());
        let vector = MeasuredVector::new(&one);
        for (cosine, may_be_similar) in [(0.0, false), (0.7, false), (0.79, false), (0.801, true), (1.0, true)] {
            let code = VectorCode::new(&turned(&one, &other, cosine));
            assert_eq!(code.may_exceed(&vector, 0.8), may_be_similar, "{cosine}");
        }
    }

    #[test]
    fn vectors_of_other_dimensions_are_not_similar() {
        let code = VectorCode::new(&[1.0, 0.0]);
        assert!(!code.may_exceed(&MeasuredVector::new(&[1.0]), 0.0));
        assert!(code.may_exceed(&MeasuredVector::new(&[1.0, 0.0]), 0.0));
    }

    #[test]
    fn vectors_with_components_that_are_no_numbers_are_never_missed() {
        for component in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let (odd, plain) = ([component, 0.0], [-0.6, 0.8]);
            assert!(VectorCode::new(&odd).may_exceed(&MeasuredVector::new(&plain), 0.8));
            assert!(VectorCode::new(&plain).may_exceed(&MeasuredVector::new(&odd), 0.8));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_bound_holds_for_random_vectors(
            components in prop::collection::vec((-1.0_f32..1.0, -1.0_f32..1.0), 1..300),
            cosine in 0.75_f32..0.85,
            power in 1..6,
        ) {
            // Higher powers make a few components much greater than the rest.
            let powers = components.iter().map(|it| (it.0.powi(power), it.1.powi(power)));
            let (one, other): (Vec<f32>, Vec<f32>) = powers.unzip();
            let (one, other) = (normalised(one), normalised(other));
            check_pair(&one, &other);
            check_pair(&one, &turned(&one, &other, cosine));
        }
    }
}
