use std::path::PathBuf;

use clap::Subcommand;
use domain::id::SpaceId;

use super::{Local, Remote};

/// List the receipts of erasures, show one, or check that what was erased is gone from every store and file.
///
/// A receipt says what was erased, when, and how much it was. It outlives what it is about, a whole space too, and holds no word
/// of it.
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
    /// List the receipts of a space, oldest first; the space may be erased itself.
    List {
        /// The space.
        #[arg(long, short)]
        space: SpaceId,
        /// Print the receipts as the server has them, a line each.
        #[arg(long)]
        json: bool,
    },
    /// Show one receipt.
    Show {
        /// Its id.
        id: String,
        /// The space.
        #[arg(long, short)]
        space: SpaceId,
    },
    /// Look in every store, and in files if asked, for what was erased (exit code 3 if something of it is there).
    Check(CheckErasure),
}

#[derive(Debug, clap::Args)]
pub(crate) struct CheckErasure {
    /// The id of the receipt.
    pub(crate) id: String,
    /// The space.
    #[arg(long, short)]
    pub(crate) space: SpaceId,
    /// Read a text that was erased from standard input, and look for it in the files of the memory on this machine and in those
    /// named. The server is not told the text.
    #[arg(long)]
    pub(crate) stdin: bool,
    /// Logs, exports and copies to look at too.
    #[arg(requires = "stdin")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) local: Local,
    /// Print what was found as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
