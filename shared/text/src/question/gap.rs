//! The words that precede the answer in a sentence that answers the question: "the rent is", "she has".

use domain::question::Gap;

use crate::lexicon::{Class, is};
use crate::{is_auxiliary, is_stop, stem, words};

/// Returns the gap of a question in lower case.
pub(super) fn gap(lower: &str) -> Gap {
    let tokens = words(lower);
    let equals = match tokens.as_slice() {
        ["what" | "who", "is" | "was" | "are" | "were", rest @ ..] | ["what's" | "who's", rest @ ..] => noun(rest),
        _ => None,
    };
    let asks = tokens.iter().any(|it| matches!(*it, "do" | "does" | "did"));
    let had = asks && tokens.last().is_some_and(|it| *it == "have");
    Gap { equals, had }
}

/// Returns the stem of the noun of the first phrase: "rent" of "the rent of the garden". Returns `None` if it is no
/// noun phrase.
fn noun(rest: &[&str]) -> Option<String> {
    let rest = match rest {
        [most @ .., "now" | "today" | "currently"] => most,
        all => all,
    };
    let first = rest.first()?;
    let named = *first == "the" || is(first, Class::Possessive) || first.ends_with("'s");
    let ends = |it: &&str| !named || is(it, Class::GapPreposition) || is_auxiliary(it);
    let end = rest.iter().position(ends).unwrap_or(rest.len());
    let last = rest[..end].last().filter(|it| !is_stop(it) && !it.ends_with("'s"))?;
    Some(stem(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gap_is_the_equated_noun_or_the_thing_had() {
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
            assert_eq!(gap(question), expected, "{question}");
        }
    }
}
