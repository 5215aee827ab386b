use std::path::PathBuf;

use clap::Subcommand;
use domain::id::SpaceId;

use super::{Local, Remote};

/// List the receipts of erasures, show one, or check that erased data is gone from every store and file.
///
/// A receipt states which data were erased, when, and how much. It is kept after the erasure, even after the erasure of
/// a whole space, and contains no word of the erased data.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mnemic erasures list --space ann
  mnemic erasures check --space ann 5b1e6a52-6f0e-5c63-9a3f-6b1a4f1a7b10
  mnemic erasures check --space ann 5b1e6a52-6f0e-5c63-9a3f-6b1a4f1a7b10 \\
    --stdin --data /var/lib/mnemic /var/log/mnemic.log ann.jsonl < erased.txt")]
pub(crate) struct Erasures {
    #[command(subcommand)]
    pub(crate) command: ErasuresCommand,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ErasuresCommand {
    /// List the receipts of a space, oldest first; the space itself may be erased.
    List {
        /// The space.
        #[arg(long, short)]
        space: SpaceId,
        /// Print the receipts as the server returns them, one JSON object per line.
        #[arg(long)]
        json: bool,
    },
    /// Show one receipt.
    Show {
        /// Id of the receipt.
        id: String,
        /// The space.
        #[arg(long, short)]
        space: SpaceId,
    },
    /// Search every store, and files if requested, for the erased data (exit code 3 if any of it is found).
    Check(CheckErasure),
}

#[derive(Debug, clap::Args)]
pub(crate) struct CheckErasure {
    /// The id of the receipt.
    pub(crate) id: String,
    /// The space.
    #[arg(long, short)]
    pub(crate) space: SpaceId,
    /// Read an erased text from standard input, and search for it in the files of the memory on this machine and in the
    /// given files. The text is not sent to the server.
    #[arg(long)]
    pub(crate) stdin: bool,
    /// Logs, exports and copies to search as well.
    #[arg(requires = "stdin")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) local: Local,
    /// Print the result as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
