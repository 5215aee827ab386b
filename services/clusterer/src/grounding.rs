//! Whether what a language model wrote is borne out by the texts that it was shown: its numbers, its names, and most of its words.

use std::collections::BTreeSet;

use chrono::DateTime;

/// What texts hold that somebody who read them may speak of.
pub(crate) struct Known {
    numbers: BTreeSet<String>,
    words: BTreeSet<String>,
    stems: BTreeSet<String>,
}

/// Why a sentence is not borne out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// It has characters that nobody sees.
    Hidden,
    /// It has a number that the texts do not have.
    Number,
    /// It has a name that the texts do not have.
    Name,
}

impl Known {
    /// Collects what texts hold.
    pub(crate) fn of<'a>(texts: impl Iterator<Item = &'a str>) -> Known {
        let mut known = Known {
            numbers: BTreeSet::new(),
            words: BTreeSet::new(),
            stems: BTreeSet::new(),
        };
        for shown in texts {
            known.numbers.extend(digits(shown).map(str::to_owned));
            known.stems.extend(text::stems(shown));
            known.words.extend(lower_words(shown));
        }
        known
    }

    /// Returns the first reason for which a sentence is not borne out; none if it is.
    pub(crate) fn flaw(&self, sentence: &str) -> Option<Flaw> {
        if has_hidden(sentence) {
            return Some(Flaw::Hidden);
        }
        if digits(sentence).any(|it| !self.numbers.contains(it)) {
            return Some(Flaw::Number);
        }
        let names = text::names(sentence);
        let is_unknown = |name: &&str| !self.has_name(sentence, name);
        names.iter().any(is_unknown).then_some(Flaw::Name)
    }

    /// Returns true if at least half of the stems of a sentence are stems of the texts or of `also`.
    pub(crate) fn holds_most_of(&self, sentence: &str, also: &BTreeSet<String>) -> bool {
        let stems = text::stems(sentence);
        let unknown = stems
            .iter()
            .filter(|it| !self.stems.contains(*it) && !also.contains(*it));
        2 * unknown.count() <= stems.len()
    }

    /// Returns true if a word in lower case occurs in the texts, in whatever form, or names a day, a month or another time.
    pub(crate) fn has_word(&self, word: &str) -> bool {
        self.words.contains(word) || self.stems.contains(&text::stem(word)) || is_time(word)
    }

    /// Returns true if one of the words of a name occurs in the texts, or if it names a time. A single word that opens a sentence
    /// is no name.
    fn has_name(&self, sentences: &str, name: &str) -> bool {
        let words = lower_words(name);
        let opens = |sentence: &&str| sentence.trim_start().starts_with(name);
        if words.len() < 2 && text::sentences(sentences).iter().any(opens) {
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

/// Returns the runs of digits of a text, without zeros in front.
fn digits(text: &str) -> impl Iterator<Item = &str> {
    let runs = text.split(|it: char| !it.is_ascii_digit());
    runs.filter(|it| !it.is_empty())
        .map(|it| match it.trim_start_matches('0') {
            "" => "0",
            bare => bare,
        })
}

/// Returns the words of a text in lower case, without "'s".
pub(crate) fn lower_words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase().replace('\u{2019}', "'");
    let words = text::words(&lower).into_iter();
    words.map(|it| it.trim_end_matches("'s").to_owned()).collect()
}

/// Returns true if a word names a month, a weekday or another time.
fn is_time(word: &str) -> bool {
    text::time::words::is_named(word) || !text::time::find(word, DateTime::UNIX_EPOCH.fixed_offset()).is_empty()
}
