//! How many messages of one space a bus hands out at a time.

use domain::message::{Message, UnitsOrganisedV1};

/// Number of messages of [`UnitsOrganisedV1`] of one space: one that is handled, and the next one.
const ORGANISED_MAX: usize = 2;

/// Returns the maximum number of unsettled deliveries of a subject and space to one group in this process. Messages that
/// say that units of a space changed are handled one after another. Without a limit, those of a space whose turn takes
/// long would occupy every consumer, and other spaces would wait for it.
pub(crate) fn deliveries_of_space_max(subject: &str) -> usize {
    match subject {
        UnitsOrganisedV1::SUBJECT => ORGANISED_MAX,
        _ => usize::MAX,
    }
}
