//! Words for times and numbers: a table from lower-case word to class, read from `data/LANGUAGE/time.tsv`.
//!
//! Numbers are read word by word, since the grammar combines them with units ("two and a half weeks") and other rules
//! ask for the value of one word. The crate `text2num` finds whole numbers in a text. It would read them a second time
//! and with other bounds, it has no Chinese, and it brings three crates and a macro.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::lexicon::data_files::{self, File, data_file};

/// Declares an enum whose variants have names in the files.
macro_rules! named {
    ($(#[$doc:meta])* $type:ident { $($(#[$variant_doc:meta])* $variant:ident = $name:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum $type { $($(#[$variant_doc])* $variant,)* }

        impl $type {
            /// Returns the variant with this name in the files.
            pub(crate) fn from_name(name: &str) -> Option<$type> {
                match name {
                    $($name => Some($type::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

named! {
    /// A unit of time that can be counted.
    Unit {
        Second = "second",
        Minute = "minute",
        Hour = "hour",
        Day = "day",
        Night = "night",
        Weekend = "weekend",
        Week = "week",
        Fortnight = "fortnight",
        Month = "month",
        Quarter = "quarter",
        Year = "year",
        Decade = "decade",
        Century = "century",
    }
}

named! {
    /// A part of a day.
    Part {
        Morning = "morning",
        Afternoon = "afternoon",
        Evening = "evening",
        Night = "night",
        /// Evening and night together.
        Tonight = "tonight",
    }
}

impl Part {
    /// Returns the first hour and the end hour after midnight; the night ends on the next day.
    pub(crate) fn hour_range(self) -> (i64, i64) {
        match self {
            Part::Morning => (0, 12),
            Part::Afternoon => (12, 18),
            Part::Evening => (17, 24),
            Part::Night => (18, 30),
            Part::Tonight => (17, 30),
        }
    }
}

named! {
    Season {
        Spring = "spring",
        Summer = "summer",
        Autumn = "autumn",
        Winter = "winter",
    }
}

named! {
    /// How surely a word names a time.
    Trust {
        /// Always.
        Plain = "plain",
        /// The word is also the name of a person or a short form: a number or a preposition must be next to it.
        Name = "name",
        /// The word is also a common word: it needs more evidence than a name does.
        Common = "common",
    }
}

/// The meaning of a token for the grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// A number written in digits, and how many digits.
    Digits(u32, usize),
    /// A number word below 100, or `hundred` and so on.
    Number(u32),
    /// "first", "5th".
    Ordinal(u32),
    Unit(Unit),
    /// 0 is Monday.
    Weekday(u32, Trust),
    Weekdays(u32),
    /// 1 is January.
    Month(u32, Trust),
    Season(Season, Trust),
    Part(Part),
    /// A day, counted from the reference.
    Relative(i64),
    /// A word that can begin or continue an expression of the grammar.
    Key,
    /// A word that begins an expression of another language.
    World,
    Mark(char),
    Other,
}

pub(crate) static ENGLISH: LazyLock<Words> =
    LazyLock::new(|| data_files::expect_valid_table(read_words(data_file!("en/time.tsv"))));

/// The contents of a file of words. Its kinds of rows:
///
/// - `unit`, `part`: a unit of time or a part of a day, by its name
/// - `season`: a season by its name, and how surely the word names it
/// - `month`, `weekday`: its number (1 is January, 0 is Monday), and how surely the word names it
/// - `weekdays`: the number of a weekday, for its plural
/// - `number`, `ordinal`: its value
/// - `near`: days from the reference
/// - `decade`: its two digits; the word may have another kind as well
/// - `implied`: the number of things that the word implies; the word may have another kind as well
/// - `key`: any other word that can begin or continue an expression
#[derive(Debug, Default)]
pub(crate) struct Words {
    pub(crate) classes: HashMap<&'static str, Class>,
    numbers: HashMap<&'static str, u16>,
    decades: HashMap<&'static str, u16>,
    implied_numbers: HashMap<&'static str, u16>,
}

/// Returns the value of a number that is one word in lower case; `None` for digits.
pub fn number_word(lower: &str) -> Option<f32> {
    ENGLISH.numbers.get(lower).copied().map(f32::from)
}

/// Returns the number of things that a word in lower case implies without naming it, such as "couple" and the "second"
/// of "my second dog".
pub fn implied_number(lower: &str) -> Option<u32> {
    if let Some(Class::Ordinal(value)) = ENGLISH.classes.get(lower) {
        return Some(*value);
    }
    ENGLISH.implied_numbers.get(lower).copied().map(u32::from)
}

/// Returns the two digits of a decade in one word, such as "twenties".
pub(crate) fn decade_word(lower: &str) -> Option<u16> {
    ENGLISH.decades.get(lower).copied()
}

fn read_words(file: File) -> Result<Words, String> {
    let mut words = Words::default();
    for row in data_files::read_rows(file, 3)? {
        let (value, trust) = row.cells[1].split_once(' ').unwrap_or((row.cells[1], ""));
        let number = || value.parse::<u16>().ok();
        let table_of_kind = match row.cells[0] {
            "decade" => Some(&mut words.decades),
            "implied" => Some(&mut words.implied_numbers),
            _ => None,
        };
        if let Some((table, value)) = table_of_kind.zip(number()) {
            let mut words_of_row = row.split_alternatives(2);
            words_of_row.try_for_each(|it| data_files::insert_unique(table, it, value, &row))?;
            continue;
        }
        let trust = || Trust::from_name(trust);
        let class = match row.cells[0] {
            "unit" => Unit::from_name(value).map(Class::Unit),
            "part" => Part::from_name(value).map(Class::Part),
            "season" => Season::from_name(value)
                .zip(trust())
                .map(|(season, trust)| Class::Season(season, trust)),
            "month" => number()
                .zip(trust())
                .map(|(month, trust)| Class::Month(month.into(), trust)),
            "weekday" => number()
                .zip(trust())
                .map(|(day, trust)| Class::Weekday(day.into(), trust)),
            "weekdays" => number().map(|it| Class::Weekdays(it.into())),
            "number" => number().map(|it| Class::Number(it.into())),
            "ordinal" => number().map(|it| Class::Ordinal(it.into())),
            "near" => value.parse().ok().map(Class::Relative),
            "key" => (value == "-").then_some(Class::Key),
            _ => None,
        };
        let class = class.ok_or_else(|| row.locate_error("no such kind, or no such value of it"))?;
        for word in row.split_alternatives(2) {
            if let Class::Number(value) = class {
                let value = u16::try_from(value).map_err(|_| row.locate_error("the number is too large"))?;
                data_files::insert_unique(&mut words.numbers, word, value, &row)?;
                // The grammar composes larger numbers itself.
                if value >= 100 {
                    continue;
                }
            }
            data_files::insert_unique(&mut words.classes, word, class, &row)?;
        }
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time_words::word_table::class_of_word;

    #[test]
    fn words_have_classes_and_english_has_precedence() {
        for (word, expected) in [
            ("june", Class::Month(6, Trust::Name)),
            ("juin", Class::Month(6, Trust::Name)),
            ("april", Class::Month(4, Trust::Name)),
            ("fourth", Class::Ordinal(4)),
            ("hundred", Class::Key),
            ("twenty", Class::Number(20)),
            ("ayer", Class::Relative(-1)),
            ("half", Class::Key),
            ("table", Class::Other),
        ] {
            assert_eq!(class_of_word(word), expected, "{word}");
        }
        assert_eq!(
            ["twelve", "thousand", "12"].map(number_word),
            [Some(12.0), Some(1000.0), None]
        );
        assert_eq!(
            ["couple", "third", "trio", "dozen", "three", "dog"].map(implied_number),
            [Some(2), Some(3), Some(3), Some(12), None, None]
        );
    }

    #[test]
    fn rows_with_errors_are_refused() {
        for (text, fault) in [
            (
                "mouth\t1 plain\tjanuary\n",
                "x.tsv:1: no such kind, or no such value of it",
            ),
            (
                "month\t1 plan\tjanuary\n",
                "x.tsv:1: no such kind, or no such value of it",
            ),
            ("unit\tdate\tday\n", "x.tsv:1: no such kind, or no such value of it"),
            (
                "implied\ttwo\tcouple\n",
                "x.tsv:1: no such kind, or no such value of it",
            ),
            ("unit\tday\tday\nkey\t-\tday\n", "x.tsv:2: \"day\" is there already"),
        ] {
            let read = read_words(File { path: "x.tsv", text });
            assert_eq!(read.err().as_deref(), Some(fault));
        }
    }
}
