//! `mnemic`: see the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
