//! Reads values as public data sets write them: numbers instead of texts, lists of texts, and times in many forms.

use chrono::{DateTime, NaiveDate, NaiveDateTime};
use serde_json::Value;

/// Forms in which data sets write a day with an hour, in the notation of `chrono`.
const MOMENTS: [&str; 13] = [
    "%Y-%m-%dT%H:%M:%S%.f",
    "%Y-%m-%dT%H:%M",
    "%Y-%m-%d %H:%M:%S%.f",
    "%Y-%m-%d %H:%M",
    "%Y/%m/%d %H:%M:%S",
    "%Y/%m/%d %H:%M",
    "%I:%M %p on %d %B, %Y",
    "%I:%M %p on %B %d, %Y",
    "%d.%m.%Y, %H:%M:%S",
    "%d.%m.%Y, %H:%M",
    "%d.%m.%Y %H:%M:%S",
    "%m/%d/%Y, %H:%M:%S",
    "%m/%d/%Y, %I:%M:%S %p",
];

/// Forms in which data sets write a day.
const DAYS: [&str; 9] = [
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%d %B, %Y",
    "%d %B %Y",
    "%B %d, %Y",
    "%B %d %Y",
    "%B-%d-%Y",
    "%d.%m.%Y",
    "%m/%d/%Y",
];

/// Returns a time in ISO 8601 without a zone and without fractions of a second, or `None` if the text is not a time. A
/// time with a zone is converted to UTC. A day without an hour becomes its midnight. In days with slashes the month
/// comes first, unless the year does.
pub(super) fn parse_moment(text: &str) -> Option<String> {
    let text = without_parentheses(text);
    if let Ok(at) = DateTime::parse_from_rfc3339(&text) {
        return Some(format_iso(at.naive_utc()));
    }
    let hour = || {
        MOMENTS
            .iter()
            .find_map(|form| NaiveDateTime::parse_from_str(&text, form).ok())
    };
    let day = || {
        let day = DAYS
            .iter()
            .find_map(|form| NaiveDate::parse_from_str(&text, form).ok())?;
        day.and_hms_opt(0, 0, 0)
    };
    hour().or_else(day).map(format_iso)
}

fn format_iso(at: NaiveDateTime) -> String {
    at.format("%Y-%m-%dT%H:%M:%S").to_string()
}

/// Removes a weekday in parentheses and repeated white space.
fn without_parentheses(text: &str) -> String {
    let plain = match (text.find('('), text.find(')')) {
        (Some(from), Some(to)) if from < to => format!("{} {}", &text[..from], &text[to + 1..]),
        _ => text.to_owned(),
    };
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a text, number or boolean as text, and a list as its texts joined with commas. Returns `None` for blank
/// texts, null and objects.
pub(super) fn value_to_text(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Bool(true) => "Yes".to_owned(),
        Value::Bool(false) => "No".to_owned(),
        Value::Array(items) => items.iter().filter_map(value_to_text).collect::<Vec<_>>().join(", "),
        Value::Null | Value::Object(_) => String::new(),
    };
    (!text.is_empty()).then_some(text)
}

/// Returns the texts of a list, or the single text.
pub(super) fn value_to_texts(value: &Value) -> Vec<String> {
    match value.as_array() {
        Some(items) => items.iter().filter_map(value_to_text).collect(),
        None => value_to_text(value).into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_forms_of_all_data_sets_are_read() {
        for (text, expected) in [
            ("2026-05-04T10:00:00", "2026-05-04T10:00:00"),
            ("2026-05-04T10:00:00.25+02:00", "2026-05-04T08:00:00"),
            ("2026-05-04 10:00", "2026-05-04T10:00:00"),
            ("7:05 pm on 4 May, 2026", "2026-05-04T19:05:00"),
            ("2026/05/04 (Mon) 23:40", "2026-05-04T23:40:00"),
            ("May-04-2026", "2026-05-04T00:00:00"),
            ("May 4, 2026", "2026-05-04T00:00:00"),
            ("04.05.2026, 10:00:09", "2026-05-04T10:00:09"),
            ("05/24/2026, 10:00:09", "2026-05-24T10:00:09"),
        ] {
            assert_eq!(parse_moment(text).as_deref(), Some(expected), "{text}");
        }
        for text in ["", "soon", "4 Mai 2026", "2026-13-04"] {
            assert_eq!(parse_moment(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_and_lists_are_read_as_texts() {
        assert_eq!(value_to_text(&serde_json::json!(7)).as_deref(), Some("7"));
        assert_eq!(value_to_text(&serde_json::json!(["a", 2])).as_deref(), Some("a, 2"));
        assert_eq!(value_to_text(&serde_json::json!("  ")), None);
        assert_eq!(value_to_texts(&serde_json::json!("a")), ["a"]);
    }
}
