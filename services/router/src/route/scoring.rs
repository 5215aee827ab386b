//! Scores of candidates: matches with the question, features in fixed slots, and the linear heads over them.

pub mod edges;
pub mod feature_slots;
pub mod features;
pub mod heads;
pub mod matches;
