use clap::CommandFactory;

use crate::args::{Args, Completions};
use crate::{Outcome, output};

/// Writes the completion script for a shell.
pub(crate) fn print_completion_script(args: &Completions) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "mnemic", &mut script);
    output::print_line(String::from_utf8_lossy(&script).trim_end());
    Outcome::Done
}
