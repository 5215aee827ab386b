//! Chooses among the rules: from left to right, the longest expression at each token.

use chrono::NaiveDate;

use super::calendar::{FoundTime, Grain, add_days, add_months, midnight_of};
use super::parser::{Parser, Previous, ReadResult};
use crate::lexicon::{Class as WordClass, is_in_class};
use crate::time::token::Tense;
use crate::time_words::foreign_words::WORLD;
use crate::time_words::lexicon::{Class, Part};

impl Parser<'_> {
    /// Reads the longest expression that begins at token `i`.
    pub(super) fn read_expression(&self, i: usize) -> ReadResult {
        let open = match self.class_at(i) {
            Class::Other => false,
            Class::Mark(mark) => matches!(mark, '\'' | '’' | '‘') || !mark.is_ascii(),
            _ => true,
        };
        if !open {
            return None;
        }
        longest_read([
            self.read_time_if_certain(i),
            self.read_range(i),
            self.in_units(i),
            self.read_duration(i),
            self.read_vague_time(i),
            self.clock_alone(i),
        ])
    }

    /// Reads a time that does not depend on another time of the text.
    pub(super) fn read_simple_time(&self, i: usize) -> ReadResult {
        longest_read([
            self.read_absolute_date(i, None),
            self.near_day(self.skip_word(i, &["the"])),
            self.read_deictic(i),
            self.read_counted_time(i),
            self.day_in_week(i),
            self.lone_weekday(i),
            self.read_holiday(i),
            self.read_foreign_time(i),
        ])
    }

    fn read_base_time(&self, i: usize) -> ReadResult {
        longest_read([
            self.read_simple_time(i),
            self.read_anchored_time(i),
            self.ordinal_of(i),
            self.read_period_edge(i),
        ])
    }

    fn lone_weekday(&self, i: usize) -> ReadResult {
        let (end, day) = self.read_weekday(i)?;
        let name = self.is_any_of(end, &["-"]) && self.is_any_of(end + 1, &["off"]);
        let any = is_in_class(self.word_before(i), WordClass::AnyWeekday);
        (!name && !any).then(|| (end, FoundTime::from_day(self.weekday_near(i, day))))
    }

    /// Reads a time like [`Parser::read_placed_time`]. If a weekday or month alone may be the last one or the next one, the
    /// result is a vague span over both, which is shown by its words. So is the birthday of a speaker without its year.
    fn read_time_if_certain(&self, i: usize) -> ReadResult {
        let (end, found) = self.read_placed_time(i)?;
        if !found.dated && self.is_own_birth(i, end) {
            return Some((
                end,
                FoundTime {
                    grain: Grain::Unknown,
                    ..found
                }
                .to_vague(),
            ));
        }
        let sure = || Some((end, found));
        if self.tense_at(i) != Tense::Unsure {
            return sure();
        }
        let (from, to) = match self.class_at(i) {
            Class::Month(month, _) if end == i + 1 && found.grain == Grain::Month => {
                let (last, next) = self.months_around(month);
                if found.first_day() == last {
                    return sure();
                }
                (last, add_months(next, 1))
            }
            _ if self.lone_weekday(i).map(|it| it.0) == self.read_base_time(i).map(|it| it.0) => {
                (add_days(self.today, -7), add_days(self.today, 8))
            }
            _ => return sure(),
        };
        Some((
            end,
            FoundTime::between_moments(midnight_of(from), midnight_of(to), Grain::Unknown).to_vague(),
        ))
    }

    /// Reads a time with its part of the day and its clock time: "Friday at 7pm", "yesterday evening", "noon tomorrow".
    pub(super) fn read_placed_time(&self, i: usize) -> ReadResult {
        let Some((end, found)) = self.read_base_time(i) else {
            return self.clock_first(i);
        };
        if !matches!(found.grain, Grain::Day | Grain::Part) {
            return longest_read([Some((end, found)), self.clock_first(i)]);
        }
        let (end, found) = self.with_part(end, found);
        longest_read([
            self.read_hours_after(end, &found),
            Some(self.with_clock(end, found)),
            self.clock_first(i),
        ])
    }

    /// Adds a part of the day to a day: "Friday night", "9 June in the morning".
    fn with_part(&self, end: usize, found: FoundTime) -> (usize, FoundTime) {
        if found.grain != Grain::Day {
            return (end, found);
        }
        let at = self
            .read_phrase(end, &["in", "the"])
            .or_else(|| self.read_phrase(end, &["at"]))
            .unwrap_or(end);
        match self.class_at(at) {
            Class::Part(part) if at != end + 1 || part == Part::Night => {
                let placed = FoundTime::from_day_part(found.first_day(), part);
                (
                    at + 1,
                    FoundTime {
                        relative: found.relative,
                        dated: found.dated,
                        ..placed
                    },
                )
            }
            _ => (end, found),
        }
    }

    fn with_clock(&self, end: usize, found: FoundTime) -> (usize, FoundTime) {
        let comma = self.skip_word(end, &[","]);
        let at =
            comma + usize::from(is_in_class(self.word_at(comma), WordClass::BeforeClock) || self.word_at(comma) == "@");
        let Some((after, clock)) = self.read_clock(at, at > comma) else {
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
        .find(|part| {
            found.grain == Grain::Part && FoundTime::from_day_part(found.first_day(), *part).start == found.start
        });
        let (clock, after) = match part {
            Some(part) => (clock.with_day_part(part), after),
            None => self
                .said_part(after)
                .map_or((clock, after), |(part, after)| (clock.with_day_part(part), after)),
        };
        let placed = FoundTime::from_clock(found.first_day(), clock.minutes, clock.width);
        (
            after,
            FoundTime {
                relative: found.relative,
                dated: found.dated,
                ..placed
            },
        )
    }

    /// Reads "in the evening", "at night" after a clock time.
    pub(super) fn said_part(&self, i: usize) -> Option<(Part, usize)> {
        let at = self
            .read_phrase(i, &["in", "the"])
            .or_else(|| self.read_phrase(i, &["at"]))?;
        match self.class_at(at) {
            Class::Part(part) => Some((part, at + 1)),
            _ => None,
        }
    }

    /// Reads "7pm on Friday", "noon tomorrow", "7 tonight".
    fn clock_first(&self, i: usize) -> ReadResult {
        let loose = || is_in_class(self.word_before(i), WordClass::BeforeBareHour);
        let (j, clock) = self.read_clock(i, false).or_else(|| {
            let Class::Digits(hour @ 1..=12, _) = self.class_at(i) else {
                return None;
            };
            let part = matches!(self.class_at(i + 1), Class::Relative(_) | Class::Part(Part::Tonight))
                || self.is_any_of(i + 1, &["on", "this"]);
            let minutes = i64::from(if hour < 8 { hour + 12 } else { hour }) * 60;
            (part && loose()).then_some((
                i + 1,
                crate::time::expressions::numeric_times::Clock {
                    minutes,
                    width: 60,
                    sure: false,
                    half: false,
                },
            ))
        })?;
        let (clock, j) = self
            .said_part(j)
            .map_or((clock, j), |(part, j)| (clock.with_day_part(part), j));
        let k = self.skip_word(self.skip_word(j, &[","]), &["on", "of"]);
        let (end, day) = self.read_base_time(k)?;
        let (end, day) = self.with_part(end, day);
        let clock = match day.grain {
            Grain::Day => clock,
            Grain::Part if day.end > midnight_of(day.first_day()) + chrono::TimeDelta::hours(12) => {
                clock.with_day_part(Part::Evening)
            }
            Grain::Part => clock.with_day_part(Part::Morning),
            _ => return None,
        };
        let placed = FoundTime::from_clock(day.first_day(), clock.minutes, clock.width);
        Some((
            end,
            FoundTime {
                relative: day.relative,
                dated: day.dated,
                ..placed
            },
        ))
    }

    /// Returns true if the time from `i` to `end` is the day, month or season in which the speaker was born. The nearest
    /// year is then certainly wrong.
    fn is_own_birth(&self, i: usize, end: usize) -> bool {
        let named = (i..end).any(|at| matches!(self.class_at(at), Class::Month(..) | Class::Season(..)));
        let born = |at: usize| {
            self.word_at(at) == "born"
                && self.is_any_of(at.wrapping_sub(1), &["was", "were"])
                && self.is_any_of(at.wrapping_sub(2), &["i", "we"])
        };
        named && self.past_verb_before(i).is_some_and(born)
    }

    /// Reads a clock time alone. It is on the day that the sentence named before, otherwise on the day of the
    /// reference. A past event whose day is not named has no time after the reference: "went to bed at 11 pm", written
    /// in the morning, may be about any day.
    fn clock_alone(&self, i: usize) -> ReadResult {
        let led = is_in_class(self.word_before(i), WordClass::LeadsToClock);
        let (end, clock) = self.read_clock(i, false)?;
        if !clock.sure && !led {
            return None;
        }
        let (clock, end) = self
            .said_part(end)
            .map_or((clock, end), |(part, end)| (clock.with_day_part(part), end));
        let found = FoundTime::from_clock(self.day_of_clock(i)?, clock.minutes, clock.width);
        let over = self.day_named(i).is_none() && found.start > self.now && self.happened_at(i);
        (!over).then_some((end, found))
    }

    /// Returns true if an event happened at the clock time at `i`.
    fn happened_at(&self, i: usize) -> bool {
        is_in_class(self.word_before(i), WordClass::BeforeClock)
            && self.tense_at(i) == Tense::Past
            && self.past_verb_before(i).is_some()
            && !self.is_settled_before(i)
    }

    /// Returns the day of the clock time at `i`: the one that its sentence named before, otherwise the day of the
    /// reference. The hour of a habit has no day: "every day at 8 am".
    fn day_of_clock(&self, i: usize) -> Option<NaiveDate> {
        self.day_named(i)
            .or_else(|| (!self.is_hour_of_habit(i)).then_some(self.today))
    }

    /// Returns true if the sentence of the clock time at `i` repeats: "on Tuesdays at 7", "every day at 8", "I usually
    /// leave at 9". An adverb counts only in the clause of `i`, and not with a verb in the past.
    fn is_hour_of_habit(&self, i: usize) -> bool {
        let sentence = |at: usize| self.tokens.get(at).map(|token| token.sentence);
        let in_sentence = |at: &usize| sentence(*at) == sentence(i);
        let in_clause = |at: &usize| in_sentence(at) && !self.is_of_class(*at, WordClass::PartsClauses);
        let before = || (i.saturating_sub(HABIT_NEAR)..i).rev();
        let after = || i..i + HABIT_NEAR;
        let repeats = |at: usize| matches!(self.class_at(at), Class::Weekdays(_)) || self.is_repeated_time(at);
        let clause = || before().take_while(in_clause).chain(after().take_while(in_clause));
        before().take_while(in_sentence).any(repeats)
            || after().take_while(in_sentence).any(repeats)
            || clause().any(|at| self.is_of_class(at, WordClass::HabitAdverb))
                && !clause().any(|at| self.is_past_verb(at))
    }

    /// Returns true at a word that repeats the time after it: "every day", "every two weeks", "jeden Abend".
    fn is_repeated_time(&self, i: usize) -> bool {
        let next = self.skip_word(i + 1, &["other", "single"]);
        let next = self.read_number(next).map_or(next, |it| it.0);
        let time = matches!(
            self.class_at(next),
            Class::Unit(_) | Class::Weekday(..) | Class::Part(_) | Class::Relative(_)
        );
        self.is_of_class(i, WordClass::Habitual)
            && (time || WORLD.units.contains_key(self.word_at(next)) || self.is_of_class(next, WordClass::RepeatedTime))
    }

    /// Returns the day that the sentence of token `i` named before it.
    fn day_named(&self, i: usize) -> Option<NaiveDate> {
        let Previous { found, sentence, .. } = self.previous?;
        let same = self.tokens.get(i).is_some_and(|token| token.sentence == sentence);
        (same && matches!(found.grain, Grain::Day | Grain::Part | Grain::Moment)).then(|| found.first_day())
    }

    /// Returns the day of the clock times from `i` to `end`, and the first token after it: the day after them, the day
    /// before them, or today. Returns `None` for the hours of a habit.
    pub(super) fn read_adjacent_day(&self, i: usize, end: usize) -> Option<(usize, NaiveDate)> {
        match self.read_simple_time(self.skip_word(end, &["on"])) {
            Some((after, found)) if found.grain == Grain::Day => Some((after, found.first_day())),
            _ => self.day_of_clock(i).map(|day| (end, day)),
        }
    }
}

/// Number of tokens on each side of a clock time that may say that it repeats.
const HABIT_NEAR: usize = 60;

/// Returns the read that ends last; of equal ones, the first.
fn longest_read<const N: usize>(reads: [ReadResult; N]) -> ReadResult {
    reads
        .into_iter()
        .flatten()
        .reduce(|best, read| if read.0 > best.0 { read } else { best })
}
