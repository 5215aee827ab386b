//! Where a question leaves its gap: "who repaired it" wants what stands before the verb, "what is she allergic to" what follows
//! "allergic to".

use domain::question::{Gap, Tail};

use crate::lexicon::{Class, is};
use crate::{is_auxiliary, is_stop, stem, words};

/// Reads the gap of a question in lower case whose verb has the stem `action`.
pub(super) fn gap(lower: &str, action: &str) -> Gap {
    let tokens = words(lower);
    let agent = tokens.first().is_some_and(|it| is(it, Class::AsksAgent))
        && !action.is_empty()
        && tokens
            .iter()
            .position(|it| stem(it) == action)
            .is_some_and(|verb| tokens[1..verb.max(1)].iter().all(|it| leaves_agent(it)));
    let end = match tokens.as_slice() {
        // "What does she teach?": what follows the verb.
        ["what", "did" | "does" | "do" | "didn't" | "doesn't" | "don't", .., last] if stem(last) == action => {
            Some(tail(action.to_owned(), ""))
        }
        [.., word, last] if is(last, Class::GapPreposition) && !is_stop(word) => Some(tail(stem(word), last)),
        _ => None,
    };
    let fronted = match tokens.as_slice() {
        [first, second, ..] if is(first, Class::GapPreposition) => {
            matches!(*second, "which" | "what" | "whom" | "whose").then(|| (*first).to_owned())
        }
        _ => None,
    };
    let equals = match tokens.as_slice() {
        ["what" | "who", "is" | "was" | "are" | "were", rest @ ..] | ["what's" | "who's", rest @ ..] => noun(rest),
        _ => None,
    };
    let asks = tokens.iter().any(|it| matches!(*it, "do" | "does" | "did"));
    let had = asks && tokens.last().is_some_and(|it| *it == "have");
    Gap {
        agent,
        tail: end,
        equals,
        had,
        fronted,
    }
}

fn tail(stem: String, preposition: &str) -> Tail {
    Tail {
        stem,
        preposition: preposition.to_owned(),
    }
}

/// The noun of the first phrase, if it is one: "secret" of "the secret of the soup".
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

/// "Did", a pronoun or a name between the question and its verb is the subject itself.
fn leaves_agent(word: &str) -> bool {
    let does = matches!(word, "did" | "does" | "do");
    !does && !is(word, Class::Pronoun) && (is_auxiliary(word) || is_stop(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gap_is_before_or_behind_the_verb() {
        let from = gap("from which city does it leave?", "leav");
        assert_eq!(from.fronted.as_deref(), Some("from"));
        for (question, action, agent, tail) in [
            ("who repaired the bicycle?", "repair", true, None),
            ("who has repaired the bicycle?", "repair", true, None),
            ("who did ann visit?", "visit", false, None),
            ("what did she buy?", "buy", false, Some(("buy", ""))),
            ("what did she buy from ann?", "buy", false, None),
            ("what is ann allergic to?", "", false, Some(("allerg", "to"))),
            ("where is it?", "", false, None),
        ] {
            let tail = tail.map(|it: (&str, &str)| super::tail(it.0.to_owned(), it.1));
            let expected = Gap {
                agent,
                tail,
                ..Gap::default()
            };
            assert_eq!(gap(question, action), expected, "{question}");
        }
    }
}
