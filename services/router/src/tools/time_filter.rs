//! Time operators (REMem, section 3.2): they decide which gists and facts fit a requested time.

use chrono::{DateTime, Datelike, Duration, FixedOffset, Months, NaiveDate, NaiveDateTime, NaiveTime, Utc};
use domain::fact::Fact;
use domain::message::ToolErrorV1;
use domain::time::{Precision, TimeSpan};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::arguments::bad_arguments_error;

/// How the start or the end of an item is compared with a given time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(super) enum Operator {
    #[serde(rename = "=")]
    Within,
    #[serde(rename = "<")]
    Before,
    #[serde(rename = "<=")]
    UpTo,
    #[serde(rename = ">")]
    After,
    #[serde(rename = ">=")]
    From,
}

/// The time arguments of a call.
#[derive(Default)]
pub(super) struct TimeArguments<'a> {
    pub(super) start: Option<&'a str>,
    pub(super) end: Option<&'a str>,
    pub(super) start_operator: Option<Operator>,
    pub(super) end_operator: Option<Operator>,
}

/// A filter by time. Without operators it passes every item that overlaps the window from start to end.
pub(super) struct TimeFilter {
    start: Option<(Option<Operator>, Moments)>,
    end: Option<(Option<Operator>, Moments)>,
}

/// An interval; both ends are included.
#[derive(Clone, Copy)]
struct Moments {
    first: DateTime<Utc>,
    last: DateTime<Utc>,
}

impl TimeFilter {
    /// Reads the filter; relative times are resolved against `now`.
    pub(super) fn from_arguments(
        time_arguments: &TimeArguments<'_>,
        now: DateTime<FixedOffset>,
    ) -> Result<TimeFilter, ToolErrorV1> {
        let read = |name: &str, text: Option<&str>, operator: Option<Operator>| match text {
            Some(text) => Ok(Some((operator, parse_moments(name, text, now)?))),
            None if operator.is_some() => Err(bad_arguments_error(&format!(
                "{name}_operator: is given without {name}_time"
            ))),
            None => Ok(None),
        };
        let start = read("start", time_arguments.start, time_arguments.start_operator)?;
        let end = read("end", time_arguments.end, time_arguments.end_operator)?;
        if let (Some((None, start)), Some((None, end))) = (&start, &end)
            && end.last < start.first
        {
            return Err(bad_arguments_error("end_time: is before start_time"));
        }
        Ok(TimeFilter { start, end })
    }

    /// Returns true if there is no time filter.
    pub(super) fn is_open(&self) -> bool {
        self.start.is_none() && self.end.is_none()
    }

    /// Returns true if one of the times at which a gist happened fits, or the time at which it was observed.
    pub(super) fn fit_gist(&self, observed_at: DateTime<Utc>, happened: &[TimeSpan]) -> bool {
        let placed = happened.iter().filter(|it| it.precision != Precision::Unknown);
        let mut spans = placed.map(Moments::from_span).chain([Moments {
            first: observed_at,
            last: observed_at,
        }]);
        self.is_open() || spans.any(|it| self.fit_interval(it))
    }

    /// Returns true if the time in which a fact holds fits.
    pub(super) fn fit_fact(&self, fact: &Fact) -> bool {
        let first = fact.valid_from.start;
        let last = fact.valid_until.map_or(DateTime::<Utc>::MAX_UTC, |it| {
            (it - Duration::nanoseconds(1)).max(first)
        });
        self.is_open() || self.fit_interval(Moments { first, last })
    }

    fn fit_interval(&self, item: Moments) -> bool {
        let start = self.start.is_none_or(|(operator, limit)| match operator {
            Some(operator) => operator.accepts_moment(item.first, limit),
            None => item.last >= limit.first,
        });
        let end = self.end.is_none_or(|(operator, limit)| match operator {
            Some(operator) => operator.accepts_moment(item.last, limit),
            None => item.first <= limit.last,
        });
        start && end
    }
}

impl Operator {
    fn accepts_moment(self, at: DateTime<Utc>, limit: Moments) -> bool {
        match self {
            Operator::Within => limit.first <= at && at <= limit.last,
            Operator::Before => at < limit.first,
            Operator::UpTo => at <= limit.last,
            Operator::After => at > limit.last,
            Operator::From => at >= limit.first,
        }
    }
}

impl Moments {
    fn from_span(span: &TimeSpan) -> Moments {
        Moments::from_half_open(span.start, span.end)
    }

    fn from_half_open(first: DateTime<Utc>, end: DateTime<Utc>) -> Moments {
        let last = (end - Duration::nanoseconds(1)).max(first);
        Moments { first, last }
    }
}

/// Adds the four time arguments to the schema of a tool.
pub(super) fn add_time_arguments(mut properties: Value) -> Value {
    let operator = json!({"type": "string", "enum": ["=", "<", "<=", ">", ">="]});
    let with = |mut operator: Value, text: &str| {
        operator["description"] = json!(text);
        operator
    };
    let time = "A year, month, day, moment or words: 2024, 2024-05, 2024-05-17T09:30:00Z, last week";
    let mut added = Map::new();
    added.insert("start_time".to_owned(), json!({"type": "string", "description": time}));
    added.insert("end_time".to_owned(), json!({"type": "string", "description": time}));
    let start = "How the start compares with start_time; if left out: still going on at or after it";
    let end = "How the end compares with end_time; if left out: begun at or before it";
    added.insert("start_operator".to_owned(), with(operator.clone(), start));
    added.insert("end_operator".to_owned(), with(operator, end));
    if let Value::Object(own) = &mut properties {
        own.extend(added);
    }
    properties
}

fn parse_moments(name: &str, text: &str, now: DateTime<FixedOffset>) -> Result<Moments, ToolErrorV1> {
    let text = text.trim();
    parse_numeric_time(text, now).or_else(|| in_words(text, now)).ok_or_else(|| {
        bad_arguments_error(&format!(
            "{name}_time: is not a time; write 2024, 2024-05, 2024-05-17, 2024-05-17T09:30:00Z or words like \"last week\""
        ))
    })
}

/// Reads a time in figures; the interval is as wide as the precision of the text. A text without a time zone is in that
/// of `now`, like a time in words.
fn parse_numeric_time(text: &str, now: DateTime<FixedOffset>) -> Option<Moments> {
    let (second, minute) = (Duration::seconds(1), Duration::minutes(1));
    if let Ok(at) = DateTime::parse_from_rfc3339(text) {
        let width = if text.contains('.') { Duration::zero() } else { second };
        return Some(Moments::from_half_open(
            at.to_utc(),
            at.to_utc().checked_add_signed(width)?,
        ));
    }
    let local = |it: NaiveDateTime| it.and_local_timezone(*now.offset()).single().map(|it| it.to_utc());
    for (form, width) in [
        ("%Y-%m-%dT%H:%M:%S", second),
        ("%Y-%m-%d %H:%M:%S", second),
        ("%Y-%m-%dT%H:%M", minute),
        ("%Y-%m-%d %H:%M", minute),
    ] {
        if let Ok(at) = NaiveDateTime::parse_from_str(text, form) {
            let first = local(at)?;
            return Some(Moments::from_half_open(first, first.checked_add_signed(width)?));
        }
    }
    let day = |it: NaiveDate| local(it.and_time(NaiveTime::MIN));
    if let Ok(date) = NaiveDate::parse_from_str(text, "%Y-%m-%d") {
        return Some(Moments::from_half_open(day(date)?, day(date.succ_opt()?)?));
    }
    if !text.chars().all(|it| it.is_ascii_digit() || it == '-') {
        return None;
    }
    let (year, month) = text
        .split_once('-')
        .map_or((text, None), |(year, month)| (year, Some(month)));
    if year.len() != 4 {
        return None;
    }
    let first = NaiveDate::from_ymd_opt(year.parse().ok()?, month.map_or(Ok(1), str::parse).ok()?, 1)?;
    let end = first.checked_add_months(Months::new(if month.is_some() { 1 } else { 12 }))?;
    (first.year() >= 1).then_some(Moments::from_half_open(day(first)?, day(end)?))
}

fn in_words(text: &str, now: DateTime<FixedOffset>) -> Option<Moments> {
    let mut found = text::time::find_times(text, now).into_iter().map(|it| it.span);
    let placed = found.find(|it| it.precision != Precision::Unknown)?;
    Some(Moments::from_span(&placed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window_contains(start: &str, end: &str, observed_at: &str) -> bool {
        let now = DateTime::parse_from_rfc3339("2026-02-01T12:00:00+09:00").unwrap();
        let time_arguments = TimeArguments {
            start: Some(start),
            end: Some(end),
            ..TimeArguments::default()
        };
        let times = TimeFilter::from_arguments(&time_arguments, now).unwrap();
        times.fit_gist(DateTime::parse_from_rfc3339(observed_at).unwrap().to_utc(), &[])
    }

    #[test]
    fn times_without_a_zone_are_in_the_zone_of_now() {
        for (limit, observed_at, found) in [
            ("2026-01-17", "2026-01-17T08:00:00+09:00", true),
            ("2026-01-17", "2026-01-18T08:00:00+09:00", false),
            ("2026-01", "2026-01-01T00:30:00+09:00", true),
            ("2026", "2025-12-31T23:30:00+09:00", false),
            ("2026-01-17T08:00", "2026-01-17T08:00:59+09:00", true),
            ("2026-01-17 08:00", "2026-01-17T08:01:00+09:00", false),
            ("2026-01-17T08:00:10", "2026-01-17T08:00:10.5+09:00", true),
            ("2026-01-16T23:00:10Z", "2026-01-17T08:00:10.5+09:00", true),
            ("2026-01-16T23:00:10.2Z", "2026-01-17T08:00:10.5+09:00", false),
        ] {
            assert_eq!(
                window_contains(limit, limit, observed_at),
                found,
                "{limit} and {observed_at}"
            );
        }
    }
}
