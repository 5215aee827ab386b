//! Units of measures: "31 kilos" is a mass.

use domain::question::Measure;
use text::split_words;

const LENGTHS: &[&str] = &[
    "km",
    "kilometre",
    "kilometer",
    "mile",
    "metre",
    "meter",
    "m",
    "cm",
    "centimetre",
    "centimeter",
    "mm",
    "millimetre",
    "millimeter",
    "inch",
    "inche",
    "foot",
    "feet",
    "yard",
];
const MASSES: &[&str] = &[
    "kg", "kilo", "kilogram", "pound", "lb", "stone", "g", "gram", "ton", "tonne", "ounce",
];
const HEATS: &[&str] = &["degree", "celsius", "fahrenheit"];
const SPEEDS: &[&str] = &["kmh", "km/h", "mph", "knot"];
const EXTENTS: &[&str] = &["acre", "hectare", "litre", "liter", "square", "cubic"];

/// Returns true if a figure with its unit belongs to this measure: "31 kilos", "20°".
pub(crate) fn has_unit_of_measure(measure: Measure, amount: &str) -> bool {
    let lower = amount.to_lowercase();
    let tokens = split_words(&lower);
    let has_unit_of = |units: &[&str]| {
        tokens
            .iter()
            .any(|it| units.contains(it) || units.contains(&it.trim_end_matches('s')))
    };
    match measure {
        Measure::Length => has_unit_of(LENGTHS) && !has_unit_of(EXTENTS),
        Measure::Mass => has_unit_of(MASSES),
        Measure::Heat => has_unit_of(HEATS) || lower.contains('°'),
        Measure::Speed => has_unit_of(SPEEDS),
        Measure::Size => [LENGTHS, MASSES, EXTENTS].into_iter().any(has_unit_of),
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
