//! Models: the built-in embedder, a sentence encoder of the operator's choice, models over HTTP, and recordings of
//! calls.

pub(crate) mod embedder;
#[cfg(feature = "encoder")]
mod encoder;
pub mod endpoint;
pub mod recording;
pub(crate) mod vectors;
