//! Times in other languages: dates, weekdays, and words such as "tomorrow".

use crate::lexicon::{Class as WordClass, is_in_class};
use crate::time::amounts::Amount;
use crate::time::calendar::{FoundTime, add_days, add_months, first_of_month};
use crate::time::expressions::relative_times::unit_around;
use crate::time::parser::{Parser, ReadResult};
use crate::time::token::Tense;
use crate::time_words::foreign_words::{DayPart, WORLD};
use crate::time_words::lexicon::{Class, Unit};

impl Parser<'_> {
    /// Reads the expressions of other languages that are longer than single words.
    pub(crate) fn read_foreign_time(&self, i: usize) -> ReadResult {
        match self.class_at(i) {
            Class::World => self
                .read_foreign_phrase(i)
                .or_else(|| self.world_ago(i))
                .or_else(|| self.french_day(i))
                .or_else(|| self.day_part(i)),
            Class::Digits(..) => self.signed_date(i).or_else(|| self.world_ago(i)),
            Class::Mark(mark) if !mark.is_ascii() => self.read_cjk_time(i),
            _ => None,
        }
    }

    /// Returns the tense of a weekday from a word next to it: "letzten Montag", "el lunes pasado", "lundi prochain".
    pub(crate) fn world_step(&self, i: usize) -> Option<Tense> {
        let beside =
            |class: WordClass| is_in_class(self.word_before(i), class) || is_in_class(self.word_at(i + 1), class);
        if beside(WordClass::LastWeekday) {
            Some(Tense::Past)
        } else {
            beside(WordClass::NextWeekday).then_some(Tense::Future)
        }
    }

    fn read_foreign_phrase(&self, i: usize) -> ReadResult {
        let step = WORLD
            .phrases
            .get(format!("{} {}", self.word_at(i), self.word_at(i + 1)).as_str())?;
        self.span_of_step(step.unit, step.count).map(|found| (i + 2, found))
    }

    pub(crate) fn span_of_step(&self, unit: Unit, step: i64) -> Option<FoundTime> {
        let day = match unit {
            Unit::Day => add_days(self.today, step),
            Unit::Week | Unit::Weekend => add_days(self.today, 7 * step),
            Unit::Month => add_months(first_of_month(self.today), step),
            _ => add_months(first_of_month(self.today), 12 * step),
        };
        unit_around(day, unit)
    }

    /// Reads "hace dos días", "vor 3 Wochen", "il y a un an", "due giorni fa".
    fn world_ago(&self, i: usize) -> ReadResult {
        let ahead = match (self.word_at(i), self.word_at(i + 1), self.word_at(i + 2)) {
            ("il", "y", "a") => Some(i + 3),
            (word, ..) if is_in_class(word, WordClass::AgoBefore) => Some(i + 1),
            _ => None,
        };
        let start = ahead.unwrap_or(i);
        let few = self
            .read_phrase(start, &["een", "paar"])
            .or_else(|| self.read_phrase(start, &["enkele"]));
        let (unit_at, amount) = match few {
            Some(end) => (end, Amount::from_rough_bounds(2, 5)),
            None => self
                .world_number(start)
                .map(|(end, count)| (end, Amount::from_count(count)))?,
        };
        let unit = WORLD.units.get(self.word_at(unit_at))?;
        let (end, side) = match ahead {
            Some(_) => (unit_at + 1, -1),
            None if self.is_of_class(unit_at + 1, WordClass::AgoAfter) => (unit_at + 2, -1),
            // Dutch "over twee weken" is "in two weeks"; English "over two weeks" is not.
            None if self.word_before(i) == "over" && self.speaks_dutch() => (unit_at + 1, 1),
            None => return None,
        };
        Some((end, self.offset_by_amount(amount, *unit, side, self.now)))
    }

    /// Reads a number up to twelve in a word of another language, or a number in digits.
    pub(crate) fn world_number(&self, i: usize) -> Option<(usize, u32)> {
        if let Class::Digits(..) = self.class_at(i) {
            // "19.30 uur" is a clock time, although digits follow the point.
            let clock = self.is_any_of(i + 1, &["."]) && self.is_of_class(i + 3, WordClass::ClockHour);
            return match self.class_at(i) {
                Class::Digits(value, _) if clock => Some((i + 1, value)),
                _ => self.read_digits(i).map(|(value, _)| (i + 1, value)),
            };
        }
        Some((i + 1, *WORLD.numbers.get(self.word_at(i))?))
    }

    /// Reads "vanavond", "gisteravond", "vrijdagavond".
    fn day_part(&self, i: usize) -> ReadResult {
        let found = match *WORLD.parts.get(self.word_at(i))? {
            DayPart::Near(days, part) => FoundTime::from_day_part(add_days(self.today, days), part),
            DayPart::Weekday(day, part) => FoundTime::from_day_part(self.weekday_near(i, day), part),
        };
        Some((i + 1, found))
    }

    /// Reads "aujourd'hui", "avant-hier", "après-demain".
    fn french_day(&self, i: usize) -> ReadResult {
        let step = match (self.word_at(i), self.word_at(i + 1), self.word_at(i + 2)) {
            ("aujourd", "'hui" | "’hui", _) => return Some((i + 2, FoundTime::from_day(self.today))),
            ("avant", "-", "hier") => -2,
            ("après", "-", "demain") => 2,
            _ => return None,
        };
        Some((i + 3, FoundTime::from_day(add_days(self.today, step))))
    }

    /// Returns true if a word for a near day has that meaning in the language of the text: "hier" is "here" in German,
    /// and "la mañana" is the morning.
    pub(crate) fn near_in_language(&self, i: usize) -> bool {
        match self.word_at(i) {
            "hier" => !self.speaks_german() && !self.speaks_dutch(),
            "morgen" => {
                !is_in_class(self.word_before(i), WordClass::BeforeMorning)
                    && (self.speaks_german() || self.speaks_dutch())
            }
            "mañana" => !is_in_class(self.word_before(i), WordClass::BeforeManana),
            _ => true,
        }
    }

    pub(crate) fn speaks_german(&self) -> bool {
        self.has_any(WordClass::German)
    }

    pub(crate) fn speaks_dutch(&self) -> bool {
        self.has_any(WordClass::Dutch)
    }

    fn has_any(&self, class: WordClass) -> bool {
        self.tokens
            .iter()
            .take(400)
            .any(|token| is_in_class(&token.lower, class))
    }
}
