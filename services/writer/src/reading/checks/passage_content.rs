//! The content of a passage against which a language model's statements are checked: its words, names, numbers and
//! times.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use chrono::DateTime;
use domain::record::Record;
use domain::time::{Precision, TimeSpan};
use text::time::Mention;

use crate::reading::checks::{numbers, times};
use crate::reading::lines::record_content;
use crate::units::speech;

/// Number of first letters that the forms of a name share ("Sweden", "Swedish"), and minimum length of a word for
/// which they count (`HEADED`).
const HEAD: usize = 4;
const HEADED: usize = 5;

/// The content of a passage, prepared for checks.
pub(crate) struct Ground<'a> {
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
pub(crate) struct Line<'a> {
    /// The record of the line.
    pub(crate) record: &'a Record,
    /// The addressee, or an empty text if unknown.
    pub(crate) addressee: String,
    /// The text that the model is shown of the record.
    content: String,
    /// Words of the line in order, in lower case.
    words: Vec<String>,
    /// The stems of its words.
    stems: HashSet<String>,
    /// The times that the rules read from the line.
    pub(crate) times: Vec<Mention>,
}

impl<'a> Ground<'a> {
    /// Prepares the records of a passage, and those shown before it.
    pub(crate) fn new(before: &'a [Record], records: &'a [Record]) -> Ground<'a> {
        let window: Vec<Record> = before.iter().chain(records).cloned().collect();
        let lines = records.iter().enumerate();
        let lines = lines.map(|(at, record)| Line::new(record, speech::find_addressee(&window, before.len() + at)));
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
            let content = record_content(record);
            ground.numbers.extend(numbers::find_all_numbers(&content));
            ground.numbers.extend(numbers::find_all_numbers(&record.actor));
            for word in lower_words(&format!("{} {content}", record.actor)) {
                ground.stems.insert(text::stem_word(&word));
                ground.heads.extend(first_letters(&word));
                ground.words.insert(word);
            }
        }
        ground
    }

    /// Returns a line by its number, from 1.
    pub(crate) fn find_line(&self, number: u64) -> Option<&Line<'a>> {
        let at = usize::try_from(number).ok()?.checked_sub(1)?;
        self.lines.get(at)
    }

    /// Returns the numbers of existing lines, in order and without duplicates.
    pub(crate) fn existing_line_numbers(&self, numbers: &[u64]) -> Vec<u64> {
        let existing: BTreeSet<u64> = numbers
            .iter()
            .copied()
            .filter(|it| self.find_line(*it).is_some())
            .collect();
        existing.into_iter().collect()
    }

    /// Returns the existing lines of these numbers.
    pub(crate) fn find_lines<'b>(&'b self, numbers: &'b [u64]) -> impl Iterator<Item = &'b Line<'a>> {
        numbers.iter().filter_map(|it| self.find_line(*it))
    }

    /// Returns the speaker or actor of this name, ignoring case; the displayed form of the name also matches.
    pub(crate) fn find_actor(&self, name: &str) -> Option<&'a str> {
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
    pub(crate) fn is_named(&self, name: &str) -> bool {
        lower_words(name).iter().any(|word| {
            let is_known = self.words.contains(word) || self.stems.contains(&text::stem_word(word));
            is_known || first_letters(word).is_some_and(|it| self.heads.contains(&it))
        })
    }

    /// Returns true if a gist names someone or something that does not occur in the passage: one of `people`, or any
    /// other name. Dates and roles do not count as names. A single word that opens a sentence counts only if it is
    /// one of `people`. German capitalises all nouns, so in a German gist only two consecutive unknown words count as
    /// a name.
    pub(crate) fn has_unknown_name(&self, gist: &str, people: &[String]) -> bool {
        let is_unknown_person = |it: &String| gist.contains(it.as_str()) && !self.is_named(it);
        if people.iter().any(is_unknown_person) {
            return true;
        }
        let is_unknown_word = |it: &&str| !is_date(it) && !self.is_named(it);
        let in_german = self.is_german || is_german(gist);
        let is_unknown = |name: &str| {
            let words = text::split_words(name);
            if in_german {
                return words.windows(2).any(|pair| pair.iter().all(is_unknown_word));
            }
            let counts = words.len() > 1 || !opens_sentence(gist, name);
            counts && words.iter().all(is_unknown_word) && text::people::role::role_of_speaker(name).is_none()
        };
        text::find_names(gist).into_iter().any(is_unknown)
    }

    /// Returns a number in a sentence that is neither in the passage nor part of one of the times, or none.
    pub(crate) fn unknown_number(&self, sentence: &str, cited: &[u64], spans: &[TimeSpan]) -> Option<String> {
        let mut numbers_of_times: HashSet<String> = HashSet::new();
        for line in self.find_lines(cited) {
            let (offset, observed_at) = (*line.record.observed_at.offset(), line.record.observed_at.to_utc());
            let day = TimeSpan {
                precision: Precision::Day,
                ..TimeSpan::from_instant(observed_at)
            };
            for span in line.times.iter().map(|it| &it.span).chain(spans).chain([&day]) {
                numbers_of_times.extend(times::numbers_of(span, offset).iter().map(u32::to_string));
            }
        }
        let is_part_known = |part: &str| self.numbers.contains(part) || numbers_of_times.contains(part);
        let mut found = numbers::in_figures(sentence).into_iter();
        found.find(|it| !numbers::is_known(it, &is_part_known))
    }

    /// Returns true if at least half of the content words of a text occur in the passage in any form. Returns false
    /// for a text without content words.
    pub(crate) fn holds_half_of(&self, text: &str) -> bool {
        let stems = text::stem_words(text);
        let known = stems.iter().filter(|it| self.stems.contains(*it)).count();
        !stems.is_empty() && 2 * known >= stems.len()
    }
}

impl<'a> Line<'a> {
    fn new(record: &'a Record, addressee: String) -> Line<'a> {
        let content = record_content(record);
        let words = lower_words(&content);
        let times = text::time::find_times(&content, record.observed_at);
        Line {
            record,
            addressee,
            stems: words.iter().map(|it| text::stem_word(it)).collect(),
            content,
            words,
            times,
        }
    }

    /// Returns the byte ranges in the text of the line of the sentences from which the words of a quote come.
    pub(crate) fn quoted_sentences(&self, quote: &str) -> Vec<Range<usize>> {
        let pieces: Vec<Vec<String>> = split_quote(quote).collect();
        let contains =
            |all: &[String], some: &[String]| !some.is_empty() && all.windows(some.len()).any(|it| it == some);
        let sentences = text::split_sentences(&self.content).into_iter().filter(|sentence| {
            let words = lower_words(sentence);
            pieces.iter().any(|it| contains(&words, it) || contains(it, &words))
        });
        let start = |it: &str| it.as_ptr() as usize - self.content.as_ptr() as usize;
        sentences.map(|it| start(it)..start(it) + it.len()).collect()
    }

    /// Returns the sentences from which the words of a quote come, or the quote itself if it is in none.
    pub(crate) fn text_around_quote(&self, quote: &str) -> String {
        let sentences = self.quoted_sentences(quote);
        let texts: Vec<&str> = sentences.into_iter().map(|it| &self.content[it]).collect();
        match texts.is_empty() {
            true => quote.to_owned(),
            false => texts.join(" "),
        }
    }

    /// Returns true if the line contains these words, ignoring case and punctuation. The pieces of a quote with gaps
    /// ("...") must occur in order.
    pub(crate) fn contains_quote(&self, quote: &str) -> bool {
        let mut rest = Some(self.words.as_slice());
        let mut count = 0;
        for piece in split_quote(quote) {
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
    pub(crate) fn holds_all_of(&self, text: &str) -> bool {
        let stems = text::stem_words(text);
        !stems.is_empty() && stems.iter().all(|it| self.stems.contains(it))
    }
}

/// Returns the words of each piece of a quote with gaps ("..."), in lower case.
fn split_quote(quote: &str) -> impl Iterator<Item = Vec<String>> {
    let quote = quote.replace('\u{2026}', "...");
    let pieces: Vec<Vec<String>> = quote.split("...").map(lower_words).collect();
    pieces.into_iter().filter(|it| !it.is_empty())
}

/// Returns the words of a text in lower case, without a final "'s".
fn lower_words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase().replace('\u{2019}', "'");
    let words = text::split_words(&lower).into_iter();
    words.map(|it| it.trim_end_matches("'s").to_owned()).collect()
}

fn first_letters(word: &str) -> Option<String> {
    (word.chars().count() >= HEADED).then(|| word.chars().take(HEAD).collect())
}

/// Returns true if a sentence of a text begins with the name.
fn opens_sentence(text: &str, name: &str) -> bool {
    let begins = |sentence: &&str| {
        sentence
            .trim_start_matches(|it: char| !it.is_alphanumeric())
            .starts_with(name)
    };
    text::split_sentences(text).iter().any(begins)
}

/// Returns true if a word is the name of a month, a weekday, a season or another time.
fn is_date(word: &str) -> bool {
    let lower = word.to_lowercase();
    text::time::words::is_named(&lower)
        || !text::time::find_times(&lower, DateTime::UNIX_EPOCH.fixed_offset()).is_empty()
}

/// Returns true if a text is in German, judging by its function words.
fn is_german(text: &str) -> bool {
    text::gloss::yes_and_no(text) == ["Ja", "Nein"]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::example::records_of_talk;

    fn is_quote_found(text: &str, quote: &str) -> bool {
        let records = records_of_talk(&[&format!("Ann: {text}")]);
        Ground::new(&[], &records).find_line(1).unwrap().contains_quote(quote)
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
            assert!(is_quote_found(text, quote), "{quote}");
        }
        for quote in [
            "",
            "...",
            "I eat meat",
            "fish ... meat",
            "on't eat",
            "meat never did not",
        ] {
            assert!(!is_quote_found(text, quote), "{quote}");
        }
    }

    #[test]
    fn a_quote_is_returned_with_its_sentences() {
        let records = records_of_talk(&["Ann: Hi Tom! We have 40 servers. I look after them, and they hum. Bye!"]);
        let ground = Ground::new(&[], &records);
        let around = |quote: &str| ground.find_line(1).unwrap().text_around_quote(quote);
        assert_eq!(around("40 servers"), "We have 40 servers.");
        assert_eq!(
            around("40 servers ... they hum"),
            "We have 40 servers. I look after them, and they hum."
        );
        assert_eq!(
            around("have 40 servers. I look"),
            "have 40 servers. I look",
            "no sentence has all of it"
        );
        assert_eq!(around("Hi Tom! We have 40 servers."), "Hi Tom! We have 40 servers.");
    }

    #[test]
    fn a_name_is_known_if_one_of_its_words_occurs_in_any_form() {
        let records = records_of_talk(&["Ann: I flew to Sweden with Zoë Park, mel and the children."]);
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
        let records = records_of_talk(&["user: Hi.", "Ann: Hi."]);
        let ground = Ground::new(&[], &records);
        for (name, actor) in [
            ("The user", Some("user")),
            ("ann", Some("Ann")),
            ("Ann Park", None),
            ("", None),
        ] {
            assert_eq!(ground.find_actor(name), actor, "{name}");
        }
    }

    #[test]
    fn lines_are_numbered_from_one() {
        let records = records_of_talk(&["Ann: Hi.", "Tom: Hi."]);
        let ground = Ground::new(&[], &records);
        assert_eq!(ground.existing_line_numbers(&[2, 0, 3, 2, 1, u64::MAX]), [1, 2]);
        assert_eq!(ground.find_line(2).unwrap().record.actor, "Tom");
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
