//! A reply that is forwarded while it arrives, byte for byte.
//!
//! It runs in a separate task, which ends with the stream or when the caller disconnects, and then stores the reply.

use axum::Error;
use axum::body::{Body, Bytes};
use futures::stream;
use host::metrics::ProxyOutcome;
use host::relay::Relayed;
use tokio::sync::mpsc::{self, Sender};
use tracing::{Instrument, Span, info, warn};

use super::REPLY_BYTES_MAX;
use super::reply::Events;
use super::store::Storing;
use crate::app::state::Share;

/// Number of chunks that are buffered for a slow caller; then the endpoint has to wait too.
const WAITING: usize = 16;

/// A stream and its context.
pub(super) struct Streaming {
    pub(super) relayed: Relayed,
    pub(super) storing: Storing,
    /// Digest of the messages that the stream replies to.
    pub(super) conversation: String,
    pub(super) remembered: bool,
    /// The caller's share of the forwarded chats.
    pub(super) share: Share,
}

/// Reasons why a stream is not forwarded to its end.
enum Broken {
    /// The caller disconnected.
    Left,
    /// The endpoint stopped early, or sent too much.
    Endpoint(Error),
}

/// Starts to forward a stream; returns the body of the response.
pub(super) fn pass_on(streaming: Streaming) -> Body {
    let (sender, receiver) = mpsc::channel(WAITING);
    tokio::spawn(forward_and_store(streaming, sender).instrument(Span::current()));
    Body::from_stream(stream::unfold(receiver, async |mut receiver| {
        let next: Result<Bytes, Error> = receiver.recv().await?;
        Some((next, receiver))
    }))
}

async fn forward_and_store(streaming: Streaming, sender: Sender<Result<Bytes, Error>>) {
    let Streaming {
        relayed,
        storing,
        conversation,
        remembered,
        share,
    } = streaming;
    let mut events = Events::default();
    let passed = forward_chunks(relayed, &mut events, &sender).await;
    drop(share);
    let reply = events.into_reply();
    let outcome = if reply.cut {
        ProxyOutcome::Cut
    } else {
        ProxyOutcome::Replied
    };
    storing.app.context.metrics.count_proxied_chat(outcome, remembered);
    if !reply.is_empty() {
        let records = storing.reply_records(&conversation, &reply);
        storing.store_records(records).await;
    }
    match passed {
        Ok(()) => {}
        Err(Broken::Left) => info!("the caller disconnected before the end of the reply"),
        // The caller's connection is broken off like that of the endpoint: a normal end would look like the end of the
        // reply.
        Err(Broken::Endpoint(error)) => drop(sender.send(Err(error)).await),
    }
}

/// Forwards chunks until the end; an early return ends the call to the endpoint.
async fn forward_chunks(
    mut relayed: Relayed,
    events: &mut Events,
    sender: &Sender<Result<Bytes, Error>>,
) -> Result<(), Broken> {
    let mut bytes_left = REPLY_BYTES_MAX;
    loop {
        let chunk = tokio::select! {
            biased;
            () = sender.closed() => return Err(Broken::Left),
            chunk = relayed.read_chunk() => chunk,
        };
        let chunk = match chunk {
            Ok(Some(chunk)) => chunk,
            Ok(None) => return Ok(()),
            Err(error) => {
                warn!(
                    error = &error as &dyn std::error::Error,
                    "the reply of the language model ended too early"
                );
                return Err(Broken::Endpoint(Error::new(error)));
            }
        };
        let Some(less) = bytes_left.checked_sub(chunk.len()) else {
            warn!(
                bytes_max = REPLY_BYTES_MAX,
                "the reply of the language model is too long"
            );
            return Err(Broken::Endpoint(Error::new("the reply is too long")));
        };
        bytes_left = less;
        events.parse_chunk(&chunk);
        if sender.send(Ok(Bytes::from(chunk))).await.is_err() {
            return Err(Broken::Left);
        }
    }
}
