//! Sends an import in batches, and remembers its progress.

pub(super) mod batch;
pub(super) mod dry_run;
pub(super) mod messages;
pub(super) mod readings;
pub(super) mod state;
pub(super) mod tally;
