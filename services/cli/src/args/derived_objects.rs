use domain::id::SpaceId;
use domain::page::Dimension;

use super::Remote;

/// List the topics of a space, with keywords, sizes and dates.
///
/// One topic per line, the most recently discussed first: date, label, number of events, keywords.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mnemic topics --space ann
  mnemic topics --space ann --as-of 2026-03-01 --json")]
pub(crate) struct Topics {
    /// The space.
    #[arg(long, short)]
    pub(crate) space: SpaceId,
    /// Show only topics discussed up to this moment, RFC 3339 or ISO 8601 in UTC.
    #[arg(long, value_name = "TIME")]
    pub(crate) as_of: Option<String>,
    /// Print the topics as the server returns them, one JSON object per line.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

/// List the pages of a space, or read one: what is known about a person, a place, a topic, a month.
///
/// The list has one page per line: id, dimension, title, summary. With an id, the command prints the page section by section.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mnemic pages --space ann
  mnemic pages --space ann --dimension figure
  mnemic pages --space ann 5b1e6a52-6f0e-5c63-9a3f-6b1a4f1a7b10")]
pub(crate) struct Pages {
    /// Id of the page to read.
    #[arg(conflicts_with_all = ["dimension", "archived"])]
    pub(crate) id: Option<String>,
    /// The space.
    #[arg(long, short)]
    pub(crate) space: SpaceId,
    /// List only pages of this dimension: topic, figure, place, preference or event.
    #[arg(long, value_parser = parse_dimension)]
    pub(crate) dimension: Option<&'static str>,
    /// List archived pages too.
    #[arg(long)]
    pub(crate) archived: bool,
    /// Show the pages as they were at this moment, RFC 3339 or ISO 8601 in UTC.
    #[arg(long, value_name = "TIME")]
    pub(crate) as_of: Option<String>,
    /// Print the pages as the server returns them, one JSON object per line.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

/// List the people, places and things that a space knows by name.
///
/// The entities with the most mentions come first: name, kind, number of mentions, other names and roles.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mnemic entities --space ann
  mnemic entities --space ann --name \"Ann's sister\" --json")]
pub(crate) struct Entities {
    /// The space.
    #[arg(long, short)]
    pub(crate) space: SpaceId,
    /// Show only entities with this name, alias or role; the case of letters is ignored.
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Leave out entities that were first named after this moment, RFC 3339 or ISO 8601 in UTC.
    #[arg(long, value_name = "TIME")]
    pub(crate) as_of: Option<String>,
    /// Print the entities as the server returns them, one JSON object per line.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

/// List the audit log of a space: corrections, retirements, pins, erasures and undone merges.
///
/// Oldest first: id, time, key, action, reason.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mnemic curations --space ann
  mnemic curations --space ann --json")]
pub(crate) struct Curations {
    /// The space.
    #[arg(long, short)]
    pub(crate) space: SpaceId,
    /// Print the entries as the server returns them, one JSON object per line.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

fn parse_dimension(text: &str) -> Result<&'static str, String> {
    let known = Dimension::ALL.map(Dimension::name);
    let found = known.into_iter().find(|it| *it == text);
    found.ok_or_else(|| format!("is not one of {}", known.join(", ")))
}
