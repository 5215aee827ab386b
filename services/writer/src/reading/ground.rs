//! The content of a passage against which a language model's statements are checked: its words, names, numbers and
//! times.

use std::collections::{BTreeSet, HashSet};

use chrono::{DateTime, Datelike};
use domain::record::Record;
use domain::time::{Precision, TimeSpan};

use super::lines::content;
use super::{numbers, times};
use crate::speech;

/// Number of first letters that the forms of a name share ("Sweden", "Swedish"), and minimum length of a word for
/// which they count (`HEADED`).
const HEAD: usize = 4;
const HEADED: usize = 5;

/// The content of a passage, prepared for checks.
pub(super) struct Ground<'a> {
    /// The lines, in order.
    lines: Vec<Line<'a>>,
    /// All words of the passage and of the records before it, in lower case.
    words: HashSet<String>,
    /// The first letters of the longer words.
    heads: HashSet<String>,
    /// The stems of the words.
    stems: HashSet<String>,
    /// The numbers in these texts.
    numbers: BTreeSet<String>,
    /// Everyone who speaks or acts.
    actors: BTreeSet<&'a str>,
    /// True if the passage is in German, which capitalises all nouns.
    is_german: bool,
}

/// One line of a passage.
pub(super) struct Line<'a> {
    /// The record of the line.
    pub(super) record: &'a Record,
    /// The addressee, or an empty text if unknown.
    pub(super) addressee: String,
    /// Its words in order, in lower case.
    words: Vec<String>,
    /// The stems of its words.
    stems: HashSet<String>,
    /// The times that the rules read in it.
    pub(super) times: Vec<TimeSpan>,
}

impl<'a> Ground<'a> {
    /// Prepares the records of a passage, and those shown before it.
    pub(super) fn new(before: &'a [Record], records: &'a [Record]) -> Ground<'a> {
        let window: Vec<Record> = before.iter().chain(records).cloned().collect();
        let lines = records.iter().enumerate();
        let lines = lines.map(|(at, record)| Line::new(record, speech::addressee(&window, before.len() + at)));
        let mut ground = Ground {
            lines: lines.collect(),
            words: HashSet::new(),
            heads: HashSet::new(),
            stems: HashSet::new(),
            numbers: BTreeSet::new(),
            actors: before.iter().chain(records).map(|it| it.actor.as_str()).collect(),
            is_german: is_german(&records.iter().map(|it| format!("{} ", it.text)).collect::<String>()),
        };
        ground.actors.remove("");
        for record in before.iter().chain(records) {
            let said = content(record);
            ground.numbers.extend(numbers::all(&said));
            ground.numbers.extend(numbers::all(&record.actor));
            for word in lower_words(&format!("{} {said}", record.actor)) {
                ground.stems.insert(text::stem(&word));
                ground.heads.extend(head(&word));
                ground.words.insert(word);
            }
        }
        ground
    }

    /// Returns a line by its number, from 1.
    pub(super) fn line(&self, number: u64) -> Option<&Line<'a>> {
        let at = usize::try_from(number).ok()?.checked_sub(1)?;
        self.lines.get(at)
    }

    /// Returns the numbers of existing lines, in order and without duplicates.
    pub(super) fn existing(&self, numbers: &[u64]) -> Vec<u64> {
        let existing: BTreeSet<u64> = numbers.iter().copied().filter(|it| self.line(*it).is_some()).collect();
        existing.into_iter().collect()
    }

    /// Returns the existing lines of these numbers.
    pub(super) fn lines<'b>(&'b self, numbers: &'b [u64]) -> impl Iterator<Item = &'b Line<'a>> {
        numbers.iter().filter_map(|it| self.line(*it))
    }

    /// Returns true if a cited line contains the year of a span, so that nobody had to infer it.
    pub(super) fn has_year(&self, cited: &[u64], span: &TimeSpan) -> bool {
        let mut lines = self.lines(cited);
        lines.any(|line| {
            let year = span.start.with_timezone(line.record.observed_at.offset()).year();
            line.words.contains(&year.to_string())
        })
    }

    /// Returns the speaker or actor of this name, ignoring case; the displayed form of the name also matches.
    pub(super) fn actor(&self, name: &str) -> Option<&'a str> {
        let bare = name
            .strip_prefix("the ")
            .or_else(|| name.strip_prefix("The "))
            .unwrap_or(name);
        let is_called = |actor: &&&str| {
            [name, bare].iter().any(|it| it.eq_ignore_ascii_case(actor)) || text::shown_name(actor) == name
        };
        self.actors.iter().find(is_called).copied()
    }

    /// Returns true if at least one word of a name occurs in the passage in any form. Returns false for a name
    /// without words.
    pub(super) fn is_named(&self, name: &str) -> bool {
        lower_words(name).iter().any(|word| {
            let is_known = self.words.contains(word) || self.stems.contains(&text::stem(word));
            is_known || head(word).is_some_and(|it| self.heads.contains(&it))
        })
    }

    /// Returns true if a gist names someone or something that does not occur in the passage: one of `people`, or any
    /// other name. Dates and roles do not count as names. A single word that opens a sentence counts only if it is
    /// one of `people`. German capitalises all nouns, so in a German gist only two consecutive unknown words count as
    /// a name.
    pub(super) fn has_unknown_name(&self, gist: &str, people: &[String]) -> bool {
        let is_unknown_person = |it: &String| gist.contains(it.as_str()) && !self.is_named(it);
        if people.iter().any(is_unknown_person) {
            return true;
        }
        let is_unknown_word = |it: &&str| !is_date(it) && !self.is_named(it);
        let in_german = self.is_german || is_german(gist);
        let is_unknown = |name: &str| {
            let words = text::words(name);
            if in_german {
                return words.windows(2).any(|pair| pair.iter().all(is_unknown_word));
            }
            let counts = words.len() > 1 || !opens_sentence(gist, name);
            counts && words.iter().all(is_unknown_word) && text::role::role(name).is_none()
        };
        text::names(gist).into_iter().any(is_unknown)
    }

    /// Returns a number in a sentence that is neither in the passage nor part of one of the times, or none.
    pub(super) fn unknown_number(&self, sentence: &str, cited: &[u64], spans: &[TimeSpan]) -> Option<String> {
        let mut named: HashSet<String> = HashSet::new();
        for line in self.lines(cited) {
            let (offset, observed_at) = (*line.record.observed_at.offset(), line.record.observed_at.to_utc());
            let day = TimeSpan {
                precision: Precision::Day,
                ..TimeSpan::instant(observed_at)
            };
            for span in line.times.iter().chain(spans).chain([&day]) {
                named.extend(times::numbers_of(span, offset).iter().map(u32::to_string));
            }
        }
        let is_part_known = |part: &str| self.numbers.contains(part) || named.contains(part);
        let mut found = numbers::in_figures(sentence).into_iter();
        found.find(|it| !numbers::is_known(it, &is_part_known))
    }

    /// Returns true if at least half of the content words of a text occur in the passage in any form. Returns false
    /// for a text without content words.
    pub(super) fn holds(&self, text: &str) -> bool {
        let stems = text::stems(text);
        let known = stems.iter().filter(|it| self.stems.contains(*it)).count();
        !stems.is_empty() && 2 * known >= stems.len()
    }
}

impl<'a> Line<'a> {
    fn new(record: &'a Record, addressee: String) -> Line<'a> {
        let said = content(record);
        let words = lower_words(&said);
        let times = text::time::find(&said, record.observed_at);
        Line {
            record,
            addressee,
            stems: words.iter().map(|it| text::stem(it)).collect(),
            words,
            times: times.into_iter().map(|it| it.span).collect(),
        }
    }

    /// Returns true if the line contains these words, ignoring case and punctuation. The pieces of a quote with gaps
    /// ("...") must occur in order.
    pub(super) fn quotes(&self, quote: &str) -> bool {
        let quote = quote.replace('\u{2026}', "...");
        let pieces = quote.split("...").map(lower_words).filter(|it| !it.is_empty());
        let mut rest = Some(self.words.as_slice());
        let mut count = 0;
        for piece in pieces {
            count += 1;
            rest = rest.and_then(|rest| {
                let at = rest.windows(piece.len()).position(|it| it == piece)?;
                rest.get(at + piece.len()..)
            });
        }
        count > 0 && rest.is_some()
    }

    /// Returns true if all content words of a text occur in the line in any form. Returns false for a text without
    /// content words.
    pub(super) fn holds(&self, text: &str) -> bool {
        let stems = text::stems(text);
        !stems.is_empty() && stems.iter().all(|it| self.stems.contains(it))
    }
}

/// Returns the words of a text in lower case, without a final "'s".
fn lower_words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase().replace('\u{2019}', "'");
    let words = text::words(&lower).into_iter();
    words.map(|it| it.trim_end_matches("'s").to_owned()).collect()
}

fn head(word: &str) -> Option<String> {
    (word.chars().count() >= HEADED).then(|| word.chars().take(HEAD).collect())
}

/// Returns true if a sentence of a text begins with the name.
fn opens_sentence(text: &str, name: &str) -> bool {
    let begins = |sentence: &&str| {
        sentence
            .trim_start_matches(|it: char| !it.is_alphanumeric())
            .starts_with(name)
    };
    text::sentences(text).iter().any(begins)
}

/// Returns true if a word is the name of a month, a weekday, a season or another time.
fn is_date(word: &str) -> bool {
    let lower = word.to_lowercase();
    text::time::words::is_named(&lower) || !text::time::find(&lower, DateTime::UNIX_EPOCH.fixed_offset()).is_empty()
}

/// Returns true if a text is in German, judging by its function words.
fn is_german(text: &str) -> bool {
    text::gloss::replies(text) == ["Ja", "Nein"]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::example::talk;

    fn quotes(text: &str, quote: &str) -> bool {
        let records = talk(&[&format!("Ann: {text}")]);
        Ground::new(&[], &records).line(1).unwrap().quotes(quote)
    }

    #[test]
    fn a_quote_is_found_whatever_its_punctuation_and_case() {
        let text = "I don\u{2019}t eat meat \u{2013} \u{201c}never\u{201d} did, <b>really</b>.\nWell, fish once.";
        for quote in [
            "I don't eat meat",
            "meat - \"never\" did",
            "< b>really< /b>",
            "i don't ... never did ... fish once",
            "really</b>. Well, fish",
        ] {
            assert!(quotes(text, quote), "{quote}");
        }
        for quote in [
            "",
            "...",
            "I eat meat",
            "fish ... meat",
            "on't eat",
            "meat never did not",
        ] {
            assert!(!quotes(text, quote), "{quote}");
        }
    }

    #[test]
    fn a_name_is_known_if_one_of_its_words_occurs_in_any_form() {
        let records = talk(&["Ann: I flew to Sweden with Zoë Park, mel and the children."]);
        let ground = Ground::new(&[], &records);
        for name in ["ANN", "Zoë", "Ann's sister", "Swedish", "Mel", "Dr. Park"] {
            assert!(ground.is_named(name), "{name}");
        }
        for name in ["Tom", "Annika", "Norway", "", "!"] {
            assert!(!ground.is_named(name), "{name}");
        }
    }

    #[test]
    fn actors_are_found_by_their_displayed_names() {
        let records = talk(&["user: Hi.", "Ann: Hi."]);
        let ground = Ground::new(&[], &records);
        for (name, actor) in [
            ("The user", Some("user")),
            ("ann", Some("Ann")),
            ("Ann Park", None),
            ("", None),
        ] {
            assert_eq!(ground.actor(name), actor, "{name}");
        }
    }

    #[test]
    fn lines_are_numbered_from_one() {
        let records = talk(&["Ann: Hi.", "Tom: Hi."]);
        let ground = Ground::new(&[], &records);
        assert_eq!(ground.existing(&[2, 0, 3, 2, 1, u64::MAX]), [1, 2]);
        assert_eq!(ground.line(2).unwrap().record.actor, "Tom");
    }

    #[test]
    fn german_text_is_distinguished_from_english() {
        assert!(is_german(
            "Ich bin gestern nach Köln gezogen und habe jetzt eine neue Wohnung."
        ));
        assert!(!is_german("I moved to Cologne yesterday and have a new flat now."));
        assert!(!is_german(""));
    }
}
