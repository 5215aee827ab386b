//! Checks of records, questions, times and filters. An error names the first invalid field.

pub(crate) mod label_filter;
pub(crate) mod name_filter;
pub(crate) mod version_ids;

use chrono::{DateTime, Datelike, Duration, FixedOffset, NaiveDate, NaiveDateTime, Utc};
use serde_json::Value;

use crate::api::problem::Problem;
use crate::api::{NewRecord, NewTool};

/// Longest id, session, actor, in bytes.
pub(crate) const NAME_BYTES_MAX: usize = 256;
/// Longest id of a record that may be a version of another record, in bytes.
pub(crate) const RECORD_ID_BYTES_MAX: usize = NAME_BYTES_MAX + version_ids::ENDING_BYTES_MAX;
/// Longest caption, arguments and result of a tool call, in bytes: these fields are not split into parts.
pub(crate) const FIELD_BYTES_MAX: usize = 32 << 10;
/// Longest address of a picture, and longest address that contains the picture itself (`data:`), in bytes.
const URI_BYTES_MAX: usize = 2_048;
const DATA_URI_BYTES_MAX: usize = 128 << 10;
/// Longest name of a tool, in bytes.
pub(crate) const TOOL_NAME_BYTES_MAX: usize = 128;
const METADATA_ENTRIES_MAX: usize = 32;
const METADATA_NAME_BYTES_MAX: usize = 64;
const METADATA_VALUE_BYTES_MAX: usize = 1_024;
/// Deepest nesting of the arguments and the result of a tool call.
const DEPTH_MAX: usize = 32;
/// Stores keep ordinals in 63 bits.
const ORDINAL_MAX: u64 = i64::MAX as u64;
/// Maximum lead of a caller's clock.
const AHEAD: Duration = Duration::days(1);
const YEAR_MIN: i32 = 1900;

/// Parses `as_of`.
pub(crate) fn parse_as_of(as_of: Option<&str>) -> Result<Option<DateTime<Utc>>, Problem> {
    Ok(parse_time_field("as_of", as_of)?.map(|it| it.to_utc()))
}

/// Checks all fields except the time.
pub(crate) fn check_record(it: &NewRecord, text_bytes_max: usize) -> Result<(), String> {
    let id_bytes_max = if it.version.is_some() {
        RECORD_ID_BYTES_MAX
    } else {
        NAME_BYTES_MAX
    };
    check_name("id", it.id.as_deref(), id_bytes_max)?;
    check_name("session", it.session.as_deref(), NAME_BYTES_MAX)?;
    check_name("actor", it.actor.as_deref(), NAME_BYTES_MAX)?;
    let uri = it.image_uri.as_deref().unwrap_or_default();
    check_name("image_uri", Some(uri), uri_bytes_max(uri))?;
    for (field, value) in [("id", &it.id), ("session", &it.session)] {
        if value.as_deref().is_some_and(|it| it.trim().is_empty()) {
            return Err(format!("{field}: is empty; leave it out instead"));
        }
        check_addressable(field, value.as_deref())?;
    }
    check_version(it)?;
    let text_bytes = it.text.as_deref().unwrap_or_default().len();
    if text_bytes > text_bytes_max {
        return Err(format!(
            "text: has {text_bytes} bytes, more than {text_bytes_max}; send it as several records, or raise [gateway] text_bytes_max"
        ));
    }
    let field_bytes_max = text_bytes_max.min(FIELD_BYTES_MAX);
    for (field, value, most) in [
        ("text", &it.text, text_bytes_max),
        ("image_caption", &it.image_caption, field_bytes_max),
    ] {
        check_content(field, value.as_deref().unwrap_or_default(), most)?;
    }
    if let Some(call) = &it.tool {
        check_tool_call(call, field_bytes_max)?;
    }
    if it.ordinal.is_some_and(|it| it > ORDINAL_MAX) {
        return Err(format!("ordinal: is more than {ORDINAL_MAX}"));
    }
    check_metadata(it)?;
    let empty = |it: &Option<String>| it.as_deref().is_none_or(|it| it.trim().is_empty());
    if empty(&it.text) && empty(&it.image_caption) && it.tool.is_none() {
        return Err("text: the record has no text, no image_caption and no tool".to_owned());
    }
    Ok(())
}

/// Checks that the id of a version matches its number, and that no other id has the form of a version.
fn check_version(it: &NewRecord) -> Result<(), String> {
    let id = it.id.as_deref().unwrap_or_default();
    let Some(version) = &it.version else {
        return match version_ids::parse_version_id(id) {
            Some((of, _)) => Err(format!(
                "id: has the form of a version; put the next version under `{of}`, or use an id with another ending"
            )),
            None => Ok(()),
        };
    };
    check_name("version.of", Some(&version.of), NAME_BYTES_MAX)?;
    if !(2..=version_ids::VERSIONS_MAX).contains(&version.number) {
        return Err(format!("version.number: must be 2 to {}", version_ids::VERSIONS_MAX));
    }
    if id != version_ids::version_id(&version.of, version.number) {
        return Err(format!(
            "id: of this version is `{}`",
            version_ids::version_id(&version.of, version.number)
        ));
    }
    Ok(())
}

/// Returns the maximum length of an address of a picture in bytes, which depends on its kind.
pub(crate) fn uri_bytes_max(uri: &str) -> usize {
    let is_inline = uri.get(..5).is_some_and(|it| it.eq_ignore_ascii_case("data:"));
    if is_inline { DATA_URI_BYTES_MAX } else { URI_BYTES_MAX }
}

/// Parses the time of an observation: from 1900 to one day after `now`.
pub(crate) fn observed_at(text: &str, now: DateTime<Utc>) -> Result<DateTime<FixedOffset>, String> {
    let at = parse_time(text)?;
    if at > now + AHEAD {
        return Err(format!("{text} is more than a day in the future"));
    }
    Ok(at)
}

/// Parses RFC 3339, or ISO 8601 without a zone as UTC; from 1900 on. Seconds may be omitted, and without a zone the time
/// of day.
pub(crate) fn parse_time(text: &str) -> Result<DateTime<FixedOffset>, String> {
    let zoned = || DateTime::parse_from_rfc3339(text).ok();
    let zoned_without_seconds = || {
        let (minute, zone) = text.split_at_checked("2026-05-07T18:30".len())?;
        let is_zone = zone.starts_with(['Z', 'z', '+', '-']);
        let whole = is_zone.then(|| format!("{minute}:00{zone}"))?;
        DateTime::parse_from_rfc3339(&whole).ok()
    };
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
    let at = zoned().or_else(zoned_without_seconds).or_else(plain);
    let at = at.filter(|_| text.len() <= 64).ok_or_else(|| {
        "is not a time like 2026-05-07T18:30:00+02:00, or in UTC 2026-05-07T16:30:00 or 2026-05-07".to_owned()
    })?;
    if (YEAR_MIN..=9_999).contains(&at.year()) {
        Ok(at)
    } else {
        Err(format!("the year is not {YEAR_MIN} to 9999"))
    }
}

/// Parses the time in a field of a request, if it is present. A `+` before the zone that is not percent-encoded arrives
/// as a space.
pub(crate) fn parse_time_field(field: &str, text: Option<&str>) -> Result<Option<DateTime<FixedOffset>>, Problem> {
    let zoned = |it: &str| {
        let (moment, zone) = it.rsplit_once(' ')?;
        parse_time(&format!("{moment}+{zone}")).ok()
    };
    let read = |it: &str| match (parse_time(it), zoned(it)) {
        (Ok(at), _) | (Err(_), Some(at)) => Ok(at),
        (Err(error), None) => Err(Problem::invalid_request(format!("{field}: {error}"))),
    };
    text.map(read).transpose()
}

/// Checks a name that appears in paths. Clients remove the segments `.` and `..` from a path, so a request to erase the
/// record `..` would become a request to erase the space.
pub(crate) fn check_addressable(field: &str, name: Option<&str>) -> Result<(), String> {
    match name {
        Some(it @ ("." | "..")) => Err(format!("{field}: `{it}` cannot be part of a URL; use another name")),
        Some(_) | None => Ok(()),
    }
}

/// Checks a text for people: a length limit, and no control characters except line breaks and tabs.
pub(crate) fn check_content(field: &str, text: &str, bytes_max: usize) -> Result<(), String> {
    if text.len() > bytes_max {
        return Err(format!("{field}: has {} bytes, more than {bytes_max}", text.len()));
    }
    match text
        .chars()
        .find(|it| it.is_control() && !matches!(it, '\n' | '\r' | '\t'))
    {
        Some(control) => Err(format!(
            "{field}: holds the control character U+{:04X}",
            u32::from(control)
        )),
        None => Ok(()),
    }
}

/// Checks a name: a length limit, and no control characters.
pub(crate) fn check_name(field: &str, text: Option<&str>, bytes_max: usize) -> Result<(), String> {
    let text = text.unwrap_or_default();
    if text.len() > bytes_max {
        return Err(format!("{field}: has {} bytes, more than {bytes_max}", text.len()));
    }
    match text.chars().find(|it| it.is_control()) {
        Some(control) => Err(format!(
            "{field}: holds the control character U+{:04X}",
            u32::from(control)
        )),
        None => Ok(()),
    }
}

fn check_tool_call(call: &NewTool, bytes_max: usize) -> Result<(), String> {
    check_name("tool.name", Some(&call.name), TOOL_NAME_BYTES_MAX)?;
    if call.name.trim().is_empty() {
        return Err("tool.name: is empty".to_owned());
    }
    for (field, value) in [("tool.arguments", &call.arguments), ("tool.result", &call.result)] {
        if is_deeper_than(value, DEPTH_MAX) {
            return Err(format!("{field}: is nested deeper than {DEPTH_MAX}"));
        }
        let text = json_text(value);
        if text.len() > bytes_max {
            return Err(format!("{field}: has {} bytes, more than {bytes_max}", text.len()));
        }
        // Terminal output contains control characters for colours; only the character that no store can hold is
        // refused.
        if text.contains('\0') {
            return Err(format!("{field}: holds the control character U+0000"));
        }
    }
    Ok(())
}

/// Returns a text unchanged, null as an empty text, and any other value as JSON.
pub(crate) fn json_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

/// Returns true if a value is nested deeper than `most`.
fn is_deeper_than(value: &Value, most: usize) -> bool {
    match value {
        Value::Array(items) => most == 0 || items.iter().any(|it| is_deeper_than(it, most - 1)),
        Value::Object(fields) => most == 0 || fields.values().any(|it| is_deeper_than(it, most - 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn check_metadata(it: &NewRecord) -> Result<(), String> {
    if it.metadata.len() > METADATA_ENTRIES_MAX {
        return Err(format!(
            "metadata: has {} entries, more than {METADATA_ENTRIES_MAX}",
            it.metadata.len()
        ));
    }
    for (key, value) in &it.metadata {
        check_name("metadata: a name", Some(key), METADATA_NAME_BYTES_MAX)?;
        check_content("metadata: a value", value, METADATA_VALUE_BYTES_MAX)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_json(json: &str) -> String {
        let parsed: NewRecord = serde_json::from_str(json).unwrap();
        check_record(&parsed, 100).err().unwrap_or_default()
    }

    #[test]
    fn an_address_that_contains_the_picture_may_be_longer_than_other_addresses() {
        let with = |uri: &str| check_json(&serde_json::json!({ "text": "a", "image_uri": uri }).to_string());
        let of = |start: &str, bytes: usize| format!("{start}{}", "A".repeat(bytes - start.len()));
        assert_eq!(with(&of("https://example.com/", URI_BYTES_MAX)), "");
        assert_eq!(with(&of("DATA:image/png;base64,", DATA_URI_BYTES_MAX)), "");
        let too_long = with(&of("https://example.com/", URI_BYTES_MAX + 1));
        assert_eq!(too_long, "image_uri: has 2049 bytes, more than 2048");
        let too_long = with(&of("data:image/png;base64,", DATA_URI_BYTES_MAX + 1));
        assert_eq!(too_long, "image_uri: has 131073 bytes, more than 131072");
    }

    #[test]
    fn the_id_of_a_version_may_be_longer_than_the_id_of_its_record() {
        let of = "a".repeat(NAME_BYTES_MAX);
        let with = |id: &str, version: serde_json::Value| {
            check_json(&serde_json::json!({"text": "a", "id": id, "version": version}).to_string())
        };
        let number = version_ids::VERSIONS_MAX;
        let version = serde_json::json!({"of": of, "number": number});
        assert_eq!(with(&version_ids::version_id(&of, number), version), "");
        let too_long = with(&format!("{of}#x1000"), serde_json::Value::Null);
        assert_eq!(too_long, "id: has 262 bytes, more than 256");
    }

    #[test]
    fn a_time_may_omit_seconds_the_zone_or_the_time_of_day() {
        for (text, expected) in [
            ("2026-05-07T18:30:00+02:00", "2026-05-07T16:30:00+00:00"),
            ("2026-05-07T16:30Z", "2026-05-07T16:30:00+00:00"),
            ("2026-05-07 18:30+02:00", "2026-05-07T16:30:00+00:00"),
            ("2026-05-07T12:30-04:00", "2026-05-07T16:30:00+00:00"),
            ("2026-05-07T16:30", "2026-05-07T16:30:00+00:00"),
            ("2026-05-07", "2026-05-07T00:00:00+00:00"),
        ] {
            assert_eq!(parse_time(text).unwrap().to_utc().to_rfc3339(), expected, "{text}");
        }
        for text in [
            "2026-05-07T16:30 UTC",
            "2026-05-07T16Z",
            "2026-05-07Z",
            "2026-05-07T16:30:Z",
            "2026-05-07T16:3éZ",
        ] {
            assert!(parse_time(text).is_err(), "{text}");
        }
        // A `+` that is not percent-encoded arrives as a space.
        let field = parse_time_field("from", Some("2026-05-07T18:30 02:00"))
            .unwrap()
            .unwrap();
        assert_eq!(field.to_utc().to_rfc3339(), "2026-05-07T16:30:00+00:00");
    }

    #[test]
    fn invalid_records_are_refused_by_field() {
        let deep = format!(
            r#"{{"tool":{{"name":"x","arguments":{}{}}}}}"#,
            "[".repeat(40),
            "]".repeat(40)
        );
        for (json, expected) in [
            (r#"{"text":"Привет,\tмир\n"}"#, ""),
            (r#"{"image_caption":"a dog"}"#, ""),
            (r#"{"tool":{"name":"ls","result":"\u001b[1mred"}}"#, ""),
            ("{}", "text: the record has no text, no image_caption and no tool"),
            (
                r#"{"text":" \n\t"}"#,
                "text: the record has no text, no image_caption and no tool",
            ),
            (r#"{"text":"a\u0000b"}"#, "text: holds the control character U+0000"),
            (r#"{"text":"a","id":"x\ny"}"#, "id: holds the control character U+000A"),
            (r#"{"text":"a","id":""}"#, "id: is empty; leave it out instead"),
            (
                r#"{"text":"a","id":".."}"#,
                "id: `..` cannot be part of a URL; use another name",
            ),
            (
                r#"{"text":"a","session":"."}"#,
                "session: `.` cannot be part of a URL; use another name",
            ),
            (r#"{"text":"a","id":"..."}"#, ""),
            (r#"{"text":"a","tool":{}}"#, "tool.name: is empty"),
            (&deep, "tool.arguments: is nested deeper than 32"),
            (
                &format!(r#"{{"text":"{}"}}"#, "é".repeat(51)),
                "text: has 102 bytes, more than 100; send it as several records, or raise [gateway] text_bytes_max",
            ),
            (
                r#"{"text":"a","ordinal":9223372036854775808}"#,
                "ordinal: is more than 9223372036854775807",
            ),
        ] {
            assert_eq!(check_json(json), expected, "{json}");
        }
    }

    #[test]
    fn times_are_read_with_and_without_a_zone() {
        let now = parse_time("2026-05-07T12:00:00Z").unwrap().to_utc();
        for (text, expected) in [
            ("2026-05-07T18:30:00+02:00", "2026-05-07T18:30:00+02:00"),
            ("2026-05-07T16:30:00.5", "2026-05-07T16:30:00.500+00:00"),
            ("2026-05-07 16:30", "2026-05-07T16:30:00+00:00"),
            ("2026-05-07", "2026-05-07T00:00:00+00:00"),
            ("2026-05-08T12:00:00Z", "2026-05-08T12:00:00+00:00"),
        ] {
            assert_eq!(observed_at(text, now).unwrap().to_rfc3339(), expected, "{text}");
        }
        for text in [
            "",
            "yesterday",
            "2026-13-01",
            "1899-12-31",
            "2026-05-08T12:00:01Z",
            "2026-02-30T00:00:00Z",
            "+10000-01-01T00:00:00Z",
        ] {
            assert!(observed_at(text, now).is_err(), "{text}");
        }
    }
}
