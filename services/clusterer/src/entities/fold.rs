//! Normalization of names: folds names to classes. Names of one class are the same name.

mod abbreviations;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use abbreviations::{write_out_first_word, write_out_last_word};

use crate::word_lists::{KIN_TITLES, NAME_ARTICLES, NAME_PARTICLES, NAME_TITLES};

/// A function that removes a kind of difference, and the reason to report for it.
type Step = (fn(&str) -> String, &'static str);

/// The steps of folding, in order.
const STEPS: [Step; 5] = [
    (str::to_lowercase, "the same except for capitals"),
    (without_article, "the same except for an article"),
    (remove_accents_and_punctuation, "the same except for accents and marks"),
    (written_out, "the same except for an abbreviated word"),
    (without_title, "the same except for a title"),
];

/// Returns a name with single spaces and without a possessive ending; each result is one form.
pub(super) fn normalise_form(name: &str) -> String {
    let spaced = name.split_whitespace().collect::<Vec<_>>().join(" ");
    let bare = spaced.strip_suffix("'s").or_else(|| spaced.strip_suffix("\u{2019}s"));
    bare.map(str::to_owned).unwrap_or(spaced)
}

/// Returns the class of a name; forms with the same class are one name. The class is empty if nothing is left of the
/// name.
pub(super) fn fold_name(name: &str) -> String {
    STEPS.iter().fold(normalise_form(name), |name, (step, _)| step(&name))
}

/// Returns the reason why two forms have the same class: the kind of difference whose removal makes them equal.
pub(super) fn explain_same_class(one: &str, other: &str) -> &'static str {
    let (mut one, mut other) = (normalise_form(one), normalise_form(other));
    for (step, words) in STEPS {
        (one, other) = (step(&one), step(&other));
        if one == other {
            return words;
        }
    }
    "the same name"
}

/// Returns the class with its last word in the singular, by English spelling rules; unchanged if it is not a plural.
pub(super) fn to_singular(class: &str) -> String {
    let last = class.rsplit(' ').next().unwrap_or_default();
    if last.len() < 4 || !last.bytes().all(|it| it.is_ascii_lowercase()) {
        return class.to_owned();
    }
    if let Some(stem) = class.strip_suffix("ies") {
        return format!("{stem}y");
    }
    let hissing = ["sses", "shes", "ches", "xes", "zes"]
        .iter()
        .any(|it| last.ends_with(it));
    let other = ["ss", "us", "is", "os"].iter().any(|it| last.ends_with(it));
    match class.strip_suffix(if hissing { "es" } else { "s" }) {
        Some(stem) if !other => stem.to_owned(),
        _ => class.to_owned(),
    }
}

/// Returns the short form of a person's full name: the first name, or the part after a title.
pub(super) fn short_name(class: &str) -> Option<&str> {
    let (first, rest) = class.split_once(' ')?;
    let letters = |it: &str| it.chars().all(char::is_alphabetic);
    let words: Vec<&str> = rest.split(' ').collect();
    let name_words = words.iter().filter(|it| !NAME_PARTICLES.contains(**it)).count();
    if !letters(first) || !words.iter().all(|it| letters(it) && !text::is_stop(it)) {
        return None;
    }
    match (NAME_TITLES.contains(first) || KIN_TITLES.contains(first), name_words) {
        (true, 1) => Some(rest),
        (false, 1 | 2) if first.chars().count() > 1 => Some(first),
        _ => None,
    }
}

fn without_article(name: &str) -> String {
    match name.split_once(' ') {
        Some((first, rest)) if NAME_ARTICLES.contains(first) => rest.to_owned(),
        _ => name.to_owned(),
    }
}

/// Removes punctuation, and accents from Latin letters only: in other scripts, such marks distinguish letters.
fn remove_accents_and_punctuation(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut latin = false;
    for c in name.nfd() {
        match c {
            _ if is_combining_mark(c) && latin => {}
            '.' | '\'' | '\u{2019}' => {}
            '-' | '\u{2013}' | '_' | '/' => out.push(' '),
            '&' => out.push_str("and"),
            _ => out.push(c),
        }
        latin = c.is_ascii_alphabetic() || latin && is_combining_mark(c);
    }
    let composed: String = out.nfc().collect();
    composed.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn written_out(name: &str) -> String {
    let mut words: Vec<&str> = name.split(' ').collect();
    if words.len() > 1 {
        let last = words.len() - 1;
        words[0] = write_out_first_word(words[0]);
        words[last] = write_out_last_word(words[last]);
    }
    words.join(" ")
}

fn without_title(name: &str) -> String {
    match name.split_once(' ') {
        Some((first, rest)) if NAME_TITLES.contains(first) && rest.contains(' ') => rest.to_owned(),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_one_name_fold_to_one_class() {
        for (one, other, expected) in [
            ("Iliad", "ILIAD", "capitals"),
            ("The Iliad", "Iliad", "an article"),
            ("Jos\u{e9}", "Jose", "accents"),
            ("St. Moritz", "Saint Moritz", "an abbreviated word"),
            ("Dr. Sarah Lee", "Sarah Lee", "a title"),
        ] {
            assert_eq!(fold_name(one), fold_name(other));
            assert!(explain_same_class(one, other).contains(expected), "{one}");
        }
        for (one, other) in [
            ("\u{304b}", "\u{304c}"),
            ("\u{438}", "\u{439}"),
            ("St. Moritz", "St. Gallen"),
            ("Dr. Lee", "Lee"),
        ] {
            assert_ne!(fold_name(one), fold_name(other));
        }
    }

    #[test]
    fn full_names_are_shortened() {
        assert_eq!(short_name("melanie brown"), Some("melanie"));
        assert_eq!(short_name("mr oddy"), Some("oddy"));
        assert_eq!(
            (
                short_name("lord of the rings"),
                short_name("ana"),
                short_name("route 66")
            ),
            (None, None, None)
        );
        assert_eq!(
            (to_singular("sea scouts").as_str(), to_singular("paris").as_str()),
            ("sea scout", "paris")
        );
    }
}
