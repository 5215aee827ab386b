//! The router: finds, ranks and packs the smallest evidence that answers a question (S3Mem), without a model.
//!
//! The core is pure and may be read top down: [`view`] holds a space, [`scope`] what of it a filter
//! takes, [`query`] reads a question, [`propose`] collects
//! candidates, [`mod@matches`] and [`features`] measure them, [`heads`] weighs the features, [`pack`] chooses the lines, and
//! [`route`] joins them. [`Router`] does the same from stores. [`memory`] holds what is derived of a space; the tools look
//! around in both, and [`recall`] says unasked what a message wakes in them.

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
