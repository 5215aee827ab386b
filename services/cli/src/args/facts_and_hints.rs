use std::path::PathBuf;

use domain::id::SpaceId;

use super::{ListFilters, Remote};

/// List the facts that a space currently believes, with the times from and until which they are valid.
///
/// Sorted by the person or thing that a fact is about, oldest first. Facts that are no longer valid are omitted unless
/// --all is given; they stay in the memory, and --as-of shows the knowledge at any moment.
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
    /// Show only facts about this person or thing.
    #[arg(long, value_name = "NAME")]
    pub(crate) about: Option<String>,
    /// Show the facts as known at this moment, RFC 3339 or ISO 8601 in UTC.
    #[arg(long, value_name = "TIME")]
    pub(crate) as_of: Option<String>,
    /// Show facts that are no longer valid, too.
    #[arg(long)]
    pub(crate) all: bool,
    /// Print the facts as the server returns them, one JSON object per line.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

/// List the units of a space, or show one. Units are the searchable texts derived from the records.
///
/// A turn represents one record, an event several; an event with several people has no single actor. One unit per line,
/// oldest first: id, time of the observation, kind, actor, text.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mnemic units --space ann
  mnemic units --space ann --session monday --actor Ben
  mnemic units --space ann --as-of 2026-03-01")]
pub(crate) struct Units {
    /// Id of the unit to show in full.
    #[arg(conflicts_with_all = ["session", "actor", "tag"])]
    pub(crate) id: Option<String>,
    /// The space.
    #[arg(long, short)]
    pub(crate) space: SpaceId,
    #[command(flatten)]
    pub(crate) whose: ListFilters,
    /// Show the units as they were at this moment, RFC 3339 or ISO 8601 in UTC.
    #[arg(long, value_name = "TIME")]
    pub(crate) as_of: Option<String>,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

/// Send a message to a space, and print the hints that the memory offers without a question.
///
/// Prints hints with their reasons, or the reason for giving none, which is the usual case. A hint is not repeated in
/// the same session.
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
    /// Person or agent that sends the message.
    #[arg(long, default_value = "")]
    pub(crate) actor: String,
    /// Session of the message.
    #[arg(long, default_value = "default")]
    pub(crate) session: String,
    /// Give only hints from records with this tag; if repeated, with all of the tags.
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Vec<String>,
    /// Maximum number of hints to give.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=10))]
    pub(crate) limit: u8,
    /// Maximum time of the response, in milliseconds [default: 2,000, or 30,000 with `--model-calls`].
    #[arg(long, value_name = "MS")]
    pub(crate) time_ms: Option<u64>,
    /// Maximum number of calls to the server's language model. If at least 1, the configured model decides which hints
    /// to give.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=64))]
    pub(crate) model_calls: u8,
    /// Include hints about health, money, faith, love, law and grief.
    #[arg(long)]
    pub(crate) sensitive: bool,
    /// Print the response of the server unchanged.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

/// Serve a memory to an agent over the Model Context Protocol, on standard input and output.
///
/// Forwards the agent's requests to a running server, which has the tools: `remember`, `ask`, `recall`, `curate` and
/// the catalogue, within the rights of the key. Agents that speak HTTP do not need this command: the server listens at
/// /v1/spaces/SPACE/mcp.
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
    /// Folder of the memory, instead of a server: the command itself opens it until the agent disconnects, and opens no
    /// port. Only one process at a time can open it; for several agents run `mnemic serve`. Keys in the settings are
    /// enforced: give one with --key.
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Settings file for --data [default: the file in MNEMIC_CONFIG, else mnemic.toml in this folder, if it exists].
    #[arg(long, value_name = "FILE", requires = "data")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) remote: Remote,
}
