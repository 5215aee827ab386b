//! Times in the formats of exports.

use chrono::{DateTime, Datelike, Duration, NaiveDate, NaiveDateTime, SecondsFormat};
use serde_json::Value;

use crate::import::record_draft::LeftOut;

/// Maximum lead of a time over the clock of this machine; servers refuse later times.
const AHEAD: Duration = Duration::days(1);

/// Unix times from this value on are in milliseconds: in seconds they would be after the year 5000.
const MILLISECONDS_FROM: f64 = 1e11;

/// The time of an entry of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EntryTime {
    /// The time of the record, as RFC 3339; `None` if the entry has no time that a record can have.
    pub(crate) usable: Option<String>,
    /// The time of an entry without a usable time, as RFC 3339, if it is later than servers accept.
    pub(crate) future: Option<String>,
    is_unreadable: bool,
}

impl EntryTime {
    /// Returns the first value that is a time of the past, or at most a day ahead. Null and empty texts are skipped.
    pub(crate) fn first_of<'a>(values: impl IntoIterator<Item = &'a Value>) -> EntryTime {
        let latest = host::clock::now() + AHEAD;
        let is_too_late = |at: &str| DateTime::parse_from_rfc3339(at).is_ok_and(|it| it > latest);
        let mut time = EntryTime::default();
        for value in values {
            if value.is_null() || value.as_str().is_some_and(|it| it.trim().is_empty()) {
                continue;
            }
            match parse_time(value) {
                None => time.is_unreadable = true,
                Some(at) if is_too_late(&at) => {
                    time.future.get_or_insert(at);
                }
                Some(at) => {
                    return EntryTime {
                        usable: Some(at),
                        ..EntryTime::default()
                    };
                }
            }
        }
        time
    }

    /// Returns the time of a document: the first of its dates, else the date with which the name of its file begins.
    pub(crate) fn of_document<'a>(dates: impl Iterator<Item = &'a str>, path: &'a str) -> EntryTime {
        let all: Vec<Value> = dates.chain(date_in_name(path)).map(Value::from).collect();
        EntryTime::first_of(&all)
    }

    /// Counts the time if it is given and cannot be used.
    pub(crate) fn count_unused(&self, left_out: &mut LeftOut) {
        if self.future.is_some() {
            left_out.count_one("times in the future");
        } else if self.is_unreadable {
            left_out.count_one("times that could not be read");
        }
    }
}

/// Returns the date at the beginning of the name of a file, written like `2026-03-02` or like `20260302`. Only the first
/// form is a time that can be read.
fn date_in_name(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next()?;
    let has_shape = |it: &&str| {
        let mut bytes = it.bytes().enumerate();
        bytes.all(|(at, byte)| {
            if at == 4 || at == 7 {
                byte == b'-'
            } else {
                byte.is_ascii_digit()
            }
        })
    };
    let is_compact_date = |it: &&str| {
        it.bytes().all(|byte| byte.is_ascii_digit())
            && (it.starts_with("19") || it.starts_with("20"))
            && NaiveDate::parse_from_str(it, "%Y%m%d").is_ok()
    };
    let day = name.get(..10).filter(has_shape);
    day.or_else(|| name.get(..8).filter(is_compact_date))
}

/// Returns a time as RFC 3339. Accepts a number (seconds or milliseconds since 1970) or a text (RFC 3339 or ISO 8601,
/// also a date alone; without a zone it is UTC). Returns `None` for other values and for times outside the years 1900
/// to 9999.
fn parse_time(value: &Value) -> Option<String> {
    match value {
        Value::Number(number) => time_from_unix(number.as_f64()?),
        Value::String(text) => parse_time_text(text.trim()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn time_from_unix(number: f64) -> Option<String> {
    let seconds = if number.abs() < MILLISECONDS_FROM {
        number
    } else {
        number / 1_000.0
    };
    let micros = (seconds * 1e6).round();
    if !micros.is_finite() || micros.abs() > 1e18 {
        return None;
    }
    // The value is a whole number in the range of `i64`, so the conversion is exact.
    let at = DateTime::from_timestamp_micros(micros as i64)?;
    (1_900..=9_999)
        .contains(&at.year())
        .then(|| at.to_rfc3339_opts(SecondsFormat::AutoSi, true))
}

/// Returns a time given as text, as RFC 3339.
fn parse_time_text(text: &str) -> Option<String> {
    let zoned = DateTime::parse_from_rfc3339(text)
        .or_else(|_| DateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S%.f%:z"))
        .ok();
    let plain = || {
        [
            "%Y-%m-%dT%H:%M:%S%.f",
            "%Y-%m-%d %H:%M:%S%.f",
            "%Y-%m-%dT%H:%M",
            "%Y-%m-%d %H:%M",
        ]
        .iter()
        .find_map(|format| NaiveDateTime::parse_from_str(text, format).ok())
        .or_else(|| NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?.and_hms_opt(0, 0, 0))
        .map(|it| it.and_utc().fixed_offset())
    };
    let at = zoned.or_else(plain)?;
    (1_900..=9_999)
        .contains(&at.year())
        .then(|| at.to_rfc3339_opts(SecondsFormat::AutoSi, true))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn times_of_exports_are_read() {
        for (value, expected) in [
            (json!(1_772_474_400.25), Some("2026-03-02T18:00:00.250Z")),
            (json!(1_772_474_400), Some("2026-03-02T18:00:00Z")),
            (json!(1_772_474_400_250_i64), Some("2026-03-02T18:00:00.250Z")),
            (
                json!("2026-03-02T10:00:00.5-08:00"),
                Some("2026-03-02T10:00:00.500-08:00"),
            ),
            (json!("2026-03-02 18:00:00+00:00"), Some("2026-03-02T18:00:00Z")),
            (json!("2026-03-02T18:00:00.123456"), Some("2026-03-02T18:00:00.123456Z")),
            (json!("2026-03-02"), Some("2026-03-02T00:00:00Z")),
            (json!("yesterday"), None),
            (json!(1e300), None),
            (json!(null), None),
            (json!(true), None),
        ] {
            assert_eq!(parse_time(&value).as_deref(), expected, "{value}");
        }
    }

    /// Returns the count of a time that is not used; `None` if none is counted.
    fn unused(time: &EntryTime) -> Option<String> {
        let mut left_out = LeftOut::default();
        time.count_unused(&mut left_out);
        left_out.in_words().pop()
    }

    #[test]
    fn a_time_that_a_record_cannot_have_is_counted() {
        let soon = (host::clock::now() + Duration::hours(12)).to_rfc3339();
        for (values, is_usable, counted) in [
            (json!(["2026-03-02"]), true, None),
            (json!([soon]), true, None),
            (json!([null, " "]), false, None),
            (json!(["2999-01-15"]), false, Some("times in the future: 1")),
            (
                json!(["March 2, 2026", true]),
                false,
                Some("times that could not be read: 1"),
            ),
            (json!(["soon", "2999-01-15"]), false, Some("times in the future: 1")),
            (json!(["soon", "2999-01-15", 1_772_474_400]), true, None),
        ] {
            let time = EntryTime::first_of(values.as_array().unwrap());
            assert_eq!(time.usable.is_some(), is_usable, "{values}");
            assert_eq!(unused(&time).as_deref(), counted, "{values}");
        }
        let planned = [json!("2999-01-15")];
        let future = EntryTime::first_of(&planned).future;
        assert_eq!(future.as_deref(), Some("2999-01-15T00:00:00Z"));
    }

    #[test]
    fn the_name_of_a_document_gives_its_date_if_no_other_date_does() {
        for (date, path, usable) in [
            (None, "notes/2026-03-02 oslo.md", Some("2026-03-02T00:00:00Z")),
            (Some("soon"), "2026-03-02.md", Some("2026-03-02T00:00:00Z")),
            (Some("2025-01-01"), "2026-03-02.md", Some("2025-01-01T00:00:00Z")),
        ] {
            let time = EntryTime::of_document(date.into_iter(), path);
            assert_eq!(time.usable.as_deref(), usable, "{path}");
        }
        for (path, counted) in [
            ("oslo.md", None),
            ("12345678.md", None),
            ("2026-03.md", None),
            ("20260302.md", Some("times that could not be read: 1")),
            ("2026-13-40.md", Some("times that could not be read: 1")),
            ("2999-01-15.md", Some("times in the future: 1")),
        ] {
            let time = EntryTime::of_document(std::iter::empty(), path);
            assert_eq!(unused(&time).as_deref(), counted, "{path}");
        }
    }
}
