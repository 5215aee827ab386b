//! Words for times in other languages, read from `data/LANGUAGE/time.tsv`.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::LazyLock;

use crate::lexicon::data_files::{self, File, Row, data_file};
use crate::time_words::lexicon::{Class, Part, Trust, Unit};

const FILES: [File; 9] = [
    data_file!("de/time.tsv"),
    data_file!("es/time.tsv"),
    data_file!("fr/time.tsv"),
    data_file!("it/time.tsv"),
    data_file!("ja/time.tsv"),
    data_file!("ko/time.tsv"),
    data_file!("nl/time.tsv"),
    data_file!("pt/time.tsv"),
    data_file!("zh/time.tsv"),
];

pub(crate) static WORLD: LazyLock<World> = LazyLock::new(|| data_files::expect_valid_table(read_foreign_words(&FILES)));

/// The contents of the files of all languages.
#[derive(Debug, Default)]
pub(crate) struct World {
    /// Kinds `opener` (begins a counted time or a clock time: "hace dos días", "vor zwei Tagen", "il y a deux jours"),
    /// `month` (1 is January), `weekday` (0 is Monday), `near` (days from the reference), `day-part` and
    /// `weekday-part`.
    pub(crate) classes: HashMap<&'static str, Class>,
    /// Kind `number`.
    pub(crate) numbers: HashMap<&'static str, u32>,
    /// Kind `unit`.
    pub(crate) units: HashMap<&'static str, Unit>,
    /// Kind `phrase`: two words without their article.
    pub(crate) phrases: HashMap<&'static str, Step>,
    /// Kinds `day-part` (days from the reference, then the part) and `weekday-part` (the weekday, then the part); each
    /// is one word.
    pub(crate) parts: HashMap<&'static str, DayPart>,
    /// Kind `close`: times such as "today" of scripts without spaces; longer ones first.
    pub(crate) close: Vec<(&'static str, Step)>,
    /// Kind `week`: words before a weekday in such scripts, with the weeks from the week of the reference; longer ones
    /// first.
    pub(crate) weeks: Vec<(&'static str, i64)>,
    /// Kind `weekday-noun`: words before the sign of a weekday in such scripts.
    pub(crate) weekday_nouns: Vec<&'static str>,
    /// Kind `date-sign`: signs after the figures of a date in such scripts, with their unit.
    pub(crate) date_signs: Vec<(&'static str, Unit)>,
    /// Kind `clock-part`: parts of a day after a time of the clock, such as "abends".
    pub(crate) clock_parts: HashMap<&'static str, Part>,
}

/// A number of units from the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) unit: Unit,
    pub(crate) count: i64,
}

/// A part of a day: of a day relative to the reference, or of a weekday.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DayPart {
    Near(i64, Part),
    Weekday(u32, Part),
}

fn read_foreign_words(files: &[File]) -> Result<World, String> {
    let mut world = World::default();
    for file in files {
        for row in data_files::read_rows(*file, 3)? {
            for word in row.split_alternatives(2) {
                let wrong = || row.locate_error("no such kind, or no such value of it");
                world.add_word(&row, word).ok_or_else(wrong)??;
            }
        }
    }
    world.close.sort_by_key(|it| Reverse(it.0.len()));
    world.weeks.sort_by_key(|it| Reverse(it.0.len()));
    Ok(world)
}

impl World {
    /// Adds a word of a row; returns `None` if the kind of the row or its value is unknown.
    fn add_word(&mut self, row: &Row, word: &'static str) -> Option<Result<(), String>> {
        let value = row.cells[1];
        let (first, second) = value.split_once(' ').unwrap_or((value, ""));
        let step = || {
            let (unit, count) = Unit::from_name(first).zip(second.parse().ok())?;
            Some(Step { unit, count })
        };
        let part = || Part::from_name(second);
        Some(match row.cells[0] {
            "opener" if value == "-" => self.insert_class(row, word, Class::World),
            "month" => self.insert_class(row, word, Class::Month(value.parse().ok()?, Trust::Name)),
            "weekday" => self.insert_class(row, word, Class::Weekday(value.parse().ok()?, Trust::Plain)),
            "near" => self.insert_class(row, word, Class::Relative(value.parse().ok()?)),
            "number" => insert_unless_conflicting(&mut self.numbers, word, value.parse().ok()?, row),
            "unit" => insert_unless_conflicting(&mut self.units, word, Unit::from_name(value)?, row),
            "phrase" if word.split(' ').count() == 2 => {
                insert_unless_conflicting(&mut self.phrases, word, step()?, row)
            }
            "day-part" => {
                let part = DayPart::Near(first.parse().ok()?, part()?);
                insert_unless_conflicting(&mut self.parts, word, part, row)
                    .and_then(|()| self.insert_class(row, word, Class::World))
            }
            "weekday-part" => {
                let part = DayPart::Weekday(first.parse().ok()?, part()?);
                insert_unless_conflicting(&mut self.parts, word, part, row)
                    .and_then(|()| self.insert_class(row, word, Class::World))
            }
            "close" => {
                self.close.push((word, step()?));
                Ok(())
            }
            "week" => {
                self.weeks.push((word, value.parse().ok()?));
                Ok(())
            }
            "weekday-noun" if value == "-" => {
                self.weekday_nouns.push(word);
                Ok(())
            }
            "date-sign" => {
                self.date_signs.push((word, Unit::from_name(value)?));
                Ok(())
            }
            "clock-part" => insert_unless_conflicting(&mut self.clock_parts, word, Part::from_name(value)?, row),
            _ => return None,
        })
    }

    fn insert_class(&mut self, row: &Row, word: &'static str, class: Class) -> Result<(), String> {
        insert_unless_conflicting(&mut self.classes, word, class, row)
    }
}

/// Inserts a word into a table; fails if the word is there with another meaning.
fn insert_unless_conflicting<T: PartialEq>(
    table: &mut HashMap<&'static str, T>,
    word: &'static str,
    value: T,
    row: &Row,
) -> Result<(), String> {
    match table.get(word) {
        Some(known) if *known != value => Err(row.locate_error(&format!("\"{word}\" means something else already"))),
        _ => {
            table.insert(word, value);
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_mean_the_same_in_all_languages_that_have_them() {
        assert_eq!(WORLD.numbers["seis"], 6);
        assert_eq!(WORLD.units["semana"], Unit::Week);
        assert_eq!(WORLD.classes["montag"], Class::Weekday(0, Trust::Plain));
        let next_week = Step {
            unit: Unit::Week,
            count: 1,
        };
        assert_eq!(WORLD.phrases["próxima semana"], next_week);
        assert_eq!(WORLD.parts["vrijdagavond"], DayPart::Weekday(4, Part::Evening));
        assert_eq!(WORLD.clock_parts["abends"], Part::Evening);
        assert_eq!(WORLD.clock_parts["morgens"], Part::Morning);
        assert!(WORLD.date_signs.contains(&("년", Unit::Year)));
        assert!(WORLD.weekday_nouns.contains(&"星期"));
        let at = |name: &str| WORLD.close.iter().position(|it| it.0 == name);
        assert!(at("上周末") < at("上周"));
    }

    #[test]
    fn rows_with_errors_are_refused() {
        for (text, fault) in [
            (
                "clock-part\tdusk\tabends\n",
                "x.tsv:1: no such kind, or no such value of it",
            ),
            ("mouth\t1\tmai\n", "x.tsv:1: no such kind, or no such value of it"),
            (
                "phrase\tweek one\tnext week\n",
                "x.tsv:1: no such kind, or no such value of it",
            ),
            (
                "phrase\tweek 1\tweek\n",
                "x.tsv:1: no such kind, or no such value of it",
            ),
            (
                "month\t3\tmai\nmonth\t5\tmai\n",
                "x.tsv:2: \"mai\" means something else already",
            ),
        ] {
            let read = read_foreign_words(&[File { path: "x.tsv", text }]);
            assert_eq!(read.err().as_deref(), Some(fault));
        }
    }
}
