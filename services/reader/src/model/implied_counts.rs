//! Numbers of things that a text implies without naming them: "a couple", "a cat, a dog and a fish".

use text::lexicon::{Class, is_in_class};

/// Returns the numbers of things that words of a text imply: "a couple", "my second dog".
pub(super) fn find_implied_numbers(text: &str) -> Vec<i64> {
    let words = text::split_words(text).into_iter();
    let numbers = words.filter_map(|it| text::implied_number(&it.to_lowercase()));
    numbers.map(i64::from).collect()
}

/// Returns the largest number of things that a sentence of a text may list: "a cat, a dog and a fish" are three, and so
/// are three lines.
pub(super) fn count_listed_things(text: &str) -> i64 {
    let count = |sentence: &str| {
        let words = text::split_words(sentence).into_iter().map(str::to_lowercase);
        let joining = words.filter(|it| is_in_class(it, Class::JoinsThings)).count();
        let marks = sentence.matches([',', ';', '&', '/']).count();
        // ", and" is one separator.
        let doubled = sentence.matches(", and ").count() + sentence.matches(", or ").count();
        1 + joining + marks - doubled
    };
    let in_sentences = text::split_sentences(text).into_iter().map(count);
    in_sentences.chain([text.lines().count()]).max().unwrap_or_default() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_things_of_a_list_are_counted() {
        for (text, expected) in [
            ("I have dogs. I like them.", 1),
            ("I have a cat, a dog and a fish. Ben has a rat.", 3),
            ("I have a cat, a dog, and a fish.", 3),
            ("eggs\nmilk\nbread\nsalt", 4),
            ("", 0),
        ] {
            assert_eq!(count_listed_things(text), expected, "{text}");
        }
    }

    #[test]
    fn words_imply_numbers_of_things() {
        assert_eq!(find_implied_numbers("My second dog, a Couple of cats"), [2, 2]);
        assert!(find_implied_numbers("My dog").is_empty());
    }
}
