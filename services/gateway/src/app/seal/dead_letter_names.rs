//! The names of dead letters that callers see.

use domain::port::DeadLetterId;

use crate::api::problem::Problem;
use crate::app::seal::Sealer;

/// Purpose in the seal of names of dead letters.
pub(crate) const ABOUT: [&str; 1] = ["dead letter"];

/// Returns the name of a dead letter.
pub(crate) fn seal_name(sealer: &Sealer, id: DeadLetterId) -> Result<String, Problem> {
    sealer.seal_value(&ABOUT, &id.to_be_bytes())
}
