//! What happens in spaces, for whoever listens: streams of server-sent events, and webhooks.
//!
//! The stores are the source: how far a space is written, what waits on the bus, and the receipts of erasures. So every gateway
//! sees every event, whichever process did the work, and nothing is looked at for spaces to which nobody listens. `watch` looks at
//! one space and compares it with what was seen before; `stream` serves one caller; `rounds` goes through the spaces of the
//! webhooks, which `receivers` takes from the settings and the store, and `delivery` sends what it finds from the bounded `queue`
//! of each.

mod delivery;
mod notice;
mod place;
mod queue;
mod receivers;
mod rounds;
mod settings;
mod stream;
mod watch;

pub(crate) use delivery::{Hook, open_hooks};
pub(crate) use rounds::send_all;
pub use settings::{Events, WebhookReach, WebhookSettings};
pub(crate) use stream::EventStream;
