//! `mnemic`: see the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run_command_line()
}
