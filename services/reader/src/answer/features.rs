//! The features of candidate answers.

pub(super) mod candidate_features;
pub(super) mod feature_indices;
pub(super) mod gap_features;
pub(super) mod grade;
pub(super) mod measure;
