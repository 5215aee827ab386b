//! The mark of readings whose second look has not been taken.

use domain::reading::{LeftOut, Reading};

/// Entry in the rejected parts of a reading if the second look failed.
pub(crate) const SECOND_LOOK: &str = "the second look at the passage";

/// Reason in that entry by which 0.1.0 marked a second look that has not been taken.
pub(crate) const NOT_TAKEN: &str = "it has not been taken yet";

/// Returns true if the second look at the passage of a reading has not been taken yet.
pub(crate) fn waits_for_second_look(reading: &Reading) -> bool {
    reading.outcome.waits_for_second_look || reading.outcome.left_out.contains(&second_look(NOT_TAKEN))
}

pub(crate) fn second_look(why: &str) -> LeftOut {
    LeftOut {
        what: SECOND_LOOK.to_owned(),
        why: why.to_owned(),
    }
}
