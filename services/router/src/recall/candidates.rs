//! Candidates for hints: facts, contradictions, and turns that matter to the message.

pub(crate) mod contradictions;
pub(crate) mod fact_hints;
pub mod hint_candidate;
pub(crate) mod relevance;
