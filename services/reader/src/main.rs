//! The reader as a separate process.

use std::process::ExitCode;

fn main() -> ExitCode {
    host::main("reader", reader::run)
}
