//! The router as a process of its own.

use std::process::ExitCode;

fn main() -> ExitCode {
    host::main("router", router::run)
}
