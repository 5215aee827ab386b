//! Contractions in clauses, also those with "is".

use crate::facts::lexicon::BEFORE_IS;
use crate::lexicon::contractions;

/// Splits a contraction: "i'm" becomes "i" and "am", "what's" becomes "what" and "is".
pub(super) fn split_contraction(word: &str) -> (&str, Option<&'static str>) {
    if let Some((first, second)) = contractions::split_contraction(word) {
        return (first, Some(second));
    }
    match word.strip_suffix("'s") {
        Some(first) if BEFORE_IS.contains(first) => (first, Some("is")),
        _ => (word, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contractions_are_split_and_other_words_are_kept() {
        for (word, parts) in [
            ("can't", ("can", Some("not"))),
            ("isn't", ("is", Some("not"))),
            ("i'd", ("i", Some("would"))),
            ("theyre", ("they", Some("are"))),
            ("what's", ("what", Some("is"))),
            ("ana's", ("ana's", None)),
            ("'m", ("'m", None)),
        ] {
            assert_eq!(split_contraction(word), parts, "{word}");
        }
    }
}
