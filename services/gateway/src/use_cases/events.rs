//! Events of spaces for subscribers: streams of server-sent events, and webhooks.
//!
//! The stores are the source: the progress of the writer in a space, the queues on the bus, and the receipts of
//! erasures. So every gateway sees every event, whichever process did the work, and spaces without subscribers are not
//! polled. `space_watch` reads one space and compares it with its previous state. `stream` serves one caller.
//! `webhook_rounds` goes through the spaces of the webhooks. `receivers` gets the webhooks from the settings and the
//! store. `delivery` sends the events from the bounded `queue` of each receiver.

mod delivery;
mod queue;
mod receivers;
mod space_event;
mod space_watch;
mod stream;
mod stream_position;
mod webhook_rounds;

pub(crate) use delivery::{Hook, open_hooks};
pub(crate) use stream::EventStream;
pub(crate) use webhook_rounds::send_all;
