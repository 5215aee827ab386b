//! The reader as a separate process.

use std::process::ExitCode;

fn main() -> ExitCode {
    host::run_service("reader", reader::run)
}
