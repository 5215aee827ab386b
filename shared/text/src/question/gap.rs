//! The words that precede the answer in a sentence that answers the question: "the rent is", "she has".

use domain::question::Gap;

use crate::lexicon::{Class, is_in_class};
use crate::{is_auxiliary, is_stop, split_words, stem_word};

/// Returns the gap of a question in lower case.
pub(super) fn gap_of_question(lower: &str) -> Gap {
    let tokens = split_words(lower);
    let equals = match tokens.as_slice() {
        ["what" | "who", be, rest @ ..] if is_in_class(be, Class::FormOfBe) => equated_noun(rest),
        ["what's" | "who's", rest @ ..] => equated_noun(rest),
        _ => None,
    };
    let asks = tokens.iter().any(|it| is_in_class(it, Class::AsksWithDo));
    let had = asks && tokens.last().is_some_and(|it| *it == "have");
    Gap { equals, had }
}

/// Returns the stem of the noun of the first phrase: "rent" of "the rent of the garden". Returns `None` if it is no
/// noun phrase.
fn equated_noun(rest: &[&str]) -> Option<String> {
    let rest = match rest {
        [most @ .., last] if is_in_class(last, Class::PresentTime) => most,
        all => all,
    };
    let first = rest.first()?;
    let has_determiner = *first == "the" || is_in_class(first, Class::Possessive) || first.ends_with("'s");
    let ends = |it: &&str| !has_determiner || is_in_class(it, Class::GapPreposition) || is_auxiliary(it);
    let end = rest.iter().position(ends).unwrap_or(rest.len());
    let last = rest[..end].last().filter(|it| !is_stop(it) && !it.ends_with("'s"))?;
    Some(stem_word(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gap_of_a_question_is_a_noun_after_be_or_an_object_of_have() {
        for (question, equals, had) in [
            ("what is the rent of the garden?", Some("rent"), false),
            ("what's ann's rent now?", Some("rent"), false),
            ("what is it?", None, false),
            ("how many cats does ann have?", None, true),
            ("how many cats have they seen?", None, false),
        ] {
            let expected = Gap {
                equals: equals.map(str::to_owned),
                had,
            };
            assert_eq!(gap_of_question(question), expected, "{question}");
        }
    }
}
