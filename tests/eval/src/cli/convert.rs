//! `mnemic-eval convert`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::print_text;
use crate::convert::{Conversion, Format, convert_data};

#[derive(Debug, Args)]
pub(super) struct ConvertArgs {
    /// Format of the files.
    #[arg(value_enum)]
    format: Format,
    /// Files to convert.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// File with the probing questions of BEAM; the other file is then one chat.
    #[arg(long, value_name = "FILE")]
    questions: Option<PathBuf>,
    /// Folder for the data set.
    #[arg(long, default_value = "converted")]
    out: PathBuf,
}

pub(super) fn run_convert(args: ConvertArgs) -> anyhow::Result<ExitCode> {
    let out = args.out.clone();
    let counts = convert_data(&Conversion {
        format: args.format,
        files: args.files,
        questions: args.questions,
        out: args.out,
    })?;
    print_text(&format!(
        "{} conversations, {} turns, {} questions, see {}",
        counts.conversations,
        counts.turns,
        counts.questions,
        out.display()
    ));
    for (what, count) in &counts.notes.0 {
        print_text(&format!("note: {count} {what}"));
    }
    Ok(ExitCode::SUCCESS)
}
