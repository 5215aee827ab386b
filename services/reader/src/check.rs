//! Verdict and abstention: whether the evidence supports an answer. There are checks in a fixed order, a fitted check,
//! and the certainty of the answer.

pub mod certainty;
pub mod evidence_features;
pub(crate) mod judge;
pub(crate) mod near_misses;
pub(crate) mod objection;
pub mod refusal_check;
pub(crate) mod refusal_reasons;
mod told_events;
