//! Chooses among the rules: from left to right, the longest expression at each token.

use chrono::NaiveDate;

use super::calendar::{Found, Grain, add_days, add_months, midnight};
use super::lexicon::{Class, Part};
use super::parser::{Parser, Previous, Read};
use super::token::Tense;
use crate::lexicon::{Class as WordClass, is};

impl Parser<'_> {
    /// Reads the longest expression that begins at token `i`.
    pub(super) fn expression(&self, i: usize) -> Read {
        let open = match self.class(i) {
            Class::Other => false,
            Class::Mark(mark) => matches!(mark, '\'' | '’' | '‘') || !mark.is_ascii(),
            _ => true,
        };
        if !open {
            return None;
        }
        longest([
            self.placed_if_sure(i),
            self.range(i),
            self.in_units(i),
            self.duration(i),
            self.vague(i),
            self.clock_alone(i),
        ])
    }

    /// Reads a time that does not depend on another time of the text.
    pub(super) fn simple(&self, i: usize) -> Read {
        longest([
            self.absolute(i, None),
            self.near_day(self.skip(i, &["the"])),
            self.deictic(i),
            self.counted(i),
            self.day_in_week(i),
            self.lone_weekday(i),
            self.holiday(i),
            self.world(i),
        ])
    }

    fn base(&self, i: usize) -> Read {
        longest([self.simple(i), self.anchored(i), self.ordinal_of(i), self.edge(i)])
    }

    fn lone_weekday(&self, i: usize) -> Read {
        let (end, day) = self.weekday(i)?;
        let name = self.is(end, &["-"]) && self.is(end + 1, &["off"]);
        let any = is(self.before(i), WordClass::AnyWeekday);
        (!name && !any).then(|| (end, Found::day(self.weekday_near(i, day))))
    }

    /// Reads a time like [`Parser::placed`]. If a weekday or month alone may be the last one or the next one, the
    /// result is a vague span over both, which is shown by its words.
    fn placed_if_sure(&self, i: usize) -> Read {
        let (end, found) = self.placed(i)?;
        let sure = || Some((end, found));
        if self.tense(i) != Tense::Unsure {
            return sure();
        }
        let (from, to) = match self.class(i) {
            Class::Month(month, _) if end == i + 1 && found.grain == Grain::Month => {
                let (last, next) = self.months_around(month);
                if found.first_day() == last {
                    return sure();
                }
                (last, add_months(next, 1))
            }
            _ if self.lone_weekday(i).map(|it| it.0) == self.base(i).map(|it| it.0) => {
                (add_days(self.today, -7), add_days(self.today, 8))
            }
            _ => return sure(),
        };
        Some((
            end,
            Found::between(midnight(from), midnight(to), Grain::Unknown).vague(),
        ))
    }

    /// Reads a time with its part of the day and its clock time: "Friday at 7pm", "yesterday evening", "noon tomorrow".
    pub(super) fn placed(&self, i: usize) -> Read {
        let Some((end, found)) = self.base(i) else {
            return self.clock_first(i);
        };
        if !matches!(found.grain, Grain::Day | Grain::Part) {
            return longest([Some((end, found)), self.clock_first(i)]);
        }
        let (end, found) = self.with_part(end, found);
        longest([
            self.hours_behind(end, &found),
            Some(self.with_clock(end, found)),
            self.clock_first(i),
        ])
    }

    /// Adds a part of the day to a day: "Friday night", "9 June in the morning".
    fn with_part(&self, end: usize, found: Found) -> (usize, Found) {
        if found.grain != Grain::Day {
            return (end, found);
        }
        let at = self
            .phrase(end, &["in", "the"])
            .or_else(|| self.phrase(end, &["at"]))
            .unwrap_or(end);
        match self.class(at) {
            Class::Part(part) if at != end + 1 || part == Part::Night => {
                let placed = Found::part(found.first_day(), part);
                (
                    at + 1,
                    Found {
                        relative: found.relative,
                        dated: found.dated,
                        ..placed
                    },
                )
            }
            _ => (end, found),
        }
    }

    fn with_clock(&self, end: usize, found: Found) -> (usize, Found) {
        let comma = self.skip(end, &[","]);
        let at = comma + usize::from(is(self.word(comma), WordClass::BeforeClock) || self.word(comma) == "@");
        let Some((after, clock)) = self.clock(at, at > comma) else {
            return (end, found);
        };
        let part = [
            Part::Morning,
            Part::Afternoon,
            Part::Evening,
            Part::Night,
            Part::Tonight,
        ]
        .into_iter()
        .find(|part| found.grain == Grain::Part && Found::part(found.first_day(), *part).start == found.start);
        let (clock, after) = match part {
            Some(part) => (clock.within(part), after),
            None => self
                .said_part(after)
                .map_or((clock, after), |(part, after)| (clock.within(part), after)),
        };
        let placed = Found::clock(found.first_day(), clock.minutes, clock.width);
        (
            after,
            Found {
                relative: found.relative,
                dated: found.dated,
                ..placed
            },
        )
    }

    /// Reads "in the evening", "at night" after a clock time.
    pub(super) fn said_part(&self, i: usize) -> Option<(Part, usize)> {
        let at = self.phrase(i, &["in", "the"]).or_else(|| self.phrase(i, &["at"]))?;
        match self.class(at) {
            Class::Part(part) => Some((part, at + 1)),
            _ => None,
        }
    }

    /// Reads "7pm on Friday", "noon tomorrow", "7 tonight".
    fn clock_first(&self, i: usize) -> Read {
        let loose = self.is(i.wrapping_sub(1), &["at", "around", "by"]);
        let (j, clock) = self.clock(i, false).or_else(|| {
            let Class::Digits(hour @ 1..=12, _) = self.class(i) else {
                return None;
            };
            let part = matches!(self.class(i + 1), Class::Relative(_) | Class::Part(Part::Tonight))
                || self.is(i + 1, &["on", "this"]);
            let minutes = i64::from(if hour < 8 { hour + 12 } else { hour }) * 60;
            (loose && part).then_some((
                i + 1,
                super::numeric::Clock {
                    minutes,
                    width: 60,
                    sure: false,
                    half: false,
                },
            ))
        })?;
        let (clock, j) = self
            .said_part(j)
            .map_or((clock, j), |(part, j)| (clock.within(part), j));
        let k = self.skip(self.skip(j, &[","]), &["on", "of"]);
        let (end, day) = self.base(k)?;
        let (end, day) = self.with_part(end, day);
        let clock = match day.grain {
            Grain::Day => clock,
            Grain::Part if day.end > midnight(day.first_day()) + chrono::TimeDelta::hours(12) => {
                clock.within(Part::Evening)
            }
            Grain::Part => clock.within(Part::Morning),
            _ => return None,
        };
        let placed = Found::clock(day.first_day(), clock.minutes, clock.width);
        Some((
            end,
            Found {
                relative: day.relative,
                dated: day.dated,
                ..placed
            },
        ))
    }

    /// Reads a clock time alone. It is on the day that the sentence named before, otherwise on the day of the
    /// reference.
    fn clock_alone(&self, i: usize) -> Read {
        let led = is(self.before(i), WordClass::LeadsToClock);
        let (end, clock) = self.clock(i, false)?;
        if !clock.sure && !led {
            return None;
        }
        let (clock, end) = self
            .said_part(end)
            .map_or((clock, end), |(part, end)| (clock.within(part), end));
        let day = self.day_named(i).unwrap_or(self.today);
        Some((end, Found::clock(day, clock.minutes, clock.width)))
    }

    /// Returns the day that the sentence of token `i` named before it.
    fn day_named(&self, i: usize) -> Option<NaiveDate> {
        let Previous { found, sentence, .. } = self.previous?;
        let same = self.tokens.get(i).is_some_and(|token| token.sentence == sentence);
        (same && matches!(found.grain, Grain::Day | Grain::Part | Grain::Moment)).then(|| found.first_day())
    }

    /// Returns the day of the clock times from `i` to `end`, and the first token after it: the day after them, the day
    /// before them, or today.
    pub(super) fn day_beside(&self, i: usize, end: usize) -> (usize, NaiveDate) {
        match self.simple(self.skip(end, &["on"])) {
            Some((after, found)) if found.grain == Grain::Day => (after, found.first_day()),
            _ => (end, self.day_named(i).unwrap_or(self.today)),
        }
    }
}

/// Returns the read that ends last; of equal ones, the first.
fn longest<const N: usize>(reads: [Read; N]) -> Read {
    reads
        .into_iter()
        .flatten()
        .reduce(|best, read| if read.0 > best.0 { read } else { best })
}
