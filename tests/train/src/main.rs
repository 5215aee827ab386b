//! `mnemic-train`: see the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    train::cli::main()
}
