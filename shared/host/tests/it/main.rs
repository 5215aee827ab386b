//! Tests of the host with embedded stores: delivery, requests, traces, the admin port.

#![expect(clippy::unwrap_used, reason = "helpers of tests, where a panic is the report")]

mod bus;
mod trace;

use domain::message::UnitsWrittenV1;
use domain::port::Position;
use host::Context;
use tempfile::TempDir;

/// Returns a context with its directory, which is deleted on drop.
pub(crate) async fn context() -> (Context, TempDir) {
    let dir = tempfile::tempdir().unwrap();
    (Context::embedded_with_defaults(dir.path()).await.unwrap(), dir)
}

pub(crate) fn message(position: u64) -> UnitsWrittenV1 {
    let space = "s".parse().unwrap();
    UnitsWrittenV1 {
        space,
        position: Position(position),
        sessions: Vec::new(),
        units: Vec::new(),
        acts: false,
    }
}
