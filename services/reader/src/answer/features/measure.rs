//! Units of measures: "31 kilos" is a mass.

use domain::question::Measure;
use text::lexicon::word_lists::WordList;
use text::split_words;

use crate::word_lists::{LENGTH_UNITS, MASS_UNITS, SIZE_UNITS, SPEED_UNITS, TEMPERATURE_UNITS};

/// Returns true if a figure with its unit belongs to this measure: "31 kilos", "20°".
pub(crate) fn has_unit_of_measure(measure: Measure, amount: &str) -> bool {
    let lower = amount.to_lowercase();
    let tokens = split_words(&lower);
    let has_unit_of = |units: &WordList| {
        tokens
            .iter()
            .any(|it| units.contains(it) || units.contains(it.trim_end_matches('s')))
    };
    match measure {
        Measure::Length => has_unit_of(&LENGTH_UNITS) && !has_unit_of(&SIZE_UNITS),
        Measure::Mass => has_unit_of(&MASS_UNITS),
        Measure::Heat => has_unit_of(&TEMPERATURE_UNITS) || lower.contains('°'),
        Measure::Speed => has_unit_of(&SPEED_UNITS),
        Measure::Size => [&LENGTH_UNITS, &MASS_UNITS, &SIZE_UNITS].into_iter().any(has_unit_of),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_determines_the_measure() {
        for (measure, amount, fits) in [
            (Measure::Length, "110 miles", true),
            (Measure::Length, "two feet", true),
            (Measure::Length, "140 square metres", false),
            (Measure::Size, "140 square metres", true),
            (Measure::Mass, "31 kilos", true),
            (Measure::Mass, "31 litres", false),
            (Measure::Heat, "-5 °C", true),
            (Measure::Length, "two days", false),
        ] {
            assert_eq!(has_unit_of_measure(measure, amount), fits, "{amount}");
        }
    }
}
