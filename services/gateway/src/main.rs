//! The gateway as a process of its own.

use std::process::ExitCode;

fn main() -> ExitCode {
    host::main("gateway", gateway::run)
}
