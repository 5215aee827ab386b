//! Checks for hallucinations: whether the names, numbers and dates of an answer occur in the lines that it names, or
//! follow from them. The check calls no model. Undecidable parts count as grounded: the check finds invented details,
//! not wrong ones.

use std::collections::BTreeSet;

use chrono::{DateTime, Datelike, FixedOffset, TimeDelta};
use domain::evidence::PackItem;
use domain::time::{Precision, TimeSpan};
use text::gloss;
use text::time::{Mention, words::is_date};

use super::implied_counts::{count_listed_things, find_implied_numbers};
use super::prompt::split_header;
use crate::word_lists::OPENINGS;

/// Largest distance in days between a date of an answer and a time of its lines. Such a date may follow from words that
/// are not recognised as a time.
const NEAR_DAYS: i64 = 45;
/// Days of a day, a week, a month and a year, roughly.
const UNITS_IN_DAYS: [i64; 4] = [1, 7, 30, 365];
/// Largest number that is checked; a larger one counts as grounded.
const NUMBER_MAX: i64 = 1_000_000_000_000;
/// Numbers are counted in hundredths, so that prices add up exactly.
const ONE: i64 = 100;
/// Minimum number of bytes of a stem at which one different letter means another spelling and not another name.
const SPELLED: usize = 8;

/// The content from which an answer may be made.
pub(super) struct Evidence {
    /// Stems of all words.
    stems: BTreeSet<String>,
    /// Numbers that occur, and the years, months and days of all times, in hundredths.
    numbers: BTreeSet<i64>,
    /// The numbers of things that the lines name, imply or list.
    counts: Counts,
    /// The times at which the lines were said, and the times that they name.
    times: Vec<TimeSpan>,
    /// Number of lines, since an answer may count them.
    lines: i64,
}

impl Evidence {
    /// Returns the content of a question and of the lines that answer it.
    pub(super) fn from_lines(question: &str, cited: &[&PackItem]) -> Evidence {
        let mut evidence = Evidence {
            stems: BTreeSet::new(),
            numbers: BTreeSet::new(),
            counts: Counts::from_lines(question, cited),
            times: Vec::new(),
            lines: cited.len() as i64,
        };
        evidence.add_text(question);
        for item in cited {
            evidence.add_text(&item.text);
            evidence.add_text(&item.actor);
            evidence.times.push(TimeSpan::from_instant(item.observed_at.to_utc()));
            let times_in_text = text::time::find_times(&item.text, item.observed_at);
            evidence.times.extend(times_in_text.into_iter().map(|it| it.span));
        }
        let offset = cited.first().map(|it| *it.observed_at.offset());
        if let Some(offset) = offset {
            let days = evidence
                .times
                .iter()
                .flat_map(|it| [it.start, it.end - TimeDelta::seconds(1)]);
            let parts = days.flat_map(|it| {
                let day = it.with_timezone(&offset);
                [i64::from(day.year()), day.month().into(), day.day().into()]
            });
            evidence.numbers.extend(parts.map(|it| it * ONE));
        }
        evidence
    }

    fn add_text(&mut self, text: &str) {
        for word in text::split_words(text) {
            self.stems.insert(text::stem_word(&word.to_lowercase()));
        }
        self.numbers.extend(numbers_of_text(text));
    }

    /// Returns the first part of an answer, as written, that neither occurs in the lines nor follows from them.
    /// `asked_at` is the reference of relative times in the answer.
    pub(super) fn find_ungrounded_part<'a>(&self, answer: &'a str, asked_at: DateTime<FixedOffset>) -> Option<&'a str> {
        let dates = text::time::find_times(answer, asked_at);
        let date = dates
            .iter()
            .find(|it| !self.holds_time(it) && !self.holds_figures(&answer[it.range.clone()]))
            .map(|it| &answer[it.range.clone()]);
        let mut names = text::find_names(answer)
            .into_iter()
            .filter(|it| !stands_in(it, answer, &dates));
        date.or_else(|| self.lacks_number(answer, &dates))
            .or_else(|| self.lacks_spelled_number(answer, &dates))
            .or_else(|| names.find(|it| !self.holds_name(it)))
    }

    fn holds_time(&self, mention: &Mention) -> bool {
        let span = &mention.span;
        if mention.relative || span.precision == Precision::Unknown {
            return true;
        }
        let near = TimeDelta::days(NEAR_DAYS);
        let is_near = |it: &TimeSpan| it.start - near < span.end && span.start < it.end + near;
        self.times.iter().any(|it| it.overlaps(span) || is_near(it))
    }

    /// Returns true for a date in figures alone whose parts all occur, in any order. `03/05` is read as one day, but a
    /// model may mean the other one, since a user may ask for that form.
    fn holds_figures(&self, date: &str) -> bool {
        let mut figures = date.split(|it: char| !it.is_ascii_digit()).filter_map(parse_hundredths);
        !date.contains(char::is_alphabetic) && figures.all(|it| self.numbers.contains(&it))
    }

    /// Returns the first number outside of dates that does not follow: it does not occur, is no number of lines, and is
    /// no sum or difference of numbers that occur.
    fn lacks_number<'a>(&self, answer: &'a str, dates: &[Mention]) -> Option<&'a str> {
        let mut outside = find_numbers(answer).filter(|(digits, _)| !stands_in(digits, answer, dates));
        outside.find(|(_, number)| !self.holds_number(*number)).map(|it| it.0)
    }

    /// Returns the first number in English words, outside of dates, that does not follow from the lines.
    fn lacks_spelled_number<'a>(&self, answer: &'a str, dates: &[Mention]) -> Option<&'a str> {
        // The words for numbers may mean something else in other languages, such as "ten" in Dutch.
        if !self.counts.is_english || gloss::split_pieces(answer).is_some() {
            return None;
        }
        let numbers = text::find_spelled_numbers(answer).into_iter();
        let mut outside = numbers.filter(|it| !stands_in(it.words, answer, dates));
        outside.find(|it| !self.holds_count(it.value)).map(|it| it.words)
    }

    fn holds_number(&self, number: i64) -> bool {
        let integer = (number % ONE == 0).then_some(number / ONE);
        follows_from(&self.numbers, number) || integer.is_some_and(|it| it <= self.lines || self.is_length(it))
    }

    /// Returns true for a number of things that the lines name, imply or list.
    fn holds_count(&self, number: i64) -> bool {
        let counts = &self.counts;
        follows_from(&counts.named, number.saturating_mul(ONE))
            || counts.implied.contains(&number)
            || number <= counts.listed
            || self.is_length(number)
    }

    /// Returns true if a number is the number of days, weeks, months or years between two times.
    fn is_length(&self, number: i64) -> bool {
        let between = |a: &TimeSpan, b: &TimeSpan| (b.start - a.start).num_days();
        let lengths = self
            .times
            .iter()
            .flat_map(|a| self.times.iter().map(move |b| between(a, b)));
        let fits = |days: i64, unit: i64| (days - number.saturating_mul(unit)).abs() < unit.max(2);
        lengths
            .filter(|days| *days > 0)
            .any(|days| UNITS_IN_DAYS.iter().any(|unit| fits(days, *unit)))
    }

    fn holds_name(&self, name: &str) -> bool {
        let mut words = text::split_words(name).into_iter().map(str::to_lowercase);
        words.all(|it| {
            let is_plain = text::is_stop(&it) || is_date(&it) || OPENINGS.contains(it.as_str());
            // Numbers are compared by their values.
            let is_number = text::number_word(&it).is_some();
            is_plain || is_number || self.holds_word(&text::stem_word(&it))
        })
    }

    /// Returns true if a stem occurs, or another spelling of a long name ("Marakesh", "Marrakesh").
    fn holds_word(&self, stem: &str) -> bool {
        let is_spelling = |it: &String| it.len() >= SPELLED && strsim::osa_distance(it, stem) == 1;
        self.stems.contains(stem) || stem.len() >= SPELLED && self.stems.iter().any(is_spelling)
    }
}

/// The numbers of things in a question and in the lines that answer it. Days on which lines were said do not count.
struct Counts {
    /// Numbers that occur, in hundredths.
    named: BTreeSet<i64>,
    /// Numbers that other words imply: "a couple".
    implied: BTreeSet<i64>,
    /// Number of things that the lines may list.
    listed: i64,
    /// Whether question and lines are in English. Numbers in words of other languages are not known.
    is_english: bool,
}

impl Counts {
    fn from_lines(question: &str, cited: &[&PackItem]) -> Counts {
        let lines: Vec<String> = cited.iter().map(|it| split_header(it).1).collect();
        let texts = || std::iter::once(question).chain(lines.iter().map(String::as_str));
        let is_english = |it: &str| it.is_empty() || gloss::is_known(it) && gloss::split_pieces(it).is_none();
        // One line may list things, and each of the others may add one.
        let listed = lines.iter().map(|it| count_listed_things(it)).max().unwrap_or_default();
        Counts {
            named: texts().flat_map(numbers_of_text).collect(),
            implied: texts().flat_map(find_implied_numbers).collect(),
            listed: listed.max(1) + lines.len() as i64 - 1,
            is_english: texts().all(is_english),
        }
    }
}

/// Returns true if a number is one of the given numbers, or the sum or difference of two of them.
fn follows_from(numbers: &BTreeSet<i64>, number: i64) -> bool {
    let follows =
        |a: &i64| numbers.contains(&number.saturating_sub(*a)) || numbers.contains(&number.saturating_add(*a));
    numbers.contains(&number) || numbers.iter().any(follows)
}

/// Returns the numbers of a text, in figures and in words, in hundredths.
fn numbers_of_text(text: &str) -> Vec<i64> {
    let in_words = text::possible_spelled_values(text).into_iter().map(|it| it * ONE);
    in_words.chain(find_numbers(text).map(|it| it.1)).collect()
}

/// Returns true if a part of an answer begins inside one of the times in the answer.
fn stands_in(part: &str, answer: &str, times: &[Mention]) -> bool {
    let at = part.as_ptr() as usize - answer.as_ptr() as usize;
    times.iter().any(|it| it.range.contains(&at))
}

/// Returns the numbers that are written in figures, each as written and in hundredths. Groups of thousands are one
/// number, and so are figures with one or two decimals.
fn find_numbers(text: &str) -> impl Iterator<Item = (&str, i64)> {
    let runs = text.split(|it: char| !it.is_ascii_digit() && !matches!(it, ',' | '.'));
    runs.flat_map(|run| {
        let run = run.trim_matches(['.', ',']);
        let is_decimal = run.split_once('.').is_some_and(|it| matches!(it.1.len(), 1 | 2));
        let parts = if is_decimal {
            vec![run]
        } else {
            run.split('.').collect()
        };
        parts.into_iter().filter_map(|it| Some((it, parse_hundredths(it)?)))
    })
}

/// Returns the value of figures in hundredths. Returns `None` for text that is no number and for numbers above
/// [`NUMBER_MAX`].
fn parse_hundredths(figures: &str) -> Option<i64> {
    let (integer, rest) = figures.split_once('.').unwrap_or((figures, ""));
    let integer: i64 = integer.replace(',', "").parse().ok()?;
    let rest: i64 = format!("{rest:0<2}").parse().ok()?;
    (integer <= NUMBER_MAX).then_some(integer * ONE + rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::example::sample_item;

    fn ungrounded_part<'a>(answer: &'a str, lines: &[&str]) -> Option<&'a str> {
        let items: Vec<PackItem> = (1..).zip(lines).map(|(number, it)| sample_item(number, it)).collect();
        let cited: Vec<&PackItem> = items.iter().collect();
        let asked_at = "2026-04-01T12:00:00+02:00".parse().unwrap();
        Evidence::from_lines("What did Ann plant for Ben?", &cited).find_ungrounded_part(answer, asked_at)
    }

    #[test]
    fn details_that_occur_in_the_lines_or_follow_from_them_are_grounded() {
        for (answer, lines) in [
            ("Marzipan", ["My greyhound is called Marzipan.", ""]),
            ("She planted it for Ben in Malmö", ["I planted a fern in Malmö.", ""]),
            ("1 March 2026", ["I planted it yesterday.", ""]),
            ("01/03/2026", ["I planted it yesterday.", ""]),
            ("2025-12-05", ["I planted it on 5 December 2025.", ""]),
            ("05/12/2025", ["I planted it on 5 December 2025.", ""]),
            ("12/05/2025", ["I planted it on 5 December 2025.", ""]),
            ("1. März 2026", ["I planted it yesterday.", ""]),
            ("March 2026", ["I planted it last month, no, this one.", ""]),
            ("2 ferns", ["A tree fern.", "And a maidenhair fern."]),
            ("3 ferns", ["I have three ferns.", ""]),
            ("7 plants", ["I have four ferns.", "And 3 palms."]),
            ("1,200 euros", ["It cost 1200 euros.", ""]),
            ("5 years", ["I planted it in 2021.", ""]),
            ("21 days", ["I sowed it on 9 February 2026.", ""]),
            ("Yes, likely", ["I like ferns.", ""]),
            ("Last Tuesday", ["It was raining.", ""]),
            ("$23.98", ["The fern cost $15.99.", "And the pot was $7.99."]),
            ("$15.99 and 7.5 litres", ["It cost $15.99.", "It took 7.50 litres."]),
            (
                "1. First, a fern. 2. Next, a palm.",
                ["I planted a fern.", "And a palm."],
            ),
            ("In the UK (London)", ["I planted it in London, in the UK.", ""]),
            ("In Marrakesh", ["I planted it in Marakesh.", ""]),
            ("Ann has seven dogs", ["I have 7 dogs.", ""]),
            ("Seven, I think", ["I have 7 dogs.", ""]),
            ("twenty-five ferns", ["I have 25 ferns.", ""]),
            ("250 ferns", ["I have two hundred and fifty ferns.", ""]),
            ("seven pets", ["I have four dogs.", "And three cats."]),
            ("four pets", ["I have a cat, a dog, a fish and a rat.", ""]),
            ("four dogs", ["This is my fourth dog.", ""]),
            ("twelve eggs", ["I bought a dozen eggs.", ""]),
            ("nine million euros", ["It cost 9,000,000 euros.", ""]),
            ("one of them", ["I have dogs.", ""]),
            ("seven dogs", ["Tengo siete perros en casa.", ""]),
            ("five years", ["I planted it in 2021.", ""]),
        ] {
            assert_eq!(ungrounded_part(answer, &lines), None, "{answer}");
        }
    }

    #[test]
    fn details_that_neither_occur_nor_follow_are_reported() {
        for (answer, line, expected) in [
            ("a fern from Old Lisbon", "I planted a fern.", "Old Lisbon"),
            ("450 euros", "It cost 30 euros.", "450"),
            ("12 July 2019", "I planted it yesterday.", "12 July 2019"),
            ("12/07/2019", "I planted it yesterday.", "12/07/2019"),
            ("in 1987", "I planted it as a child.", "1987"),
            ("$15.98", "It cost $15.99.", "15.98"),
            ("for Johanna", "I planted it for Johann.", "Johanna"),
            ("Ann has three dogs", "I have two dogs.", "three"),
            ("Three, I think", "I have two dogs.", "Three"),
            ("twenty-six ferns", "I have twenty-five ferns.", "twenty-six"),
            ("nine pets", "I have a cat, a dog and a fish.", "nine"),
        ] {
            let found = ungrounded_part(answer, &[line, ""]);
            assert!(found.is_some_and(|it| it.contains(expected)), "{answer}: {found:?}");
        }
    }
}
