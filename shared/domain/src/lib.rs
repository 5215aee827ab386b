//! The vocabulary of Mnemic: plain data, derived ids, versioned messages and the ports to the outside world.
//!
//! Nothing here knows a runtime, a socket or a clock. Read in this order:
//!
//! - [`id`]: how everything is identified.
//! - [`time`], [`record`] and [`curation`]: the input. [`reading`]: a language model's reply about it. [`erasure`]: the
//!   receipts of what was erased.
//! - [`mod@unit`], [`relation`], [`fact`], [`entity`], [`topic`], [`page`], [`merge`]: objects that are derived from
//!   the input. [`derived`] is an enum over the last five and [`predicate`] is the meaning of the predicates of facts.
//! - [`anchor`], [`question`] and [`evidence`]: what a question asks, how it is read, and its result.
//! - [`recall`]: proactive hints.
//! - [`code`]: the codes that programs compare.
//! - [`message`]: the messages between services. [`port`]: what services need from stores, bus and models.
//!
//! # Glossary
//!
//! - **Space**: an isolated memory. Every key of every store starts with it.
//! - **Record**: one raw observation, immutable.
//! - **Unit**: the object that is searched and shown. Its grain is `turn` (one per record), `event` (one per segment of
//!   a session) or `gist` (one thing that a language model read there).
//! - **Reading**: the reply of a language model about a passage of a session. Gists, relations and facts are derived
//!   from it.
//! - **Part**: a stretch of a unit that is short enough to be compared as one piece.
//! - **Entity**, **Fact**, **Relation**: typed knowledge derived from units.
//! - **Topic**: a cluster of event units with a label. **Dimension > Page > Section**: the navigable view of a memory.
//! - **Curation**: a decision of a person about a memory: a correction, retirement, pin or erasure. All but an erasure
//!   can be undone.
//! - **Receipt**: proof of an erasure. It outlives the erased content and contains no word of it.
//! - **Key**: opens spaces to a caller. A store keeps only the digest of its token.
//! - **Webhook**: an address that events are sent to. A store keeps the webhooks that were created through the API.
//! - **Hint**: something that recall says without being asked.
//! - **Anchor**: a constraint of a question, known before anything is searched.
//! - **Evidence pack**: ordered units with text, provenance, scores and token cost, inside a budget.
//! - **Verdict**: whether the evidence supports an answer.
//! - **Tag**, **metadata**: labels that a caller stores with a record. A [`filter`] restricts lists and searches by
//!   them.
//! - **Watermark**: a position in the stream of accepted records that a query may wait for.

pub mod anchor;
pub mod code;
pub mod curation;
pub mod derived;
pub mod entity;
pub mod erasure;
pub mod error;
pub mod evidence;
pub mod fact;
pub mod filter;
pub mod id;
pub mod key;
pub mod merge;
pub mod message;
pub mod page;
pub mod port;
pub mod predicate;
pub mod question;
pub mod reading;
pub mod recall;
pub mod record;
pub mod relation;
pub mod time;
pub mod topic;
pub mod unit;
pub mod version;
pub mod webhook;

pub use error::{Classify, ErrorKind, PortError};
