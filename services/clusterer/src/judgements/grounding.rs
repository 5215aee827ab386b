//! Checks whether the numbers, the names and most of the words that a language model wrote occur in the texts it was
//! shown.

use std::collections::BTreeSet;

use chrono::DateTime;
use text::SpelledNumber;

/// Numbers, words and stems of the texts that a model was shown.
pub(crate) struct ShownTerms {
    /// The runs of digits, and the values of the numbers in words.
    numbers: BTreeSet<String>,
    /// Values of numbers that may be written in words, but not in figures, although no text has them.
    accepted_in_words: BTreeSet<i64>,
    words: BTreeSet<String>,
    stems: BTreeSet<String>,
}

/// Reasons why a sentence is not supported by the texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// The sentence has invisible characters.
    Hidden,
    /// The sentence has a number that is not in the texts.
    Number,
    /// The sentence has a name that is not in the texts.
    Name,
}

impl ShownTerms {
    /// Collects numbers, words and stems of texts.
    pub(crate) fn from_texts<'a>(texts: impl Iterator<Item = &'a str>) -> ShownTerms {
        let mut known = ShownTerms {
            numbers: BTreeSet::new(),
            accepted_in_words: BTreeSet::new(),
            words: BTreeSet::new(),
            stems: BTreeSet::new(),
        };
        for shown in texts {
            known.numbers.extend(digit_runs(shown).map(str::to_owned));
            known.numbers.extend(grouped_numbers(shown));
            let spelled = text::possible_spelled_values(shown).into_iter();
            known.numbers.extend(spelled.map(|it| it.to_string()));
            known.stems.extend(text::stem_words(shown));
            known.words.extend(lower_words(shown));
        }
        known
    }

    /// Accepts a number that no text has, if it is written in words.
    pub(crate) fn accept_in_words(mut self, value: i64) -> ShownTerms {
        self.accepted_in_words.insert(value);
        self
    }

    /// Returns the first reason why a sentence is not supported, or none if it is.
    pub(crate) fn find_flaw(&self, sentence: &str) -> Option<Flaw> {
        if has_hidden(sentence) {
            return Some(Flaw::Hidden);
        }
        if digit_runs(sentence).any(|it| !self.numbers.contains(it)) || self.lacks_spelled_number(sentence) {
            return Some(Flaw::Number);
        }
        let names = text::find_names(sentence);
        let is_unknown = |name: &&str| !self.has_name(sentence, name);
        names.iter().any(is_unknown).then_some(Flaw::Name)
    }

    /// Returns true if a sentence spells a number that is not in the texts. A number is accepted if each of its words is
    /// a number of the texts. "The three" is accepted, since it often stands for persons or things that were named
    /// before. A sentence in another language is accepted too, because its words may look like English numbers.
    fn lacks_spelled_number(&self, sentence: &str) -> bool {
        let has_value =
            |value: i64| self.accepted_in_words.contains(&value) || self.numbers.contains(&value.to_string());
        let has_each_word = |number: &SpelledNumber<'_>| {
            let words = text::split_words(number.words).into_iter();
            let mut values = words.filter_map(|it| text::number_word(&it.to_lowercase()));
            values.all(|it| has_value(it as i64))
        };
        let is_lacking = |number: &SpelledNumber<'_>| {
            number.value > 1 && !number.is_definite && !has_value(number.value) && !has_each_word(number)
        };
        let is_english = || text::gloss::split_pieces(sentence).is_none();
        text::find_spelled_numbers(sentence).iter().any(is_lacking) && is_english()
    }

    /// Returns true if at least half of the stems of a sentence are among the stems of the texts or in `also`.
    pub(crate) fn holds_most_of(&self, sentence: &str, also: &BTreeSet<String>) -> bool {
        let stems = text::stem_words(sentence);
        let unknown = stems
            .iter()
            .filter(|it| !self.stems.contains(*it) && !also.contains(*it));
        2 * unknown.count() <= stems.len()
    }

    /// Returns true if a lower-case word occurs in the texts in any inflected form, or is the name of a day, a month
    /// or another time.
    pub(crate) fn has_word(&self, word: &str) -> bool {
        self.words.contains(word) || self.stems.contains(&text::stem_word(word)) || is_time(word)
    }

    /// Returns true if one of the words of a name occurs in the texts or names a time. A single word that begins a
    /// sentence is accepted as well, because its capital letter does not show that it is a name.
    fn has_name(&self, sentences: &str, name: &str) -> bool {
        let words = lower_words(name);
        let opens = |sentence: &&str| sentence.trim_start().starts_with(name);
        if words.len() < 2 && text::split_sentences(sentences).iter().any(opens) {
            return true;
        }
        words.iter().any(|it| self.has_word(it))
    }
}

fn has_hidden(text: &str) -> bool {
    let mut before = None;
    text.chars().any(|next| {
        let hidden = text::is_hidden(next, before);
        before = Some(next);
        hidden
    })
}

/// Returns the runs of digits in a text, without leading zeros.
fn digit_runs(text: &str) -> impl Iterator<Item = &str> {
    let runs = text.split(|it: char| !it.is_ascii_digit());
    runs.filter(|it| !it.is_empty())
        .map(|it| match it.trim_start_matches('0') {
            "" => "0",
            bare => bare,
        })
}

/// Returns the numbers of a text whose thousands are separated, such as "4,100", without the separators.
fn grouped_numbers(text: &str) -> impl Iterator<Item = String> {
    const SEPARATORS: [char; 2] = [',', '.'];
    let runs = text.split(|it: char| !it.is_ascii_digit() && !SEPARATORS.contains(&it));
    let is_grouped = |run: &&str| {
        let mut groups = run.split(SEPARATORS);
        let first = groups.next().map_or(0, str::len);
        (1..=3).contains(&first) && first < run.len() && groups.all(|it| it.len() == 3)
    };
    let trimmed = runs.map(|it| it.trim_matches(SEPARATORS));
    trimmed.filter(is_grouped).map(|it| it.replace(SEPARATORS, ""))
}

/// Returns the words of a text in lower case, without a final "'s".
pub(crate) fn lower_words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase().replace('\u{2019}', "'");
    let words = text::split_words(&lower).into_iter();
    words.map(|it| it.trim_end_matches("'s").to_owned()).collect()
}

/// Returns true if a word names a month, a weekday or another time.
fn is_time(word: &str) -> bool {
    text::time::words::is_named(word) || !text::time::find_times(word, DateTime::UNIX_EPOCH.fixed_offset()).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHOWN: &str = "[9 May 2024] Ann: I have two dogs, 25 hens and two hundred bees. The barn cost 4,000 euros. \
        We met at seven thirty-five.";

    fn flaw(sentence: &str) -> Option<Flaw> {
        ShownTerms::from_texts([SHOWN].into_iter()).find_flaw(sentence)
    }

    #[test]
    fn a_number_is_known_in_figures_and_in_words() {
        for sentence in [
            "Ann has two dogs and twenty-five hens.",
            "Ann has 2 dogs, 25 hens and 200 bees.",
            "The barn of Ann cost four thousand euros, or 4000.",
            "One of the dogs is hers, and the three are friends.",
            "They met at 7:35.",
            // The value of "nine" is not clear.
            "The barn of Ann cost nine million euros.",
            // "Ten" is no number in Dutch.
            "Ann heeft ten slotte een hond.",
        ] {
            assert_eq!(flaw(sentence), None, "{sentence}");
        }
    }

    #[test]
    fn a_number_that_is_not_in_the_texts_is_a_flaw_in_figures_and_in_words() {
        for sentence in [
            "Ann has 3 dogs.",
            "Ann has three dogs.",
            "Ann has twenty hens.",
            "Ann has two thousand bees.",
        ] {
            assert_eq!(flaw(sentence), Some(Flaw::Number), "{sentence}");
        }
    }

    #[test]
    fn a_number_that_is_accepted_in_words_is_a_flaw_in_figures() {
        let known = ShownTerms::from_texts([SHOWN].into_iter()).accept_in_words(6);
        assert_eq!(known.find_flaw("Ann has six hens."), None);
        assert_eq!(known.find_flaw("Ann has 6 hens."), Some(Flaw::Number));
        assert_eq!(known.find_flaw("Ann has eight hens."), Some(Flaw::Number));
    }
}
