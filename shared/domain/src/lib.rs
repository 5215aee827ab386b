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
//! - **Merge**: joins two units that describe the same event, or two names of one person, and can be undone.
//! - **Curation** (audit log): a decision of a person about a memory: a correction, retirement, pin or erasure. All but
//!   an erasure can be undone.
//! - **Receipt** ([`erasure`]): proof of an erasure. It outlives the erased content and contains no word of it.
//! - **Key**: opens spaces to a caller. A store keeps only the digest of its token.
//! - **Webhook**: an address that events are sent to. A store keeps the webhooks that were created through the API.
//! - **Hint** ([`recall`]): something that recall says without being asked.
//! - **Anchor**: a constraint of a question, known before anything is searched.
//! - **Channel** ([`evidence::Channel`]): one way of the router to find candidates, such as words, vectors or times.
//! - **Head** ([`evidence::Scores`]): a linear model of the router that scores candidates.
//! - **Evidence pack** ([`evidence`]): ordered units with text, provenance, scores and token cost, inside a budget.
//! - **Verdict** ([`evidence::Verdict`]): whether the evidence supports an answer.
//! - **Strategy** ([`message::ExplorationStrategy`]): the rules by which a language model explores a memory for a question.
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
mod model_cost;
pub mod page;
pub mod port;
mod position;
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
