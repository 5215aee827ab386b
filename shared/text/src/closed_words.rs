//! Closed classes of English words that many rules look into: auxiliary verbs and numbers.

use crate::lexicon::{Class, is};

const NUMBERS: [(&str, f32); 29] = [
    ("zero", 0.0),
    ("one", 1.0),
    ("two", 2.0),
    ("three", 3.0),
    ("four", 4.0),
    ("five", 5.0),
    ("six", 6.0),
    ("seven", 7.0),
    ("eight", 8.0),
    ("nine", 9.0),
    ("ten", 10.0),
    ("eleven", 11.0),
    ("twelve", 12.0),
    ("thirteen", 13.0),
    ("fourteen", 14.0),
    ("fifteen", 15.0),
    ("sixteen", 16.0),
    ("seventeen", 17.0),
    ("eighteen", 18.0),
    ("nineteen", 19.0),
    ("twenty", 20.0),
    ("thirty", 30.0),
    ("forty", 40.0),
    ("fifty", 50.0),
    ("sixty", 60.0),
    ("seventy", 70.0),
    ("eighty", 80.0),
    ("ninety", 90.0),
    ("hundred", 100.0),
];

/// Says whether a lower-case word is a finite auxiliary verb.
pub fn is_auxiliary(lower: &str) -> bool {
    is(lower, Class::Auxiliary)
}

/// Returns the value of a number in one lower-case word; none for one in digits.
pub fn number_word(lower: &str) -> Option<f32> {
    let thousand = (lower == "thousand").then_some(1000.0);
    thousand.or_else(|| NUMBERS.iter().find(|it| it.0 == lower).map(|it| it.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_values() {
        for (word, value) in [
            ("zero", Some(0.0)),
            ("twelve", Some(12.0)),
            ("thousand", Some(1000.0)),
            ("12", None),
        ] {
            assert_eq!(number_word(word), value, "{word}");
        }
    }
}
