//! Parses times in the notation that a language model is asked to use.

use chrono::{Datelike, Days, FixedOffset, Months, NaiveDate, NaiveTime, TimeZone, Timelike};
use domain::time::{Precision, TimeSpan};

/// Maximum length, in days, of a range that counts as a day, a week, a month or a season.
const LENGTHS: [(i64, Precision); 4] = [
    (1, Precision::Day),
    (10, Precision::Week),
    (31, Precision::Month),
    (200, Precision::Season),
];
/// Maximum number of days or years of a span that are listed one by one.
const PARTS_MAX: usize = 10;

/// Consecutive days of the calendar.
struct Stretch {
    first: NaiveDate,
    after: NaiveDate,
    precision: Precision,
}

/// Returns the span of `2023`, `2023-06`, `2023-06-09`, or two of them separated by a slash, in the calendar of an
/// offset. The words of the span are the text. Returns `None` for any other text and for a range that ends before it
/// begins.
pub(crate) fn parse_time(text: &str, offset: FixedOffset) -> Option<TimeSpan> {
    let text = text.trim();
    let stretch = match text.split_once('/') {
        Some((from, to)) => parse_range(from.trim(), to.trim())?,
        None => parse_date(text)?,
    };
    let utc = |day: NaiveDate| {
        let midnight = offset.from_local_datetime(&day.and_time(NaiveTime::MIN)).single();
        midnight.map(|it| it.to_utc())
    };
    Some(TimeSpan {
        start: utc(stretch.first)?,
        end: utc(stretch.after)?,
        precision: stretch.precision,
        words: text.to_owned(),
    })
}

fn parse_range(from: &str, to: &str) -> Option<Stretch> {
    let (first, after) = (parse_date(from)?.first, parse_date(to)?.after);
    let length = (after - first).num_days();
    let precision = LENGTHS.iter().find(|it| length <= it.0).map(|it| it.1);
    (first < after).then_some(Stretch {
        first,
        after,
        precision: precision.unwrap_or(Precision::Year),
    })
}

fn parse_date(text: &str) -> Option<Stretch> {
    let mut parts = text.split('-');
    let year = parse_digits(parts.next()?, 4)?;
    let month = parts.next().map(|it| parse_digits(it, 2));
    let day = parts.next().map(|it| parse_digits(it, 2));
    if parts.next().is_some() || year == 0 {
        return None;
    }
    let date = |month, day| NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, day);
    let (first, after, precision) = match (month, day) {
        (Some(month), Some(day)) => {
            let first = date(month?, day?)?;
            (first, first.checked_add_days(Days::new(1))?, Precision::Day)
        }
        (Some(month), None) => {
            let first = date(month?, 1)?;
            (first, first.checked_add_months(Months::new(1))?, Precision::Month)
        }
        (None, _) => {
            let first = date(1, 1)?;
            (first, first.checked_add_months(Months::new(12))?, Precision::Year)
        }
    };
    Some(Stretch {
        first,
        after,
        precision,
    })
}

fn parse_digits(text: &str, count: usize) -> Option<u32> {
    let all_digits = text.len() == count && text.bytes().all(|it| it.is_ascii_digit());
    text.parse().ok().filter(|_| all_digits)
}

/// Returns the numbers with which a sentence may refer to a span: year, month and day of its first and last day, of
/// each day of a short span, the first few years, and the hour and minute of a moment.
pub(crate) fn numbers_of(span: &TimeSpan, offset: FixedOffset) -> Vec<u32> {
    let start = span.start.with_timezone(&offset);
    let (first, moment) = (start.date_naive(), span.precision == Precision::Instant);
    let after = span.end.with_timezone(&offset).date_naive();
    let last = after.pred_opt().filter(|it| *it > first).unwrap_or(first);
    let mut days: Vec<NaiveDate> = first.iter_days().take(PARTS_MAX).take_while(|it| *it <= last).collect();
    days.extend([last, after]);
    let years = (first.year()..=last.year()).take(PARTS_MAX);
    let years = years.filter_map(|it| u32::try_from(it).ok());
    let mut out: Vec<u32> = years.collect();
    for day in days {
        out.extend(u32::try_from(day.year()).ok());
        out.extend([day.month(), day.day()]);
    }
    if moment {
        out.extend([start.hour(), start.hour12().1, start.minute()]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::example::start_time;

    fn parse_to_text(text: &str) -> Option<[String; 3]> {
        let span = parse_time(text, *start_time().offset())?;
        assert_eq!(span.words, text.trim());
        let local =
            |it: chrono::DateTime<chrono::Utc>| it.with_timezone(start_time().offset()).format("%F %H").to_string();
        Some([local(span.start), local(span.end), format!("{:?}", span.precision)])
    }

    #[test]
    fn days_months_years_and_ranges_are_parsed_in_the_local_calendar() {
        for (text, start, end, precision) in [
            ("2023-06-09", "2023-06-09 00", "2023-06-10 00", "Day"),
            ("2023-12", "2023-12-01 00", "2024-01-01 00", "Month"),
            ("2023", "2023-01-01 00", "2024-01-01 00", "Year"),
            (" 2023-05-29/2023-06-04 ", "2023-05-29 00", "2023-06-05 00", "Week"),
            ("2023-06/2023-08", "2023-06-01 00", "2023-09-01 00", "Season"),
            ("2019/2022", "2019-01-01 00", "2023-01-01 00", "Year"),
        ] {
            assert_eq!(parse_to_text(text).unwrap(), [start, end, precision], "{text}");
        }
    }

    #[test]
    fn other_texts_are_not_parsed_as_times() {
        for text in [
            "",
            "last week",
            "2023-13",
            "2023-02-30",
            "23-06-09",
            "2023-6-9",
            "2023-06-09-10",
            "0000",
            "2023-06-09/",
            "2023-06-09/2023-06-08",
            "+2023",
            "2023-W23",
        ] {
            assert_eq!(parse_to_text(text), None, "{text}");
        }
    }

    #[test]
    fn a_span_may_be_referred_to_by_its_parts() {
        let offset = *start_time().offset();
        let week = numbers_of(&parse_time("2023-05-29/2023-06-04", offset).unwrap(), offset);
        assert!([2023, 5, 29, 6, 4, 31].iter().all(|it| week.contains(it)));
        assert!(!week.contains(&2022) && !week.contains(&9));
        let moment = TimeSpan::from_instant(start_time().to_utc());
        assert!(numbers_of(&moment, offset).contains(&18));
    }
}
