use clap::CommandFactory;

use crate::args::{Args, Completions};
use crate::{Outcome, out};

/// Writes the completion script for a shell.
pub(crate) fn write(args: &Completions) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "mnemic", &mut script);
    out::say(String::from_utf8_lossy(&script).trim_end());
    Outcome::Done
}
