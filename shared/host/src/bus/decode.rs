//! Reads the messages that consumers get.

use domain::message::Message;
use serde::de::Error;

use crate::spawn_background;

/// A payload of this length is read outside of the async runtime.
const LARGE_BYTES: usize = 64 << 10;

/// Returns the message of a payload. A large payload takes milliseconds and would delay questions, so it is parsed on a
/// thread of low priority.
pub(super) async fn decode_message<M: Message>(payload: &[u8]) -> serde_json::Result<M> {
    if payload.len() < LARGE_BYTES {
        return serde_json::from_slice(payload);
    }
    let payload = payload.to_vec();
    let read = spawn_background(move || serde_json::from_slice(&payload)).await;
    read.unwrap_or_else(|_| Err(serde_json::Error::custom("reading it panicked")))
}
