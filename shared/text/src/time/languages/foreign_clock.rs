//! Clock times in Dutch and German: "om half acht", "kwart voor negen", "um 8 Uhr", "tien over zeven".

use crate::lexicon::{Class as WordClass, is_in_class, words_of_class};
use crate::time::expressions::numeric_times::{Clock, to_waking_hour};
use crate::time::parser::Parser;
use crate::time::token::Token;
use crate::time_words::foreign_words::WORLD;
use crate::time_words::lexicon::Class;

/// Words next to an hour.
const HOUR_WORDS: &[WordClass] = &[WordClass::ClockHalf, WordClass::ClockQuarter, WordClass::ClockHour];
/// Words between minutes and an hour.
const JOINING_WORDS: &[WordClass] = &[WordClass::ClockBefore, WordClass::ClockAfter];

impl Parser<'_> {
    /// Reads a clock time; `led` is true after a word like "at". A whole hour without such a word is a length: "acht
    /// uur geslapen".
    pub(crate) fn world_clock(&self, i: usize, led: bool) -> Option<(usize, Clock)> {
        if !matches!(self.class_at(i), Class::World | Class::Digits(..) | Class::Key) || !self.hour_is_near(i) {
            return None;
        }
        let led = led || is_in_class(self.word_before(i), WordClass::WorldClockAt);
        let (end, minutes, width) = self.offset_hour(i, led).or_else(|| self.whole_hour(i, led))?;
        // "19.30" and "07:30" are times of the 24-hour clock; all other hours lie in the waking day.
        let clock = Clock {
            minutes,
            width,
            sure: true,
            half: minutes >= 13 * 60,
        };
        let part_at = self.skip_word(self.skip_word(end, &["'", "’"]), &["s"]);
        let part = WORLD.clock_parts.get(self.word_at(part_at));
        let read = part.map_or((end, clock), |part| (part_at + 1, clock.with_day_part(*part)));
        (self.speaks_dutch() || self.speaks_german()).then_some(read)
    }

    /// Returns true if a word of clock times is within four tokens, so that the language of other texts need not be
    /// detected.
    fn hour_is_near(&self, i: usize) -> bool {
        let is_of = |at: usize, classes: &[WordClass]| is_word_of_any(self.word_at(at), classes);
        self.has_clock_word && ((i..i + 5).any(|at| is_of(at, HOUR_WORDS)) || is_of(i + 1, JOINING_WORDS))
    }

    /// Reads "half acht", "kwart over zeven", "tien voor half negen"; returns the first token after it, the minutes
    /// after midnight, and the number of minutes that it covers.
    fn offset_hour(&self, i: usize, led: bool) -> Option<(usize, i64, i64)> {
        if self.is_of_class(i, WordClass::ClockHalf) {
            let (end, hour) = self.read_hour_after(i + 1)?;
            return Some((end, half_to(hour), 1));
        }
        let (j, count) = if self.is_of_class(i, WordClass::ClockQuarter) {
            (i + 1, 15)
        } else {
            let (j, count) = self.world_number(i).filter(|it| led && it.1 < 30)?;
            (self.skip_word(j, &["minuten"]), i64::from(count))
        };
        let sign = if self.is_of_class(j, WordClass::ClockBefore) {
            -1
        } else if self.is_of_class(j, WordClass::ClockAfter) {
            1
        } else {
            return None;
        };
        let half = self.is_of_class(j + 1, WordClass::ClockHalf);
        let (end, hour) = self.read_hour_after(j + 1 + usize::from(half))?;
        let at = if half {
            half_to(hour)
        } else {
            60 * i64::from(to_waking_hour(hour))
        };
        Some((end, at + sign * count, 1))
    }

    /// Reads "8 uur", "acht uur", "19.30 uur", "19:30 Uhr", "8 Uhr 15".
    fn whole_hour(&self, i: usize, led: bool) -> Option<(usize, i64, i64)> {
        let (j, hour) = self.world_number(i).filter(|it| it.1 <= 24)?;
        let padded = self.word_at(i).len() == 2 && hour < 10 || hour > 12;
        let hour = i64::from(if padded { hour } else { to_waking_hour(hour) });
        let minutes = |at: usize| match self.class_at(at) {
            Class::Digits(minutes @ 0..=59, 2) => Some(i64::from(minutes)),
            _ => None,
        };
        if self.is_any_of(j, &[".", ":"])
            && self.is_glued(j)
            && let Some(minutes) = minutes(j + 1)
            && self.is_of_class(j + 2, WordClass::ClockHour)
        {
            return Some((j + 3, 60 * hour + minutes, 1));
        }
        if !self.is_of_class(j, WordClass::ClockHour) || !led {
            return None;
        }
        match minutes(j + 1) {
            Some(minutes) => Some((j + 2, 60 * hour + minutes, 1)),
            None => Some((j + 1, 60 * hour, 60)),
        }
    }

    /// Reads the hour after "half" and "quarter to", and a following "uur".
    fn read_hour_after(&self, i: usize) -> Option<(usize, u32)> {
        let (end, hour) = self.world_number(i).filter(|it| (1..=12).contains(&it.1))?;
        Some((self.skip_class(end, WordClass::ClockHour), hour))
    }
}

/// Returns true if a text has a word of clock times. Most texts have none, and then none of their tokens is tried.
pub(crate) fn has_clock_word(tokens: &[Token<'_>]) -> bool {
    let is_clock_word =
        |it: &Token<'_>| is_word_of_any(&it.lower, HOUR_WORDS) || is_word_of_any(&it.lower, JOINING_WORDS);
    tokens.iter().any(is_clock_word)
}

fn is_word_of_any(word: &str, classes: &[WordClass]) -> bool {
    classes.iter().any(|it| words_of_class(*it).contains(&word))
}

/// Returns half an hour before an hour of the waking day, in minutes after midnight: "half acht" is 19:30.
fn half_to(hour: u32) -> i64 {
    let begun = if hour == 1 { 12 } else { hour - 1 };
    60 * i64::from(to_waking_hour(begun)) + 30
}
