//! Reads the messages that consumers get.

use domain::message::Message;
use serde::de::Error;

use crate::background;

/// A payload of this length is read outside of the async runtime.
const LARGE_BYTES: usize = 64 << 10;

/// Returns the message of a payload. A large one takes milliseconds, in which no question would go on: it is read on a thread of
/// low priority.
pub(super) async fn decode<M: Message>(payload: &[u8]) -> serde_json::Result<M> {
    if payload.len() < LARGE_BYTES {
        return serde_json::from_slice(payload);
    }
    let payload = payload.to_vec();
    let read = background(move || serde_json::from_slice(&payload)).await;
    read.unwrap_or_else(|_| Err(serde_json::Error::custom("reading it panicked")))
}
