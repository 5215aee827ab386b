//! Common parts of requests: key, fields, times.

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;
use chrono::{DateTime, FixedOffset};
use serde_json::{Map, Value};

use crate::api::problem::Problem;
use crate::mem0::requests::scope::RESERVED;
use crate::use_cases::validate;

/// Header that the open-source server uses.
const KEY_HEADER: &str = "x-api-key";

/// Reads the key where mem0 clients send it: `Authorization: Token KEY`, or `X-API-Key: KEY`. `Bearer` stays unchanged.
pub(crate) async fn read_key(mut request: Request, next: Next) -> Response {
    if let Some(key) = bearer_header(request.headers()) {
        request.headers_mut().insert(header::AUTHORIZATION, key);
    }
    next.run(request).await
}

/// Returns the header value with the key in the form of our own API; `None` if the request needs no change.
fn bearer_header(headers: &HeaderMap) -> Option<HeaderValue> {
    let key = match headers.get(header::AUTHORIZATION) {
        Some(header_value) => {
            let (scheme, key) = header_value.to_str().ok()?.split_once(' ')?;
            scheme.eq_ignore_ascii_case("token").then_some(key)?
        }
        None => headers.get(KEY_HEADER)?.to_str().ok()?,
    };
    HeaderValue::from_str(&format!("Bearer {}", key.trim())).ok()
}

/// Fields of a request.
pub(crate) type Fields = Map<String, Value>;

/// Returns a field that is present and not null.
pub(crate) fn present_field<'a>(fields: &'a Fields, name: &str) -> Option<&'a Value> {
    fields.get(name).filter(|it| !it.is_null())
}

/// Returns a text field.
///
/// # Errors
/// 400 if the field is not a text.
pub(crate) fn text_field<'a>(fields: &'a Fields, name: &str) -> Result<Option<&'a str>, Problem> {
    match present_field(fields, name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(Problem::invalid_request(format!("{name}: is not a text"))),
    }
}

/// Returns an integer field, which may be written as text; `default` if it is missing.
///
/// # Errors
/// 400 if it is not from 1 to `most`.
pub(crate) fn integer_field(fields: &Fields, name: &str, default: usize, most: usize) -> Result<usize, Problem> {
    let Some(value) = present_field(fields, name) else {
        return Ok(default);
    };
    let number = value.as_u64().or_else(|| value.as_str()?.trim().parse().ok());
    let number = number.and_then(|it| usize::try_from(it).ok());
    number
        .filter(|it| (1..=most).contains(it))
        .ok_or_else(|| Problem::invalid_request(format!("{name}: is not a number from 1 to {most}")))
}

/// Returns true if a flag is set; the flag may be written as text.
pub(crate) fn is_set(fields: &Fields, name: &str) -> bool {
    match present_field(fields, name) {
        Some(Value::Bool(flag)) => *flag,
        Some(Value::String(text)) => text.eq_ignore_ascii_case("true") || text == "1",
        Some(Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_)) | None => false,
    }
}

/// Parses a time: seconds since 1970, or a time as in the rest of the API.
pub(crate) fn parse_moment(value: &Value) -> Result<DateTime<FixedOffset>, String> {
    let text = match value {
        Value::String(text) => text.trim(),
        Value::Number(_) => "",
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
            return Err("is neither a time nor seconds since 1970".to_owned());
        }
    };
    let seconds = value.as_f64().or_else(|| text.parse().ok()).filter(|it| it.is_finite());
    let Some(seconds) = seconds else {
        return validate::parse_time(text);
    };
    // Some programs count milliseconds; read as seconds, these would be years after 5000.
    let seconds = if seconds.abs() > 1e11 {
        seconds / 1_000.0
    } else {
        seconds
    };
    let at = DateTime::from_timestamp_micros((seconds * 1e6) as i64);
    at.map(|it| it.fixed_offset())
        .ok_or_else(|| "is not a valid time".to_owned())
}

/// Returns metadata as text by name; values of other types are kept as JSON. Reserved names are refused.
pub(crate) fn read_metadata(fields: &Fields) -> Result<Option<Vec<(String, String)>>, Problem> {
    let Some(value) = present_field(fields, "metadata") else {
        return Ok(None);
    };
    let parsed = value.as_str().and_then(|it| serde_json::from_str::<Value>(it).ok());
    let Value::Object(entries) = parsed.as_ref().unwrap_or(value) else {
        return Err(Problem::invalid_request("metadata: is not an object"));
    };
    if entries.keys().any(|it| it.starts_with(RESERVED)) {
        return Err(Problem::invalid_request(format!(
            "metadata: names that begin with `{RESERVED}` are taken"
        )));
    }
    let shown = entries.iter().filter(|(_, value)| !value.is_null());
    Ok(Some(
        shown
            .map(|(name, value)| (name.clone(), validate::json_text(value)))
            .collect(),
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_are_read_from_every_header_that_clients_use() {
        let read = |name: &'static str, value: &'static str| {
            let headers = HeaderMap::from_iter([(name.parse().unwrap(), HeaderValue::from_static(value))]);
            bearer_header(&headers).map(|it| it.to_str().unwrap().to_owned())
        };
        assert_eq!(read("authorization", "Token k"), Some("Bearer k".to_owned()));
        assert_eq!(read("x-api-key", "k"), Some("Bearer k".to_owned()));
        assert_eq!(read("authorization", "Bearer k"), None);
        assert_eq!(read("authorization", "Basic k"), None);
    }

    #[test]
    fn moments_are_read_as_seconds_milliseconds_and_times() {
        for value in [
            json!(1_683_554_400),
            json!(1_683_554_400.0),
            json!("1683554400"),
            json!(1_683_554_400_000_u64),
            json!("2023-05-08T14:00:00Z"),
        ] {
            assert_eq!(
                parse_moment(&value).unwrap().to_rfc3339(),
                "2023-05-08T14:00:00+00:00",
                "{value}"
            );
        }
        for value in [json!("soon"), json!(true), json!("1e300"), json!({})] {
            assert!(parse_moment(&value).is_err(), "{value}");
        }
    }

    #[test]
    fn metadata_becomes_text() {
        let body = json!({"metadata": {"a": "b", "n": 7, "deep": {"x": [1]}, "none": null}});
        let mut read = read_metadata(body.as_object().unwrap()).unwrap().unwrap();
        read.sort();
        let expected = [("a", "b"), ("deep", r#"{"x":[1]}"#), ("n", "7")];
        assert_eq!(read, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        let taken = json!({"metadata": {"mem0.user_id": "bob"}});
        assert!(read_metadata(taken.as_object().unwrap()).is_err());
    }
}
