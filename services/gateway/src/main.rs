//! The gateway as a separate process.

use std::process::ExitCode;

fn main() -> ExitCode {
    host::run_service("gateway", gateway::run)
}
