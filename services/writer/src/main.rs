//! Runs the writer as a separate process.

use std::process::ExitCode;

fn main() -> ExitCode {
    host::main("writer", writer::run)
}
