//! The vocabulary of Mnemic: plain data, derived ids, versioned messages and the ports to the outside world.
//!
//! Nothing here knows a runtime, a socket or a clock. Read in this order: [`id`] (what everything is called),
//! [`time`], [`record`] (what came in), [`mod@unit`], [`fact`], [`entity`], [`relation`] (what was written from it),
//! [`anchor`] and [`evidence`] (what a question asks and what it gets), [`message`] (what services tell each
//! other) and [`port`] (what services need from stores, bus and models).
//!
//! # Glossary
//!
//! - **Space**: an isolated memory. Every key of every store starts with it.
//! - **Record**: one raw observation, immutable.
//! - **Unit**: what is found and shown; grain `turn` (one a record) or `event` (one a segment of a session).
//! - **Part**: a stretch of a unit that is short enough to be compared as one piece.
//! - **Entity**, **Fact**, **Relation**: typed knowledge derived from units.
//! - **Anchor**: what a question fixes before anything is searched.
//! - **Evidence pack**: ordered units with text, provenance, scores and token cost, inside a budget.
//! - **Verdict**: whether the evidence supports an answer.
//! - **Watermark**: a position in the stream of accepted records that a query may wait for.

pub mod anchor;
pub mod entity;
pub mod error;
pub mod evidence;
pub mod fact;
pub mod id;
pub mod message;
pub mod port;
pub mod record;
pub mod relation;
pub mod time;
pub mod unit;

pub use error::{Classify, ErrorKind, PortError};
