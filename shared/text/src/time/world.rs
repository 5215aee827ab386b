//! Times in other languages: dates, weekdays, and words such as "tomorrow".

use super::calendar::{Found, add_days, add_months, first_of_month};
use super::lexicon::{Class, Unit};
use super::parser::{Amount, Parser, Read};
use super::relative::unit_around;
use super::token::Tense;
use super::world_words::{DayPart, WORLD};
use crate::lexicon::{Class as WordClass, is};

impl Parser<'_> {
    /// Reads the expressions of other languages that are longer than single words.
    pub(super) fn world(&self, i: usize) -> Read {
        match self.class(i) {
            Class::World => self
                .phrased(i)
                .or_else(|| self.world_ago(i))
                .or_else(|| self.french_day(i))
                .or_else(|| self.day_part(i)),
            Class::Digits(..) => self.signed_date(i).or_else(|| self.world_ago(i)),
            Class::Mark(mark) if !mark.is_ascii() => self.close(i),
            _ => None,
        }
    }

    /// Returns the tense of a weekday from a word next to it: "letzten Montag", "el lunes pasado", "lundi prochain".
    pub(super) fn world_step(&self, i: usize) -> Option<Tense> {
        let beside = |class: WordClass| is(self.before(i), class) || is(self.word(i + 1), class);
        if beside(WordClass::LastWeekday) {
            Some(Tense::Past)
        } else {
            beside(WordClass::NextWeekday).then_some(Tense::Future)
        }
    }

    fn phrased(&self, i: usize) -> Read {
        let step = WORLD
            .phrases
            .get(format!("{} {}", self.word(i), self.word(i + 1)).as_str())?;
        self.stepped(step.unit, step.count).map(|found| (i + 2, found))
    }

    pub(super) fn stepped(&self, unit: Unit, step: i64) -> Option<Found> {
        let day = match unit {
            Unit::Day => add_days(self.today, step),
            Unit::Week | Unit::Weekend => add_days(self.today, 7 * step),
            Unit::Month => add_months(first_of_month(self.today), step),
            _ => add_months(first_of_month(self.today), 12 * step),
        };
        unit_around(day, unit)
    }

    /// Reads "hace dos días", "vor 3 Wochen", "il y a un an", "due giorni fa".
    fn world_ago(&self, i: usize) -> Read {
        let ahead = match (self.word(i), self.word(i + 1), self.word(i + 2)) {
            ("hace" | "vor" | "há", ..) => Some(i + 1),
            ("il", "y", "a") => Some(i + 3),
            _ => None,
        };
        let start = ahead.unwrap_or(i);
        let few = self
            .phrase(start, &["een", "paar"])
            .or_else(|| self.phrase(start, &["enkele"]));
        let (unit_at, amount) = match few {
            Some(end) => (end, Amount::rough(2, 5)),
            None => self
                .world_number(start)
                .map(|(end, count)| (end, Amount::exact(count)))?,
        };
        let unit = WORLD.units.get(self.word(unit_at))?;
        let (end, side) = match ahead {
            Some(_) => (unit_at + 1, -1),
            None if self.is(unit_at + 1, &["fa", "atrás", "geleden"]) => (unit_at + 2, -1),
            // Dutch "over twee weken" is "in two weeks"; English "over two weeks" is not.
            None if self.before(i) == "over" && self.speaks_dutch() => (unit_at + 1, 1),
            None => return None,
        };
        Some((end, self.offset(amount, *unit, side, self.now)))
    }

    /// Reads a number up to twelve in a word of another language, or a number in digits.
    pub(super) fn world_number(&self, i: usize) -> Option<(usize, u32)> {
        if let Class::Digits(..) = self.class(i) {
            // "19.30 uur" is a clock time, although digits follow the point.
            let clock = self.is(i + 1, &["."]) && self.is(i + 3, &["uur", "uhr"]);
            return match self.class(i) {
                Class::Digits(value, _) if clock => Some((i + 1, value)),
                _ => self.digits(i).map(|(value, _)| (i + 1, value)),
            };
        }
        Some((i + 1, *WORLD.numbers.get(self.word(i))?))
    }

    /// Reads "vanavond", "gisteravond", "vrijdagavond".
    fn day_part(&self, i: usize) -> Read {
        let found = match *WORLD.parts.get(self.word(i))? {
            DayPart::Near(days, part) => Found::part(add_days(self.today, days), part),
            DayPart::Weekday(day, part) => Found::part(self.weekday_near(i, day), part),
        };
        Some((i + 1, found))
    }

    /// Reads "aujourd'hui", "avant-hier", "après-demain".
    fn french_day(&self, i: usize) -> Read {
        let step = match (self.word(i), self.word(i + 1), self.word(i + 2)) {
            ("aujourd", "'hui" | "’hui", _) => return Some((i + 2, Found::day(self.today))),
            ("avant", "-", "hier") => -2,
            ("après", "-", "demain") => 2,
            _ => return None,
        };
        Some((i + 3, Found::day(add_days(self.today, step))))
    }

    /// Returns true if a word for a near day has that meaning in the language of the text: "hier" is "here" in German,
    /// and "la mañana" is the morning.
    pub(super) fn near_in_language(&self, i: usize) -> bool {
        match self.word(i) {
            "hier" => !self.speaks_german() && !self.speaks_dutch(),
            "morgen" => !is(self.before(i), WordClass::BeforeMorning) && (self.speaks_german() || self.speaks_dutch()),
            "mañana" => !self.is(i.wrapping_sub(1), &["la", "esta", "una"]),
            _ => true,
        }
    }

    pub(super) fn speaks_german(&self) -> bool {
        self.has_any(WordClass::German)
    }

    pub(super) fn speaks_dutch(&self) -> bool {
        self.has_any(WordClass::Dutch)
    }

    fn has_any(&self, class: WordClass) -> bool {
        self.tokens.iter().take(400).any(|token| is(&token.lower, class))
    }
}
