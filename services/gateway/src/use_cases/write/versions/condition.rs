//! The conditions under which a record is put under an id.

use super::Newest;
use crate::api::problem::{Problem, ProblemCode};

/// The condition under which a record is put under an id.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Condition {
    /// There is no condition.
    Unconditional,
    /// The record must exist.
    Exists,
    /// The record must not exist.
    Absent,
}

impl Condition {
    /// Checks the condition against the newest state of the record `name`. For [`Condition::Absent`], a first version
    /// that is accepted and not stored yet does not count: the claim of its id decides later, see
    /// [`Condition::after_conflict`].
    ///
    /// # Errors
    /// 412 if the condition is not met.
    pub(super) fn check_state(self, name: &str, state: &Newest) -> Result<(), Problem> {
        let is_stored = state.stored.is_some();
        match self {
            Condition::Exists if !is_stored && state.pending_number.is_none() => Err(no_record_problem(name)),
            Condition::Absent if is_stored || state.pending_number.is_some_and(|it| it > 1) => {
                Err(record_exists_problem(name))
            }
            Condition::Unconditional | Condition::Exists | Condition::Absent => Ok(()),
        }
    }

    /// Checks the condition after the id of a version turned out to be claimed for other content.
    ///
    /// # Errors
    /// 412 if the record must not exist.
    pub(super) fn after_conflict(self, name: &str) -> Result<(), Problem> {
        match self {
            Condition::Absent => Err(Problem::new(ProblemCode::RecordExists).with_detail(format!(
                "another write took the id `{name}` for other content; if that write failed, send its content again, or \
                 send this request without If-None-Match"
            ))),
            Condition::Unconditional | Condition::Exists => Ok(()),
        }
    }
}

fn no_record_problem(name: &str) -> Problem {
    Problem::new(ProblemCode::NoRecord).with_detail(format!(
        "there is no record `{name}` to update, or it was erased; to create it, send the request without If-Match"
    ))
}

fn record_exists_problem(name: &str) -> Problem {
    Problem::new(ProblemCode::RecordExists).with_detail(format!(
        "the record `{name}` exists already; to put its next version, send the request without If-None-Match"
    ))
}
