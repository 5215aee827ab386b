//! Frames as NATS messages: the payload stays the payload, everything else is in headers.

pub(super) mod names;

use std::collections::BTreeMap;
use std::str::FromStr;

use async_nats::{HeaderMap, HeaderName, HeaderValue, Message};
use domain::port::{Frame, Result};
use domain::{ErrorKind, PortError};

pub(crate) const SPACE: &str = "Mnemic-Space";
pub(crate) const KEY: &str = "Mnemic-Key";
/// Position of the original message; on replayed messages and dead letters.
pub(crate) const POSITION: &str = "Mnemic-Position";
pub(crate) const SUBJECT: &str = "Mnemic-Subject";
pub(crate) const GROUP: &str = "Mnemic-Group";
pub(crate) const REASON: &str = "Mnemic-Reason";
pub(crate) const ATTEMPTS: &str = "Mnemic-Attempts";
/// Id of the first of the dead letters that this one replaces.
pub(crate) const AMENDS: &str = "Mnemic-Amends";
/// Kind of an error; on replies.
pub(crate) const ERROR: &str = "Mnemic-Error";
/// Milliseconds that the caller still waits at the time of sending; on requests.
pub(crate) const LEFT: &str = "Mnemic-Left";
/// Message id. The server stores only one message per id.
pub(crate) const ID: &str = "Nats-Msg-Id";

/// Headers that are not part of the frame.
const RESERVED: [&str; 10] = [
    SPACE, KEY, POSITION, SUBJECT, GROUP, REASON, ATTEMPTS, AMENDS, ERROR, LEFT,
];

/// Returns an error if a payload has more than `most` bytes, the limit of the server.
pub(crate) fn check_payload_size(operation: &'static str, payload: &[u8], most: usize) -> Result<()> {
    let bytes = payload.len();
    if bytes <= most {
        return Ok(());
    }
    let detail = format!(
        "the message has {bytes} bytes, and NATS allows at most {most} (max_payload of nats-server; 8 MB is needed): send fewer or \
         shorter records in one request"
    );
    Err(PortError::new(operation, ErrorKind::Invalid, detail))
}

/// Returns the headers of a frame, which hold everything but the payload.
pub(crate) fn headers_of_frame(operation: &'static str, frame: &Frame) -> Result<HeaderMap> {
    let mut headers = HeaderMap::new();
    for (name, value) in &frame.headers {
        if RESERVED.contains(&name.as_str()) || name.to_ascii_lowercase().starts_with("nats-") {
            return Err(invalid_header_error(operation, name));
        }
        let name = HeaderName::from_str(name).map_err(|_| invalid_header_error(operation, name))?;
        headers.insert(name, percent_encode(value));
    }
    for (name, value) in [(SPACE, &frame.space), (KEY, &frame.dedup_key)] {
        if !value.is_empty() {
            headers.insert(name, percent_encode(value));
        }
    }
    Ok(headers)
}

/// Returns the frame that [`headers_of_frame`] was called with.
pub(crate) fn frame_from_headers(subject: &str, headers: &HeaderMap, payload: &[u8]) -> Frame {
    let own = |name: &str| !RESERVED.contains(&name) && !name.to_ascii_lowercase().starts_with("nats-");
    let others = headers.iter().filter_map(|(name, values)| {
        let (name, value) = (name.to_string(), values.first()?);
        own(&name).then(|| (name, percent_decode(value.as_str())))
    });
    Frame {
        subject: subject.to_owned(),
        space: text_header(headers, SPACE).unwrap_or_default(),
        dedup_key: text_header(headers, KEY).unwrap_or_default(),
        headers: others.collect::<BTreeMap<_, _>>(),
        payload: payload.to_vec(),
    }
}

/// Returns the frame of a delivered message.
pub(crate) fn frame_of(subject: &str, message: &Message) -> Frame {
    frame_from_headers(
        subject,
        message.headers.as_ref().unwrap_or(&HeaderMap::new()),
        &message.payload,
    )
}

/// Returns the space of a delivered message.
pub(crate) fn space_of(message: &Message) -> String {
    message
        .headers
        .as_ref()
        .and_then(|it| text_header(it, SPACE))
        .unwrap_or_default()
}

/// Sets one header.
pub(crate) fn set_header(headers: &mut HeaderMap, name: &'static str, value: &str) {
    headers.insert(name, percent_encode(value));
}

/// Returns one header, or `None` if it is missing.
pub(crate) fn text_header(headers: &HeaderMap, name: &'static str) -> Option<String> {
    headers.get(name).map(|value| percent_decode(value.as_str()))
}

/// Returns one numeric header, or `None` if it is missing or not a number.
pub(crate) fn number_header(headers: &HeaderMap, name: &'static str) -> Option<u64> {
    text_header(headers, name)?.parse().ok()
}

/// Percent-encodes bytes that a header cannot contain: everything but visible ASCII, and the percent sign.
fn percent_encode(value: &str) -> HeaderValue {
    let mut text = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_graphic() && byte != b'%' {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    HeaderValue::from(text.as_str())
}

fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let escaped = (*first == b'%').then(|| tail.get(..2)).flatten();
        let byte = escaped.and_then(|it| u8::from_str_radix(std::str::from_utf8(it).ok()?, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn invalid_header_error(operation: &'static str, name: &str) -> PortError {
    PortError::new(
        operation,
        ErrorKind::Invalid,
        format!("`{name}` cannot be the name of a header"),
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn headers_carry_any_value(value in ".*", space in ".{0,20}") {
            let sent = Frame {
                subject: "s".to_owned(),
                space,
                headers: BTreeMap::from([("traceparent".to_owned(), value)]),
                ..Frame::default()
            };
            let written = headers_of_frame("test", &sent).unwrap();
            prop_assert_eq!(frame_from_headers("s", &written, b""), sent);
        }
    }
}
