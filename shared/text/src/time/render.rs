//! Renders a span as text, no more precisely than it is known.

use chrono::{DateTime, Datelike, FixedOffset, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Timelike, Weekday};
use domain::time::{Precision, TimeSpan};

use super::calendar::{add_days, add_months, first_of_month, span_of_season};
use crate::lexicon::{Class as WordClass, is_in_class};
use crate::time_words::lexicon::{Class, Season, Unit};
use crate::time_words::word_table::class_of_word;

/// Returns the span as text, in the given offset: "7 May 2023", "The week of 5 June 2023", "summer 2022".
///
/// The time of day is given only for a moment that came from words; the time of a record is shown as its day. A part of
/// a day is shown as its day. A time that could not be placed is shown in its own words.
pub fn render_span(span: &TimeSpan, offset: FixedOffset) -> String {
    let start = span.start.with_timezone(&offset).naive_local();
    let end = span.end.with_timezone(&offset).naive_local();
    if span.precision == Precision::Unknown && !span.words.is_empty() {
        return span.words.clone();
    }
    let open = span
        .words
        .get(..6)
        .is_some_and(|word| word.eq_ignore_ascii_case("since "));
    if span.precision == Precision::Instant && open {
        return format!("since {} at {}", format_day(start.date()), format_clock(start.time()));
    }
    if span.precision == Precision::Instant && !span.words.is_empty() {
        return format_moment(start, end);
    }
    if end - start <= TimeDelta::hours(24) {
        return format_day(start.date());
    }
    if open {
        return format!("since {}", format_open_start(start.date(), span.precision));
    }
    let (first, last) = (start.date(), (end - TimeDelta::seconds(1)).date());
    match span.precision {
        Precision::Week => format_week(first, last),
        Precision::Month => format_month(first, last),
        Precision::Season => format_season(first, last),
        Precision::Year => format_years(first, last),
        Precision::Instant | Precision::Day | Precision::Unknown => format_day_range(first, last),
    }
}

/// Returns the text that an answer uses for a time named at `observed_at`.
///
/// Weeks, weekends and "last Friday" keep their form and count from the day of the message: "last week" becomes "The
/// week before 15 June 2023", "two weekends ago" becomes "two weekends before 15 June 2023", and "a few years ago"
/// becomes "a few years before 2023". A relative day, month or year becomes a calendar date: "yesterday" becomes "14
/// June 2023", "last year" becomes "2022". Every other time is rendered as by [`render_span`].
pub fn render_mention(span: &TimeSpan, observed_at: DateTime<FixedOffset>) -> String {
    let today = observed_at.date_naive();
    let lower = span.words.to_lowercase();
    let words: Vec<&str> = lower
        .split_whitespace()
        .map(|word| word.trim_end_matches('.'))
        .filter(|word| *word != "the")
        .collect();
    let start = span.start.with_timezone(observed_at.offset()).date_naive();
    format_counted(&words, today)
        .or_else(|| format_stepped(&words, start, today))
        .or_else(|| format_unplaced(&words, span, today))
        .unwrap_or_else(|| render_span(span, *observed_at.offset()))
}

/// Renders "two weeks ago", "a few days ago".
fn format_counted(words: &[&str], today: NaiveDate) -> Option<String> {
    let [amount @ .., unit, "ago"] = words else { return None };
    let rough = amount.iter().any(|word| is_in_class(word, WordClass::ShownRough));
    let since = match class_of_word(unit) {
        Class::Unit(Unit::Week | Unit::Weekend | Unit::Fortnight) => format_day(today),
        Class::Unit(Unit::Day) if rough => format_day(today),
        Class::Unit(Unit::Month) if rough => name_of_month(today),
        Class::Unit(Unit::Year | Unit::Decade) if rough => today.year().to_string(),
        _ => return None,
    };
    if amount.is_empty() {
        return None;
    }
    Some(match amount {
        ["a" | "one" | "1"] => format!("The {unit} before {since}"),
        _ => format!("{} {unit} before {since}", amount.join(" ")),
    })
}

/// Renders "last week", "next weekend", "last Friday", and "this weekend" in a report about the past.
fn format_stepped(words: &[&str], start: NaiveDate, today: NaiveDate) -> Option<String> {
    let (step, name) = match words {
        ["last" | "past" | "previous", name] | ["this", "past" | "last", name] => (-1, *name),
        ["next", name] | ["coming" | "upcoming", name] | ["this", "coming" | "upcoming", name] => (1, *name),
        ["this" | "that", name] | [name] => (0, *name),
        _ => return None,
    };
    let after = start > today;
    let side = if after { "after" } else { "before" };
    let day = format_day(today);
    match class_of_word(name) {
        Class::Unit(Unit::Week) if words == ["this", "week"] => Some(format!("The week of {day}")),
        Class::Unit(Unit::Week) if step != 0 => Some(format!("The week {side} {day}")),
        Class::Unit(Unit::Weekend) if (step <= 0 && !after) || (step > 0 && (start - today).num_days() < 7) => {
            Some(format!("The weekend {side} {day}"))
        }
        Class::Weekday(..) if step < 0 => Some(format!("The {} {side} {day}", start.format("%A"))),
        _ => None,
    }
}

/// Renders "the other day", "recently".
fn format_unplaced(words: &[&str], span: &TimeSpan, today: NaiveDate) -> Option<String> {
    if span.precision != Precision::Unknown {
        return None;
    }
    match words {
        ["other", "day" | "night" | "evening" | "morning"] => Some(format!("a few days before {}", format_day(today))),
        ["other", "week" | "weekend"] => Some(format!("a few weeks before {}", format_day(today))),
        ["recently" | "lately"] => Some(format!("shortly before {}", format_day(today))),
        ["soon"] => Some(format!("soon after {}", format_day(today))),
        _ => None,
    }
}

fn format_day(date: NaiveDate) -> String {
    date.format("%-d %B %-Y").to_string()
}

fn name_of_month(date: NaiveDate) -> String {
    date.format("%B %-Y").to_string()
}

/// Returns "9 June 2023 at 3:30 pm".
fn format_moment(start: NaiveDateTime, end: NaiveDateTime) -> String {
    let from = format!("{} at {}", format_day(start.date()), format_clock(start.time()));
    let length = end - start;
    if length <= TimeDelta::minutes(1) || (length == TimeDelta::hours(1) && start.minute() == 0) {
        return from;
    }
    if start.date() == end.date() {
        return format!(
            "{} from {} to {}",
            format_day(start.date()),
            format_clock(start.time()),
            format_clock(end.time())
        );
    }
    format!(
        "from {from} to {} at {}",
        format_day(end.date()),
        format_clock(end.time())
    )
}

fn format_clock(time: NaiveTime) -> String {
    let (late, hour) = time.hour12();
    let half = if late { "pm" } else { "am" };
    if time.minute() == 0 {
        format!("{hour} {half}")
    } else {
        format!("{hour}:{:02} {half}", time.minute())
    }
}

/// Returns the first unit of an open stretch.
fn format_open_start(first: NaiveDate, precision: Precision) -> String {
    match precision {
        Precision::Year if first.ordinal() == 1 => first.year().to_string(),
        Precision::Month | Precision::Season | Precision::Year if first.day() == 1 => name_of_month(first),
        _ => format_day(first),
    }
}

/// Returns "between 1 and 5 June 2023".
fn format_day_range(first: NaiveDate, last: NaiveDate) -> String {
    if first >= last {
        return format_day(first);
    }
    let from = if first.year() != last.year() {
        format_day(first)
    } else if first.month() != last.month() {
        first.format("%-d %B").to_string()
    } else {
        first.day().to_string()
    };
    format!("between {from} and {}", format_day(last))
}

fn format_week(first: NaiveDate, last: NaiveDate) -> String {
    match (first.weekday(), (last - first).num_days()) {
        (Weekday::Mon, 6) => format!("The week of {}", format_day(first)),
        (Weekday::Sat, 1) => format!("The weekend of {}", format_day(first)),
        _ => format_day_range(first, last),
    }
}

/// Returns "May 2023", "between March and May 2023", "early May 2023".
fn format_month(first: NaiveDate, last: NaiveDate) -> String {
    let after = add_days(last, 1);
    if first.day() == 1 && after.day() == 1 {
        return format_month_range(first, last);
    }
    let one = first.year() == last.year() && first.month() == last.month();
    let part = match (first.day(), last.day()) {
        (1, 10) => "early ",
        (10, 21) => "mid-",
        (21, _) if after.day() == 1 => "late ",
        _ if !one => return format_month_range(first, last),
        _ => return format_day_range(first, last),
    };
    format!("{part}{}", name_of_month(first))
}

fn format_month_range(first: NaiveDate, last: NaiveDate) -> String {
    if first.year() == last.year() && first.month() == last.month() {
        return name_of_month(first);
    }
    let from = if first.year() == last.year() {
        first.format("%B").to_string()
    } else {
        name_of_month(first)
    };
    format!("between {from} and {}", name_of_month(last))
}

/// Returns "summer 2022"; a winter is named by the year in which it begins.
fn format_season(first: NaiveDate, last: NaiveDate) -> String {
    let names = [
        (Season::Spring, "spring"),
        (Season::Summer, "summer"),
        (Season::Autumn, "autumn"),
        (Season::Winter, "winter"),
    ];
    let after = add_days(last, 1);
    let fits =
        |name| span_of_season(name, first.year()).is_some_and(|s| s.first_day() == first && s.day_after() == after);
    let name = names.into_iter().find(|(name, _)| fits(*name));
    name.map_or_else(
        || format_month_range(first, last),
        |(_, name)| format!("{name} {}", first.year()),
    )
}

/// Returns "2022", "the 1990s", "between 2019 and 2021", "early 2022".
fn format_years(first: NaiveDate, last: NaiveDate) -> String {
    let after = add_days(last, 1);
    let count = after.year() - first.year();
    let spans_full_years = first.ordinal() == 1 && after.ordinal() == 1;
    if spans_full_years && count == 1 {
        return first.year().to_string();
    }
    if spans_full_years && count == 10 && first.year() % 10 == 0 {
        return format!("the {}s", first.year());
    }
    if first.year() != last.year() {
        return format!("between {} and {}", first.year(), last.year());
    }
    let part = match first.month() {
        1 => "early",
        5 => "mid",
        _ => "late",
    };
    let third = first.day() == 1 && first.month() % 4 == 1 && add_months(first_of_month(first), 4) == after;
    if third {
        format!("{part} {}", first.year())
    } else {
        format_month_range(first, last)
    }
}
