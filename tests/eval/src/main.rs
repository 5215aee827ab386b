//! `mnemic-eval`: see the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    eval::cli::main()
}
