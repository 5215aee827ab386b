//! Questions for a measure: "how far", "how heavy", "how big", "how much does it weigh".

use text::words;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    /// "How far", "how tall", "how deep".
    Length,
    /// "How heavy", "how much does it weigh".
    Mass,
    /// "How hot", "how cold".
    Heat,
    /// "How fast".
    Speed,
    /// "How big": a length, an area, a volume or a mass.
    Size,
}

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

impl Measure {
    /// Reads which measure a question asks for, in lower case.
    pub(crate) fn asked(lower: &str) -> Option<Measure> {
        let tokens = words(lower);
        let how = tokens.windows(2).find(|it| it[0] == "how").map(|it| it[1])?;
        let length = matches!(how, "far" | "tall" | "high" | "deep" | "wide" | "thick");
        match how {
            _ if length => Some(Measure::Length),
            "heavy" => Some(Measure::Mass),
            "much" if tokens.iter().any(|it| text::stem(it) == "weigh") => Some(Measure::Mass),
            "hot" | "cold" | "warm" => Some(Measure::Heat),
            "fast" => Some(Measure::Speed),
            "big" | "large" | "small" => Some(Measure::Size),
            _ => None,
        }
    }

    /// Says whether a figure with what stands behind it is one of this measure: "31 kilos", "20°".
    pub(crate) fn takes(self, amount: &str) -> bool {
        let lower = amount.to_lowercase();
        let tokens = words(&lower);
        let named = |units: &[&str]| {
            tokens
                .iter()
                .any(|it| units.contains(it) || units.contains(&it.trim_end_matches('s')))
        };
        match self {
            Measure::Length => named(LENGTHS) && !named(EXTENTS),
            Measure::Mass => named(MASSES),
            Measure::Heat => named(HEATS) || lower.contains('°'),
            Measure::Speed => named(SPEEDS),
            Measure::Size => [LENGTHS, MASSES, EXTENTS].into_iter().any(named),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measure_is_asked_for_by_its_adjective() {
        for (question, measure) in [
            ("how far is the hut?", Some(Measure::Length)),
            ("how heavy was it?", Some(Measure::Mass)),
            ("how much does the parcel weigh?", Some(Measure::Mass)),
            ("how much did it cost?", None),
            ("how big is the hall?", Some(Measure::Size)),
            ("how did it go?", None),
            ("what is far away?", None),
        ] {
            assert_eq!(Measure::asked(question), measure, "{question}");
        }
    }

    #[test]
    fn a_unit_tells_the_measure() {
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
            assert_eq!(measure.takes(amount), fits, "{amount}");
        }
    }
}
