//! Checks whether the numbers, the names and most of the words that a language model wrote occur in the texts it was
//! shown.

use std::collections::BTreeSet;

use chrono::DateTime;

/// Numbers, words and stems of the texts that a model was shown.
pub(crate) struct ShownTerms {
    numbers: BTreeSet<String>,
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
            words: BTreeSet::new(),
            stems: BTreeSet::new(),
        };
        for shown in texts {
            known.numbers.extend(digit_runs(shown).map(str::to_owned));
            known.stems.extend(text::stem_words(shown));
            known.words.extend(lower_words(shown));
        }
        known
    }

    /// Returns the first reason why a sentence is not supported, or none if it is.
    pub(crate) fn find_flaw(&self, sentence: &str) -> Option<Flaw> {
        if has_hidden(sentence) {
            return Some(Flaw::Hidden);
        }
        if digit_runs(sentence).any(|it| !self.numbers.contains(it)) {
            return Some(Flaw::Number);
        }
        let names = text::find_names(sentence);
        let is_unknown = |name: &&str| !self.has_name(sentence, name);
        names.iter().any(is_unknown).then_some(Flaw::Name)
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
