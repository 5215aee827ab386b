//! Dates and clock times in digits.

use chrono::{DateTime, NaiveDate, TimeDelta};

use crate::lexicon::{Class as WordClass, is_in_class};
use crate::time::calendar::{FoundTime, checked_date};
use crate::time::parser::{Parser, ReadResult, full_year};
use crate::time_words::lexicon::{Class, Part};

/// A clock time: minutes after midnight, and the number of minutes that it covers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    pub(crate) minutes: i64,
    pub(crate) width: i64,
    /// True if the words leave no doubt that it is a clock time.
    pub(crate) sure: bool,
    /// True if the words say morning or afternoon.
    pub(crate) half: bool,
}

impl Clock {
    /// Returns a time without "am" or "pm" moved into the given part of the day.
    pub(crate) fn with_day_part(self, part: Part) -> Clock {
        let late = matches!(part, Part::Afternoon | Part::Evening | Part::Tonight)
            || (part == Part::Night && self.minutes >= 5 * 60);
        let minutes = match (self.half, late) {
            (false, true) if self.minutes < 12 * 60 => self.minutes + 12 * 60,
            (false, false) if part == Part::Morning && self.minutes >= 12 * 60 => self.minutes - 12 * 60,
            _ => self.minutes,
        };
        Clock {
            minutes,
            half: true,
            ..self
        }
    }
}

impl Parser<'_> {
    /// Reads "2023-06-09", "2023-06-09T15:30:00Z", "06/09/2023", "9.6.2023" and "2023-06".
    pub(crate) fn read_numeric_date(&self, i: usize) -> ReadResult {
        let joined = |at: usize| self.is_glued(at) && matches!(self.class_at(at), Class::Digits(..));
        let open = !self.is_glued(i)
            || !(self.is_any_of(i.wrapping_sub(1), &["-", ".", "/", ",", ":", "$", "+", "#"])
                || is_word_class(self.class_at(i.wrapping_sub(1))));
        let Class::Digits(a, la) = self.class_at(i) else {
            return None;
        };
        let separator = self.word_at(i + 1);
        if !open || !self.is_glued(i + 1) || !joined(i + 2) || !matches!(separator, "-" | "/" | ".") {
            return None;
        }
        let Class::Digits(b, lb) = self.class_at(i + 2) else {
            return None;
        };
        let third = self.word_at(i + 3) == separator && self.is_glued(i + 3) && joined(i + 4);
        if !third {
            let month =
                la == 4 && lb == 2 && separator == "-" && (1800..2200).contains(&a) && !self.has_glued_suffix(i + 3);
            let first = month.then(|| checked_date(i32::try_from(a).ok()?, b, 1)).flatten()?;
            return Some((i + 3, FoundTime::month_of(first).to_absolute()));
        }
        let Class::Digits(c, lc) = self.class_at(i + 4) else {
            return None;
        };
        let number = |value, digits| WrittenNumber { value, digits };
        let day = written_date(number(a, la), number(b, lb), number(c, lc), separator)?;
        if let Some(read) = self.iso_time(i + 5, day) {
            return Some(read);
        }
        (!self.has_glued_suffix(i + 5)).then(|| (i + 5, FoundTime::from_day(day).to_absolute()))
    }

    /// Returns true if digits or letters follow without a gap.
    fn has_glued_suffix(&self, i: usize) -> bool {
        let letters =
            self.is_glued(i) && (is_word_class(self.class_at(i)) || matches!(self.class_at(i), Class::Digits(..)));
        let more = self.is_glued(i)
            && self.is_any_of(i, &["-", ".", "/", ",", ":"])
            && self.is_glued(i + 1)
            && matches!(self.class_at(i + 1), Class::Digits(..));
        letters || more
    }

    /// Reads the "T15:30:00Z" after an ISO date.
    fn iso_time(&self, i: usize, day: NaiveDate) -> ReadResult {
        if self.word_at(i) != "t" || !self.is_glued(i) {
            return None;
        }
        let part = |at: usize| match self.class_at(at) {
            Class::Digits(value, 2) => Some(i64::from(value)),
            _ => None,
        };
        let (hour, minute) = (part(i + 1)?, part(i + 3)?);
        if self.word_at(i + 2) != ":" || hour > 23 || minute > 59 {
            return None;
        }
        let seconds = self.word_at(i + 4) == ":" && part(i + 5).is_some();
        let mut end = if seconds { i + 6 } else { i + 4 };
        if self.word_at(end) == "." && self.is_glued(end + 1) && matches!(self.class_at(end + 1), Class::Digits(..)) {
            end += 2;
        }
        let zone = self.read_utc_offset(end);
        let found = FoundTime::from_clock(day, hour * 60 + minute, 1).to_absolute();
        let Some((end, offset)) = zone else {
            return Some((end, found));
        };
        let shift = TimeDelta::minutes(self.offset_minutes - offset);
        Some((
            end,
            FoundTime {
                start: found.start + shift,
                end: found.end + shift,
                ..found
            },
        ))
    }

    /// Reads "Z" or "+02:00"; returns the minutes east of UTC.
    fn read_utc_offset(&self, i: usize) -> Option<(usize, i64)> {
        if self.word_at(i) == "z" && self.is_glued(i) {
            return Some((i + 1, 0));
        }
        let sign = match self.word_at(i) {
            "+" => 1,
            "-" => -1,
            _ => return None,
        };
        let start = self.tokens.get(i)?.start;
        let text = self.text.get(start..start + 6)?;
        let parsed = DateTime::parse_from_str(&format!("2000-01-01 00:00 {text}"), "%Y-%m-%d %H:%M %:z").ok()?;
        Some((i + 4, sign * i64::from(parsed.offset().local_minus_utc().abs()) / 60))
    }

    /// Reads a clock time. With `loose`, a bare hour counts too, as after "at" and after a day.
    pub(crate) fn read_clock(&self, i: usize, loose: bool) -> Option<(usize, Clock)> {
        if let Some(read) = self.world_clock(i, loose) {
            return Some(read);
        }
        match self.word_at(i) {
            "noon" | "midday" => {
                return Some((
                    i + 1,
                    Clock {
                        minutes: 720,
                        width: 60,
                        sure: true,
                        half: true,
                    },
                ));
            }
            "midnight" => {
                return Some((
                    i + 1,
                    Clock {
                        minutes: 1440,
                        width: 60,
                        sure: true,
                        half: true,
                    },
                ));
            }
            "half" | "quarter" | "a" => return self.read_spoken_clock(i),
            _ => {}
        }
        let (j, hour, minute) = self.read_hour(i)?;
        if let Some((end, late)) = self.half_day(j) {
            let hour = ((1..=12).contains(&hour)).then_some(hour % 12 + if late { 12 } else { 0 })?;
            return Some((end, clock_of(hour, minute, true, true)));
        }
        if let Some(end) = self
            .read_phrase(j, &["o", "'clock"])
            .or_else(|| self.read_phrase(j, &["o", "’clock"]))
        {
            return (1..=12)
                .contains(&hour)
                .then(|| (end, clock_of(to_waking_hour(hour), minute, true, false)));
        }
        if let Some((part, end)) = self.said_part(j).filter(|_| (1..=12).contains(&hour)) {
            return Some((
                end,
                Clock {
                    sure: true,
                    ..clock_of(hour, minute, true, false).with_day_part(part)
                },
            ));
        }
        let plain = hour <= 23 && !self.has_glued_suffix(j) && !self.is_any_of(j, &["%", "/", "-"]);
        let padded = self.word_at(i).len() == 2 && hour < 10 || hour > 12;
        if minute.is_some() && plain {
            let hour = if padded { hour } else { to_waking_hour(hour) };
            return Some((j, clock_of(hour, minute, padded, padded)));
        }
        let bare = loose && plain && (1..=23).contains(&hour) && self.after_bare(j);
        bare.then(|| {
            (
                j,
                clock_of(if padded { hour } else { to_waking_hour(hour) }, None, false, false),
            )
        })
    }

    /// Reads "7", "07:30", "seven"; returns the first token after it, the hour and the minute.
    fn read_hour(&self, i: usize) -> Option<(usize, u32, Option<u32>)> {
        let (Class::Digits(_, 1 | 2) | Class::Number(1..=12)) = self.class_at(i) else {
            return None;
        };
        let (j, hour) = match self.class_at(i) {
            Class::Digits(hour, _) if self.is_set_off(i) => (i + 1, hour),
            Class::Number(hour) => (i + 1, hour),
            _ => return None,
        };
        if self.word_at(j) != ":" || !self.is_glued(j) || !self.is_glued(j + 1) {
            return Some((j, hour, None));
        }
        let Class::Digits(minute @ 0..=59, 2) = self.class_at(j + 1) else {
            return None;
        };
        let seconds =
            self.word_at(j + 2) == ":" && self.is_glued(j + 2) && matches!(self.class_at(j + 3), Class::Digits(_, 2));
        Some((if seconds { j + 4 } else { j + 2 }, hour, Some(minute)))
    }

    fn is_set_off(&self, i: usize) -> bool {
        !self.is_glued(i) || self.is_any_of(i.wrapping_sub(1), &["(", "-", "–", "~", "@", "\"", "“"])
    }

    /// Returns true if token `i` can follow a bare hour: nothing that the number would count.
    fn after_bare(&self, i: usize) -> bool {
        !matches!(
            self.class_at(i),
            Class::Other | Class::Unit(_) | Class::Month(..) | Class::Ordinal(_)
        ) || self.word_at(i).is_empty()
            || is_in_class(self.word_at(i), WordClass::AfterHour)
    }

    /// Reads "am", "p.m.", "in the evening"; returns true for the second half of the day.
    fn half_day(&self, i: usize) -> Option<(usize, bool)> {
        if self.is_any_of(i, &["am", "pm"]) {
            return Some((i + 1, self.word_at(i) == "pm"));
        }
        if self.is_any_of(i, &["a", "p"])
            && self.word_at(i + 1) == "."
            && self.word_at(i + 2) == "m"
            && self.is_glued(i + 2)
        {
            let dot = self.word_at(i + 3) == "." && self.is_glued(i + 3);
            return Some((if dot { i + 4 } else { i + 3 }, self.word_at(i) == "p"));
        }
        None
    }

    /// Reads "half past seven", "quarter to five", "a quarter past six".
    fn read_spoken_clock(&self, i: usize) -> Option<(usize, Clock)> {
        let i = self.skip_word(i, &["a"]);
        let past = match self.word_at(i) {
            "half" if self.word_at(i + 1) == "past" => 30,
            "quarter" if self.word_at(i + 1) == "past" => 15,
            "quarter" if self.is_any_of(i + 1, &["to", "of"]) => -15,
            _ => return None,
        };
        let (j, hour @ 1..=12) = self.read_number(i + 2)? else {
            return None;
        };
        let half_day = self.half_day(j);
        let hour = match half_day {
            Some((_, late)) => hour % 12 + if late { 12 } else { 0 },
            None => to_waking_hour(hour),
        };
        let minutes = i64::from(hour) * 60 + past;
        Some((
            half_day.map_or(j, |(end, _)| end),
            Clock {
                minutes,
                width: 1,
                sure: true,
                half: half_day.is_some(),
            },
        ))
    }
}

fn clock_of(hour: u32, minute: Option<u32>, sure: bool, half: bool) -> Clock {
    let minutes = i64::from(hour) * 60 + i64::from(minute.unwrap_or(0));
    Clock {
        minutes,
        width: if minute.is_some() { 1 } else { 60 },
        sure,
        half,
    }
}

/// Returns an hour without "am" or "pm" as an hour of the waking day: 1 to 7 is in the afternoon.
pub(crate) fn to_waking_hour(hour: u32) -> u32 {
    if (1..=7).contains(&hour) { hour + 12 } else { hour }
}

fn is_word_class(class: Class) -> bool {
    !matches!(class, Class::Mark(_) | Class::Digits(..))
}

/// A number in figures, and with how many digits it is written.
#[derive(Clone, Copy)]
struct WrittenNumber {
    value: u32,
    digits: usize,
}

/// Returns the date of three numbers. A year of four digits at the start comes first. Otherwise slashes and hyphens put
/// the month first, unless only the day can come first; dots always put the day first.
fn written_date(a: WrittenNumber, b: WrittenNumber, c: WrittenNumber, separator: &str) -> Option<NaiveDate> {
    let short = a.digits <= 2 && b.digits <= 2 && c.digits <= 2;
    if a.digits == 4 && b.digits <= 2 && c.digits <= 2 {
        return checked_date(i32::try_from(a.value).ok()?, b.value, c.value);
    }
    let year = match c.digits {
        4 if a.digits <= 2 && b.digits <= 2 => i32::try_from(c.value).ok()?,
        2 if short && separator == "/" => full_year(i32::try_from(c.value).ok()?),
        2 if separator == "." && a.digits == 2 && b.digits == 2 => full_year(i32::try_from(c.value).ok()?),
        _ => return None,
    };
    let day_first = checked_date(year, b.value, a.value);
    let month_first = checked_date(year, a.value, b.value);
    if separator == "/" || separator == "-" {
        month_first.or(day_first)
    } else {
        day_first
    }
}
