//! Runs the writer as a separate process.

use std::process::ExitCode;

fn main() -> ExitCode {
    host::run_service("writer", writer::run)
}
