//! Runs the router as a separate process.

use std::process::ExitCode;

fn main() -> ExitCode {
    host::run_service("router", router::run)
}
