//! Calendar arithmetic on local days, limited to the years 1 to 9999.

use chrono::{Datelike, Days, Months, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Weekday};
use domain::time::Precision;

use super::Kind;
use crate::time_words::lexicon::{Part, Season, Unit};

/// The kind of stretch that an expression names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grain {
    Moment,
    Part,
    Day,
    Weekend,
    Week,
    Month,
    Season,
    Year,
    Unknown,
}

impl Grain {
    pub(super) fn to_precision(self) -> Precision {
        match self {
            Grain::Moment => Precision::Instant,
            Grain::Part | Grain::Day => Precision::Day,
            Grain::Weekend | Grain::Week => Precision::Week,
            Grain::Month => Precision::Month,
            Grain::Season => Precision::Season,
            Grain::Year => Precision::Year,
            Grain::Unknown => Precision::Unknown,
        }
    }
}

/// A resolved expression in local time, half-open; `start < end` once it is accepted.
#[derive(Clone, Copy, Debug)]
pub(super) struct FoundTime {
    pub(super) start: NaiveDateTime,
    pub(super) end: NaiveDateTime,
    pub(super) grain: Grain,
    pub(super) kind: Kind,
    pub(super) relative: bool,
    /// True if the words name the year.
    pub(super) dated: bool,
}

impl FoundTime {
    pub(super) fn from_days(start: NaiveDate, end: NaiveDate, grain: Grain) -> FoundTime {
        FoundTime {
            start: midnight_of(start),
            end: midnight_of(end),
            grain,
            kind: Kind::Point,
            relative: true,
            dated: false,
        }
    }

    pub(super) fn from_day(date: NaiveDate) -> FoundTime {
        FoundTime::from_days(date, add_days(date, 1), Grain::Day)
    }

    /// Returns the calendar week of `date`, Monday to Monday.
    pub(super) fn week_of(date: NaiveDate) -> FoundTime {
        let start = monday_of_week(date);
        FoundTime::from_days(start, add_days(start, 7), Grain::Week)
    }

    /// Returns Saturday and Sunday of the calendar week of `date`.
    pub(super) fn weekend_of(date: NaiveDate) -> FoundTime {
        let start = add_days(monday_of_week(date), 5);
        FoundTime::from_days(start, add_days(start, 2), Grain::Weekend)
    }

    pub(super) fn month_of(date: NaiveDate) -> FoundTime {
        let start = first_of_month(date);
        FoundTime::from_days(start, add_months(start, 1), Grain::Month)
    }

    pub(super) fn from_year(year: i32) -> FoundTime {
        FoundTime::from_years(year, 1)
    }

    /// Returns `count` whole years from the first day of `year`.
    pub(super) fn from_years(year: i32, count: i32) -> FoundTime {
        FoundTime::from_days(new_year(year), new_year(year.saturating_add(count)), Grain::Year)
    }

    /// Returns the stretch between two moments.
    pub(super) fn between_moments(start: NaiveDateTime, end: NaiveDateTime, grain: Grain) -> FoundTime {
        FoundTime {
            start,
            end,
            grain,
            kind: Kind::Interval,
            relative: true,
            dated: false,
        }
    }

    pub(super) fn from_day_part(date: NaiveDate, part: Part) -> FoundTime {
        let (from, to) = part.hour_range();
        let start = midnight_of(date) + TimeDelta::hours(from);
        let end = midnight_of(date) + TimeDelta::hours(to);
        FoundTime {
            start,
            end,
            grain: Grain::Part,
            kind: Kind::Point,
            relative: true,
            dated: false,
        }
    }

    /// Returns a clock time `minutes` after the midnight of `date`, with a precision of `width` minutes.
    pub(super) fn from_clock(date: NaiveDate, minutes: i64, width: i64) -> FoundTime {
        let start = midnight_of(date) + TimeDelta::minutes(minutes);
        let end = start + TimeDelta::minutes(width);
        FoundTime {
            start,
            end,
            grain: Grain::Moment,
            kind: Kind::Point,
            relative: true,
            dated: false,
        }
    }

    pub(super) fn to_absolute(self) -> FoundTime {
        FoundTime {
            relative: false,
            dated: true,
            ..self
        }
    }

    pub(super) fn with_kind(self, kind: Kind) -> FoundTime {
        FoundTime { kind, ..self }
    }

    pub(super) fn to_vague(self) -> FoundTime {
        FoundTime {
            kind: Kind::Vague,
            ..self
        }
    }

    pub(super) fn first_day(&self) -> NaiveDate {
        self.start.date()
    }

    /// Returns the first day after the span.
    pub(super) fn day_after(&self) -> NaiveDate {
        let date = self.end.date();
        if self.end == midnight_of(date) {
            date
        } else {
            add_days(date, 1)
        }
    }

    /// Returns the time span from the start of `self` to the end of `last`, with the coarser grain of the two; `None`
    /// if it would be empty.
    pub(super) fn span_until(&self, last: &FoundTime) -> Option<FoundTime> {
        let grain = if grain_rank(last.grain) > grain_rank(self.grain) {
            last.grain
        } else {
            self.grain
        };
        (self.start < last.end).then_some(FoundTime {
            start: self.start,
            end: last.end,
            grain,
            kind: Kind::Interval,
            relative: self.relative || last.relative,
            dated: self.dated && last.dated,
        })
    }
}

fn grain_rank(grain: Grain) -> u8 {
    match grain {
        Grain::Moment => 0,
        Grain::Part => 1,
        Grain::Day => 2,
        Grain::Weekend => 3,
        Grain::Week => 4,
        Grain::Month => 5,
        Grain::Season => 6,
        Grain::Year => 7,
        Grain::Unknown => 8,
    }
}

pub(super) fn midnight_of(date: NaiveDate) -> NaiveDateTime {
    date.and_time(NaiveTime::MIN)
}

fn calendar_start() -> NaiveDate {
    NaiveDate::from_ymd_opt(1, 1, 1).unwrap_or(NaiveDate::MIN)
}

fn calendar_end() -> NaiveDate {
    NaiveDate::from_ymd_opt(10_000, 1, 1).unwrap_or(NaiveDate::MAX)
}

/// Returns the date if it exists in the years 1 to 9999.
pub(super) fn checked_date(year: i32, month: u32, day: u32) -> Option<NaiveDate> {
    (1..=9999)
        .contains(&year)
        .then(|| NaiveDate::from_ymd_opt(year, month, day))
        .flatten()
}

pub(super) fn new_year(year: i32) -> NaiveDate {
    if year < 1 {
        return calendar_start();
    }
    checked_date(year, 1, 1).unwrap_or_else(calendar_end)
}

/// Returns `date` moved by `days`; stops at the ends of the calendar.
pub(super) fn add_days(date: NaiveDate, days: i64) -> NaiveDate {
    let step = Days::new(days.unsigned_abs());
    let moved = if days < 0 {
        date.checked_sub_days(step)
    } else {
        date.checked_add_days(step)
    };
    moved
        .unwrap_or(if days < 0 { calendar_start() } else { calendar_end() })
        .clamp(calendar_start(), calendar_end())
}

/// Returns `date` moved by `months`. The day stays the same if the month has it; stops at the ends of the calendar.
pub(super) fn add_months(date: NaiveDate, months: i64) -> NaiveDate {
    let step = Months::new(u32::try_from(months.unsigned_abs()).unwrap_or(u32::MAX));
    let moved = if months < 0 {
        date.checked_sub_months(step)
    } else {
        date.checked_add_months(step)
    };
    moved
        .unwrap_or(if months < 0 { calendar_start() } else { calendar_end() })
        .clamp(calendar_start(), calendar_end())
}

pub(super) fn monday_of_week(date: NaiveDate) -> NaiveDate {
    add_days(date, -i64::from(date.weekday().num_days_from_monday()))
}

pub(super) fn first_of_month(date: NaiveDate) -> NaiveDate {
    date.with_day(1).unwrap_or(date)
}

/// Returns the last day before `limit` that is weekday `day` (0 is Monday).
pub(super) fn weekday_before(limit: NaiveDate, day: u32) -> NaiveDate {
    let back = (limit.weekday().num_days_from_monday() + 6 - day % 7) % 7 + 1;
    add_days(limit, -i64::from(back))
}

/// Returns the first day at or after `from` that is weekday `day` (0 is Monday).
pub(super) fn weekday_from(from: NaiveDate, day: u32) -> NaiveDate {
    let ahead = (7 + day % 7 - from.weekday().num_days_from_monday()) % 7;
    add_days(from, i64::from(ahead))
}

/// Returns a season of the northern hemisphere, named by the year in which it begins.
///
/// It runs from the first day of its first month to the astronomical end, so that both common definitions lie inside.
pub(super) fn span_of_season(season: Season, year: i32) -> Option<FoundTime> {
    let (month, last_month, last_day) = match season {
        Season::Spring => (3, 6, 22),
        Season::Summer => (6, 9, 23),
        Season::Autumn => (9, 12, 22),
        Season::Winter => (12, 3, 21),
    };
    let end_year = if season == Season::Winter {
        year.checked_add(1)?
    } else {
        year
    };
    Some(FoundTime::from_days(
        checked_date(year, month, 1)?,
        checked_date(end_year, last_month, last_day)?,
        Grain::Season,
    ))
}

/// Returns Easter Sunday of the Gregorian calendar (the anonymous algorithm).
pub(super) fn easter_sunday(year: i32) -> Option<NaiveDate> {
    let (a, b, c) = (year % 19, year / 100, year % 100);
    let h = (19 * a + b - b / 4 - (b - (b + 8) / 25 + 1) / 3 + 15) % 30;
    let l = (32 + 2 * (b % 4) + 2 * (c / 4) - h - c % 4) % 7;
    let m = (a + 11 * h + 22 * l) / 451;
    let n = h + l - 7 * m + 114;
    checked_date(year, u32::try_from(n / 31).ok()?, u32::try_from(n % 31 + 1).ok()?)
}

/// Returns the `nth` (from 1; 0 is the last) weekday `day` of the month that begins at `first`.
pub(super) fn nth_weekday(first: NaiveDate, nth: u32, day: Weekday) -> NaiveDate {
    let day = day.num_days_from_monday();
    if nth == 0 {
        return weekday_before(add_months(first, 1), day);
    }
    add_days(weekday_from(first, day), 7 * i64::from(nth - 1))
}

/// Returns a moment moved by whole units; stops at the ends of the calendar.
pub(crate) fn shift_by_units(from: NaiveDateTime, count: i64, unit: Unit) -> NaiveDateTime {
    let days = |days: i64| add_days(from.date(), days).and_time(from.time());
    let months = |months: i64| add_months(from.date(), months).and_time(from.time());
    let fine = |delta: Option<TimeDelta>| {
        let at = delta.and_then(|delta| from.checked_add_signed(delta)).unwrap_or(from);
        add_days(at.date(), 0).and_time(at.time())
    };
    match unit {
        Unit::Second => fine(TimeDelta::try_seconds(count)),
        Unit::Minute => fine(TimeDelta::try_minutes(count)),
        Unit::Hour => fine(TimeDelta::try_hours(count)),
        Unit::Day | Unit::Night => days(count),
        Unit::Week | Unit::Weekend => days(7 * count),
        Unit::Fortnight => days(14 * count),
        Unit::Month => months(count),
        Unit::Quarter => months(3 * count),
        Unit::Year => months(12 * count),
        Unit::Decade => months(120 * count),
        Unit::Century => months(1200 * count),
    }
}
