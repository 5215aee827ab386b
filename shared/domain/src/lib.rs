//! The vocabulary of Mnemic: plain data, derived ids, versioned messages and the ports to the outside world.
//!
//! Nothing here knows a runtime, a socket or a clock. Read in this order: [`id`] (what everything is called),
//! [`time`], [`record`] and [`curation`] (what came in), [`reading`] (what a language model said about it), [`erasure`] (what was taken out again), [`mod@unit`], [`relation`], [`fact`], [`entity`], [`topic`], [`page`],
//! [`merge`] (what was written from it; [`derived`] is all of the last five; [`predicate`] is what facts say), [`anchor`], [`question`] and [`evidence`] (what a question
//! asks, how it is read and what it gets), [`recall`] (what is said unasked), [`message`] (what services tell each
//! other), [`code`] (what programs compare) and [`port`] (what services need from stores, bus and models).
//!
//! # Glossary
//!
//! - **Space**: an isolated memory. Every key of every store starts with it.
//! - **Record**: one raw observation, immutable.
//! - **Unit**: what is found and shown; grain `turn` (one a record), `event` (one a segment of a session) or `gist` (one thing that
//!   a language model read there).
//! - **Reading**: what a language model said about a passage of a session; gists, relations and facts are derived from it.
//! - **Part**: a stretch of a unit that is short enough to be compared as one piece.
//! - **Entity**, **Fact**, **Relation**: typed knowledge derived from units.
//! - **Topic**: a cluster of event units with a label. **Dimension > Page > Section**: the view that can be walked through.
//! - **Curation**: what people decided about a memory: corrections, retirements, pins, erasures; all but an erasure can be undone.
//! - **Receipt**: proof of an erasure that outlives what was erased and holds no word of it.
//! - **Key**: what opens spaces to a caller; a store keeps the digest of its token only.
//! - **Webhook**: an address that events are sent to; a store keeps those that were made through the API.
//! - **Hint**: what recall says unasked.
//! - **Anchor**: what a question fixes before anything is searched.
//! - **Evidence pack**: ordered units with text, provenance, scores and token cost, inside a budget.
//! - **Verdict**: whether the evidence supports an answer.
//! - **Tag**, **metadata**: what a caller keeps with a record; a [`filter`] narrows what is listed and found by them.
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
