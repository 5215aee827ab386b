//! Words of time: one table from lower-case word to class.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::world;

/// A unit of time that can be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Second,
    Minute,
    Hour,
    Day,
    Night,
    Weekend,
    Week,
    Fortnight,
    Month,
    Quarter,
    Year,
    Decade,
    Century,
}

/// A part of a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Morning,
    Afternoon,
    Evening,
    Night,
    /// Evening and night together.
    Tonight,
}

impl Part {
    /// Hours after midnight, from and to; the night ends on the next day.
    pub(super) fn hours(self) -> (i64, i64) {
        match self {
            Part::Morning => (0, 12),
            Part::Afternoon => (12, 18),
            Part::Evening => (17, 24),
            Part::Night => (18, 30),
            Part::Tonight => (17, 30),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Season {
    Spring,
    Summer,
    Autumn,
    Winter,
}

/// How far a word may be trusted to speak of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// Always.
    Plain,
    /// Also a person's name or a short form: needs a number or a preposition beside it.
    Name,
    /// Also a common word: needs more.
    Common,
}

/// The meaning of a token for the grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
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
    /// Days from the reference.
    Relative(i64),
    /// A word that can open or carry an expression in the grammar.
    Key,
    /// A word that opens an expression of another language.
    World,
    Mark(char),
    Other,
}

pub(super) fn class(word: &str) -> Class {
    WORDS.get(word).copied().unwrap_or(Class::Other)
}

static WORDS: LazyLock<HashMap<&'static str, Class>> = LazyLock::new(|| {
    let mut words = HashMap::new();
    world::words(&mut words);
    words.extend(UNITS.iter().flat_map(|(names, unit)| each(names, Class::Unit(*unit))));
    words.extend(PARTS.iter().flat_map(|(names, part)| each(names, Class::Part(*part))));
    words.extend(
        SEASONS
            .iter()
            .flat_map(|(names, s, trust)| each(names, Class::Season(*s, *trust))),
    );
    words.extend(
        MONTHS
            .iter()
            .flat_map(|(names, n, trust)| each(names, Class::Month(*n, *trust))),
    );
    words.extend(each(KEYS, Class::Key));
    for (day, (name, names, short)) in (0..).zip(WEEKDAYS) {
        words.insert(*name, Class::Weekday(day, Trust::Plain));
        words.insert(*names, Class::Weekdays(day));
        let trust = if day >= 5 { Trust::Common } else { Trust::Name };
        words.extend(each(short, Class::Weekday(day, trust)));
    }
    for (number, name) in (0..).zip(NUMBERS.split(' ')) {
        words.insert(name, Class::Number(number));
    }
    for (tens, name) in (2..).zip(TENS.split(' ')) {
        words.insert(name, Class::Number(tens * 10));
    }
    for (nth, name) in (1..).zip(ORDINALS.split(' ')) {
        words.insert(name, Class::Ordinal(nth));
    }
    words.extend([
        ("yesterday", Class::Relative(-1)),
        ("today", Class::Relative(0)),
        ("tomorrow", Class::Relative(1)),
    ]);
    words.extend([
        ("yday", Class::Relative(-1)),
        ("tmrw", Class::Relative(1)),
        ("tmr", Class::Relative(1)),
    ]);
    words
});

fn each(names: &'static str, class: Class) -> impl Iterator<Item = (&'static str, Class)> {
    names.split(' ').map(move |name| (name, class))
}

const NUMBERS: &str = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen \
                       sixteen seventeen eighteen nineteen";
const TENS: &str = "twenty thirty forty fifty sixty seventy eighty ninety";
const ORDINALS: &str = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth \
                        fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth";

const UNITS: &[(&str, Unit)] = &[
    ("seconds sec secs", Unit::Second),
    ("minute minutes min mins", Unit::Minute),
    ("hour hours hr hrs", Unit::Hour),
    ("day days", Unit::Day),
    ("nights", Unit::Night),
    ("weekend weekends", Unit::Weekend),
    ("week weeks wk wks", Unit::Week),
    ("fortnight fortnights", Unit::Fortnight),
    ("month months", Unit::Month),
    ("quarter quarters", Unit::Quarter),
    ("year years yr yrs", Unit::Year),
    ("decade decades", Unit::Decade),
    ("century centuries", Unit::Century),
];

const PARTS: &[(&str, Part)] = &[
    ("morning", Part::Morning),
    ("afternoon", Part::Afternoon),
    ("evening", Part::Evening),
    ("night", Part::Night),
    ("tonight tonite", Part::Tonight),
];

const SEASONS: &[(&str, Season, Trust)] = &[
    ("summer summers summertime", Season::Summer, Trust::Plain),
    ("winter winters wintertime", Season::Winter, Trust::Plain),
    ("autumn autumns", Season::Autumn, Trust::Plain),
    ("fall", Season::Autumn, Trust::Common),
    ("spring springtime", Season::Spring, Trust::Common),
];

const MONTHS: &[(&str, u32, Trust)] = &[
    ("january", 1, Trust::Plain),
    ("february", 2, Trust::Plain),
    ("march", 3, Trust::Common),
    ("april", 4, Trust::Name),
    ("may", 5, Trust::Common),
    ("june", 6, Trust::Name),
    ("july", 7, Trust::Plain),
    ("august", 8, Trust::Name),
    ("september", 9, Trust::Plain),
    ("october", 10, Trust::Plain),
    ("november", 11, Trust::Plain),
    ("december", 12, Trust::Plain),
    ("jan", 1, Trust::Name),
    ("feb", 2, Trust::Name),
    ("mar", 3, Trust::Common),
    ("apr", 4, Trust::Name),
    ("jun", 6, Trust::Name),
    ("jul", 7, Trust::Name),
    ("aug", 8, Trust::Name),
    ("sep sept", 9, Trust::Name),
    ("oct", 10, Trust::Name),
    ("nov", 11, Trust::Name),
    ("dec", 12, Trust::Name),
];

const WEEKDAYS: &[(&str, &str, &str)] = &[
    ("monday", "mondays", "mon"),
    ("tuesday", "tuesdays", "tue tues"),
    ("wednesday", "wednesdays", "wed weds"),
    ("thursday", "thursdays", "thu thur thurs"),
    ("friday", "fridays", "fri"),
    ("saturday", "saturdays", "sat"),
    ("sunday", "sundays", "sun"),
];

/// Words the grammar can start from besides those of the other tables.
const KEYS: &str = "a an the this last past previous next coming upcoming following that in within from between since \
                    half few several couple early late mid earlier later beginning start end middle recently lately \
                    soon someday sometime ages long at around by noon midnight midday some two-thirds \
                    christmas xmas easter halloween thanksgiving new valentine mother father memorial labor labour \
                    independence boxing st saint good black fourth once back every each until till during about nineties eighties \
                    seventies sixties fifties twenties on q hundred dozen";

/// Names of months cut short, which a full stop may follow.
pub(super) const SHORT_MONTHS: &[&str] = &[
    "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec",
];

/// Nouns that a figure like 2000 counts.
pub(super) const COUNTED: &[&str] = &[
    "people",
    "persons",
    "miles",
    "km",
    "meters",
    "metres",
    "feet",
    "words",
    "steps",
    "dollars",
    "euros",
    "pounds",
    "calories",
    "pieces",
    "points",
    "items",
    "followers",
    "users",
    "copies",
    "pages",
    "square",
    "sq",
    "kg",
    "grams",
    "kilometers",
    "kilometres",
    "times",
    "customers",
    "students",
    "books",
    "units",
    "mg",
    "ml",
    "bucks",
    "lines",
];
