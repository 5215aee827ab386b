//! Scores candidate answers and chooses one.

pub(super) mod change;
pub(super) mod choice;
pub(super) mod score;
