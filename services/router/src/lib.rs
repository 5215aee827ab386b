//! The router: finds, ranks and packs the smallest evidence that answers a question (S3Mem), without a model.
//!
//! The core is pure and may be read from the top down. [`view`] holds a space, and [`scope`] is the part of it that a
//! filter selects. [`query`] reads a question. [`propose`] collects candidates, [`mod@matches`] and [`features`]
//! measure them, [`heads`] weighs the features, [`pack`] chooses the lines, and [`route`] joins these steps. [`Router`]
//! does the same with data from the stores. [`memory`] holds the derived objects of a space. The tools read view and
//! memory, and [`recall`] finds the hints that a message brings to mind.

pub mod edges;
pub mod encoded;
pub mod favour;
pub mod features;
pub mod heads;
pub mod matches;
pub mod memory;
pub mod pack;
pub mod propose;
pub mod query;
pub mod recall;
pub mod route;
pub mod scope;
pub mod slots;
pub mod view;

mod error;
mod explain;
mod likeness;
mod near;
mod service;
mod spaces;
mod stated;
mod tools;

pub use error::Error;
pub use service::{Config, Router, run};
