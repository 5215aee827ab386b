//! Times in the formats of exports.

use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, SecondsFormat};
use serde_json::Value;

/// Unix times from this value on are in milliseconds: in seconds they would be after the year 5000.
const MILLISECONDS_FROM: f64 = 1e11;

/// Returns a time as RFC 3339. Accepts a number (seconds or milliseconds since 1970) or a text (RFC 3339 or ISO 8601,
/// also a date alone; without a zone it is UTC). Returns `None` for other values and for times outside the years 1900
/// to 9999.
pub(crate) fn parse_time(value: &Value) -> Option<String> {
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
pub(crate) fn parse_time_text(text: &str) -> Option<String> {
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
}
