//! Word classes of English by list and ending, enough to cut phrases: any other word counts as a noun or adjective, which
//! also makes phrases of other languages whole runs between function words.

use crate::lists::{self, List};

/// Class of a word as far as phrases need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Articles, possessives, demonstratives.
    Determiner,
    /// Personal pronouns, contracted or not.
    Pronoun,
    /// Forms of be, have, do and the modal verbs.
    Auxiliary,
    /// Prepositions and "to".
    Preposition,
    /// Words that join phrases or open clauses.
    Conjunction,
    /// Adverbs and fillers that phrases do not start or end with.
    Filler,
    /// Finite verbs and participles of the past.
    Verb,
    /// Words in -ing: both verb and noun.
    Gerund,
    /// Numbers in digits or words.
    Number,
    /// Capitalised inside a sentence.
    Name,
    /// Nouns, adjectives and everything else.
    Content,
}

/// Returns the class of a word; `lower` is its lower-case form, `first` whether it opens the sentence.
pub(crate) fn class(word: &str, lower: &str, first: bool) -> Class {
    let base = lower.split('\'').next().unwrap_or(lower);
    if lower.contains('\'') && !lower.ends_with("'s")
        || matches!(lower, "it's" | "that's" | "he's" | "she's" | "there's")
    {
        return if is(&lists::PRONOUNS, base) || base == "that" || base == "there" {
            Class::Pronoun
        } else {
            Class::Auxiliary
        };
    }
    if number(lower).is_some() {
        return Class::Number;
    }
    for (list, class) in [
        (&lists::DETERMINERS, Class::Determiner),
        (&lists::PRONOUNS, Class::Pronoun),
        (&lists::AUXILIARIES, Class::Auxiliary),
        (&lists::PREPOSITIONS, Class::Preposition),
        (&lists::CONJUNCTIONS, Class::Conjunction),
        (&lists::FILLERS, Class::Filler),
    ] {
        if is(list, lower) || class == Class::Auxiliary && text::is_auxiliary(lower) {
            return class;
        }
    }
    let capital = word.chars().next().is_some_and(char::is_uppercase);
    if capital && !first {
        return Class::Name;
    }
    if is(&lists::VERBS, lower) || (lower.len() > 4 && lower.ends_with("ed") && !is(&lists::NOT_VERBS, lower)) {
        return Class::Verb;
    }
    if lower.len() > 5 && lower.ends_with("ing") && !is(&lists::NOT_VERBS, lower) {
        return Class::Gerund;
    }
    Class::Content
}

/// Returns the value of a number in digits or one word.
pub(crate) fn number(lower: &str) -> Option<f32> {
    if lower.starts_with(|c: char| c.is_ascii_digit()) {
        let digits: String = lower.chars().filter(|it| it.is_ascii_digit() || *it == '.').collect();
        return digits.parse().ok();
    }
    text::number_word(lower).or(match lower {
        "once" => Some(1.0),
        "twice" | "couple" => Some(2.0),
        "dozen" => Some(12.0),
        _ => None,
    })
}

/// Says whether a word is a unit of time.
pub(crate) fn duration(lower: &str) -> bool {
    let base = lower.strip_suffix('s').unwrap_or(lower);
    matches!(
        base,
        "second" | "minute" | "hour" | "day" | "night" | "week" | "weekend" | "month" | "year" | "decade" | "century"
    )
}

/// Says whether a lower-case word names a time or a unit of it where no date can be made of it: "mornings", "these days".
pub(crate) fn of_time(lower: &str) -> bool {
    let base = lower.strip_suffix("'s").unwrap_or(lower);
    let base = base.strip_suffix('s').unwrap_or(base);
    is(&lists::TIMES, base) || is(&lists::TIMES, lower)
}

/// Says whether a word denies.
pub(crate) fn denies(lower: &str) -> bool {
    lower.ends_with("n't") || is(&lists::DENIALS, lower)
}

/// Says whether a word is kin or another person by role.
pub(crate) fn person(lower: &str) -> bool {
    is(&lists::PERSONS, lower.strip_suffix('s').unwrap_or(lower)) || is(&lists::PERSONS, lower)
}

/// Says whether a verb joins the words around it to one phrase: "a used car" is one, "a parrot called Kiko" is not.
pub(crate) fn joins(verb: &str) -> bool {
    verb.ends_with("ed") && !matches!(verb, "called" | "named")
}

fn is(list: &List, word: &str) -> bool {
    list.contains(&word)
}
