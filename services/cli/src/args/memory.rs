use std::path::PathBuf;

use domain::id::SpaceId;

use super::{Remote, Whose};

/// List what a space takes for true: facts with the times from and until which they hold.
///
/// Sorted by whom they are about, oldest first. What does not hold any more is left out unless --all is given; it stays in the
/// memory, and --as-of shows what was known at any moment.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mnemic facts --space ann
  mnemic facts --space ann --about Ben --all
  mnemic facts --space ann --as-of 2026-03-01")]
pub(crate) struct Facts {
    /// The space.
    #[arg(long, short)]
    pub(crate) space: SpaceId,
    /// Only about this person or thing.
    #[arg(long, value_name = "NAME")]
    pub(crate) about: Option<String>,
    /// As they were known at this moment, RFC 3339 or ISO 8601 in UTC.
    #[arg(long, value_name = "TIME")]
    pub(crate) as_of: Option<String>,
    /// What does not hold any more, too.
    #[arg(long)]
    pub(crate) all: bool,
    /// Print the facts as the server has them, a line each.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

/// List the units of a space, or show one: what was made of its records to be found and shown.
///
/// Turns stand for one record, events for several; an event of several people is of no one actor. A line each, oldest first:
/// id, when it was observed, what it is, who, what.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mnemic units --space ann
  mnemic units --space ann --session monday --actor Ben
  mnemic units --space ann --as-of 2026-03-01")]
pub(crate) struct Units {
    /// Show this one whole.
    #[arg(conflicts_with_all = ["session", "actor", "tag"])]
    pub(crate) id: Option<String>,
    /// The space.
    #[arg(long, short)]
    pub(crate) space: SpaceId,
    #[command(flatten)]
    pub(crate) whose: Whose,
    /// As they stood at this moment, RFC 3339 or ISO 8601 in UTC.
    #[arg(long, value_name = "TIME")]
    pub(crate) as_of: Option<String>,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

/// Say a message to a space, and hear what is worth saying unasked.
///
/// Prints hints with their reasons, or why it stays silent, as it mostly does. What was said in a session is not said again
/// there.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mnemic recall \"I'll bring Ann a walnut cake\" --space ann --actor Ben
  mnemic recall \"See you at the clinic\" --space ann --sensitive --json")]
pub(crate) struct Recall {
    /// The message.
    pub(crate) message: String,
    /// The space.
    #[arg(long, short)]
    pub(crate) space: SpaceId,
    /// Who says it.
    #[arg(long, default_value = "")]
    pub(crate) actor: String,
    /// The session it is said in.
    #[arg(long, default_value = "default")]
    pub(crate) session: String,
    /// Only hints on what was kept with this tag; repeated, with all of them.
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Vec<String>,
    /// Hints wanted at most.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=10))]
    pub(crate) limit: u8,
    /// Calls of the server's language model allowed; with one or more it decides what is worth saying, if one is set up.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=64))]
    pub(crate) model_calls: u8,
    /// Hear of health, money, faith, love, law and grief, too.
    #[arg(long)]
    pub(crate) sensitive: bool,
    /// Print the server's response as it is.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

/// Be the memory of an agent that speaks the Model Context Protocol, over standard input and output.
///
/// Passes on what the agent asks to a running server, where the tools are: `remember`, `ask`, `recall`, `curate` and the
/// catalogue, as far as the key may. Agents that speak HTTP need no help: the server listens at /v1/spaces/SPACE/mcp.
#[derive(Debug, clap::Args)]
#[command(after_help = r#"Examples:
  claude mcp add memory -- mnemic mcp --space ann
  claude mcp add memory -- mnemic mcp --space ann --data /home/ann/memory     (no server)
  claude mcp add --transport http memory http://127.0.0.1:7077/v1/spaces/ann/mcp

In a file of servers:
  {"mcpServers": {"memory": {"command": "mnemic", "args": ["mcp", "--space", "ann"]}}}"#)]
pub(crate) struct Mcp {
    /// The space; created if missing.
    #[arg(long, short)]
    pub(crate) space: SpaceId,
    /// Folder with the memory, in place of a server: the command opens it itself until the agent leaves, and no port. One
    /// process at a time can; for several agents run `mnemic serve`. Keys of the settings are honoured: give one with --key.
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Settings file for --data [default: what MNEMIC_CONFIG names, else mnemic.toml in this folder, if there is one].
    #[arg(long, value_name = "FILE", requires = "data")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) remote: Remote,
}
