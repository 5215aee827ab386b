//! Runs the clusterer as a separate process.

use std::process::ExitCode;

fn main() -> ExitCode {
    host::run_service("clusterer", clusterer::run)
}
