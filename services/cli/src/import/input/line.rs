//! A piece of an import that becomes a record or a reading.

use serde_json::Value;

use crate::import::record_draft::LeftOut;

/// A record or a reading with its place in the input.
pub(crate) struct Line {
    pub(crate) place: String,
    pub(crate) content: Value,
    /// Approximate length.
    pub(crate) bytes: usize,
}

/// Receives reports about entries that cannot be imported.
pub(crate) trait Complaints {
    /// Reports that the entry at `place` is skipped.
    fn report_skipped(&mut self, place: &str, problem: &str);
    /// Returns the counts of entries that are omitted on purpose.
    fn left_out(&mut self) -> &mut LeftOut;
}
