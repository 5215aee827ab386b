//! The router: finds, ranks and packs the smallest evidence that answers a question (S3Mem), without a model.
//!
//! The core is pure and may be read from the top down:
//!
//! - [`space`] holds a space: its view, its derived objects, and the part that a filter selects.
//! - [`route`](mod@route) finds evidence for a question. `query` reads the question, `propose` collects candidates,
//!   `scoring` measures and weighs them, and `pack` chooses the lines.
//! - [`recall`] finds the hints that a message brings to mind.
//! - `tools` has the catalogue of tools that read a space.
//!
//! [`Router`] does the same with data from the stores; `service` has it and the cache of spaces. `requests` serves it
//! over the bus.

pub mod recall;
pub mod route;
pub mod space;

mod error;
mod requests;
mod service;
mod tools;
mod word_lists;

pub use error::Error;
pub use requests::run;
pub use service::{Config, Router};
pub use tools::tool_catalogue;
