//! Consecutive records of a session that are divided into segments.

use domain::record::Record;

/// Consecutive records of one session, in session order.
#[derive(Clone, Debug, PartialEq)]
pub struct Stretch {
    /// The records.
    pub records: Vec<Record>,
    /// True if the session begins here.
    pub starts: bool,
    /// True if the session ends here, as far as is known.
    pub ends: bool,
}
