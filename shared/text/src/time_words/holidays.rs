//! English names of holidays and the rules for their days, read from `data/en/holidays.tsv`.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::LazyLock;

use chrono::Weekday;

use crate::lexicon::data_files::{self, File, data_file};

/// The holidays; names with more words come first.
pub(crate) static HOLIDAYS: LazyLock<Vec<Holiday>> =
    LazyLock::new(|| data_files::expect_valid_table(read_holidays(data_file!("en/holidays.tsv"))));

/// A name of a holiday and the rule for its day.
#[derive(Debug)]
pub(crate) struct Holiday {
    /// The words of the name, without "'s".
    pub(crate) words: Vec<&'static str>,
    pub(crate) rule: Rule,
}

/// How the day of a holiday in a year is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Kind `fixed`: month, day and number of days.
    Fixed(u32, u32, i64),
    /// Kind `nth`: month, which occurrence (0 is the last), and weekday (in the file, 0 is Monday).
    Nth(u32, u32, Weekday),
    /// Kind `easter`: days after Easter Sunday, and number of days.
    Easter(i64, i64),
    /// Kind `black-friday`: the Friday after Thanksgiving.
    BlackFriday,
}

impl Rule {
    /// Returns the rule of a kind and its value in the file; `None` if there is no such kind or no such value of it.
    fn parse(kind: &str, value: &str) -> Option<Rule> {
        let numbers: Result<Vec<i64>, _> = value.split(' ').map(str::parse).collect();
        let numbers = numbers.unwrap_or_default();
        let small = |number: i64| u32::try_from(number).ok();
        match (kind, numbers.as_slice()) {
            ("fixed", &[month, day, days]) => Some(Rule::Fixed(small(month)?, small(day)?, days)),
            ("nth", &[month, nth, weekday]) => {
                let weekday = Weekday::try_from(u8::try_from(weekday).ok()?).ok()?;
                Some(Rule::Nth(small(month)?, small(nth)?, weekday))
            }
            ("easter", &[offset, days]) => Some(Rule::Easter(offset, days)),
            ("black-friday", []) if value == "-" => Some(Rule::BlackFriday),
            _ => None,
        }
    }
}

fn read_holidays(file: File) -> Result<Vec<Holiday>, String> {
    let mut holidays = Vec::new();
    let mut met = HashMap::new();
    for row in data_files::read_rows(file, 3)? {
        let rule = Rule::parse(row.cells[0], row.cells[1]);
        let rule = rule.ok_or_else(|| row.locate_error("no such kind, or no such value of it"))?;
        for name in row.split_alternatives(2) {
            data_files::insert_unique(&mut met, name, (), &row)?;
            holidays.push(Holiday {
                words: name.split(' ').collect(),
                rule,
            });
        }
    }
    holidays.sort_by_key(|it| Reverse(it.words.len()));
    Ok(holidays)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_the_rules_of_their_rows() {
        for (name, rule) in [
            ("christmas eve", Rule::Fixed(12, 24, 1)),
            ("xmas", Rule::Fixed(12, 24, 3)),
            ("thanksgiving", Rule::Nth(11, 4, Weekday::Thu)),
            ("good friday", Rule::Easter(-2, 1)),
            ("black friday", Rule::BlackFriday),
        ] {
            let words: Vec<&str> = name.split(' ').collect();
            let found = HOLIDAYS.iter().find(|it| it.words == words);
            assert_eq!(found.map(|it| it.rule), Some(rule), "{name}");
        }
        assert!(HOLIDAYS.is_sorted_by_key(|it| Reverse(it.words.len())));
    }

    #[test]
    fn rows_with_errors_are_refused() {
        let unknown = "x.tsv:1: no such kind, or no such value of it";
        for (text, fault) in [
            ("fixd\t12 25 1\tchristmas\n", unknown),
            ("fixed\t12 25\tchristmas\n", unknown),
            ("fixed\t12 -25 1\tchristmas\n", unknown),
            ("nth\t11 4 7\tthanksgiving\n", unknown),
            ("black-friday\t1\tblack friday\n", unknown),
            (
                "easter\t0 1\teaster\neaster\t1 1\teaster\n",
                "x.tsv:2: \"easter\" is there already",
            ),
        ] {
            let read = read_holidays(File { path: "x.tsv", text });
            assert_eq!(read.err().as_deref(), Some(fault), "{text:?}");
        }
    }
}
