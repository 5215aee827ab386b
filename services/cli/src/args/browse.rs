use domain::id::SpaceId;
use domain::page::Dimension;

use super::Remote;

/// List the topics of a space: what was talked about, with keywords, sizes and dates.
///
/// A line each, the topic that was spoken of last first: when that was, the label, how many events it has, its keywords.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mnemic topics --space ann
  mnemic topics --space ann --as-of 2026-03-01 --json")]
pub(crate) struct Topics {
    /// The space.
    #[arg(long, short)]
    pub(crate) space: SpaceId,
    /// Only what had been spoken of by this moment, RFC 3339 or ISO 8601 in UTC.
    #[arg(long, value_name = "TIME")]
    pub(crate) as_of: Option<String>,
    /// Print the topics as the server has them, a line each.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

/// List the pages of a space, or read one: what is known of a person, a place, a topic, a month.
///
/// The list has a line each: id, dimension, title, summary. With an id, the page is printed section by section.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mnemic pages --space ann
  mnemic pages --space ann --dimension figure
  mnemic pages --space ann 5b1e6a52-6f0e-5c63-9a3f-6b1a4f1a7b10")]
pub(crate) struct Pages {
    /// Read this page.
    #[arg(conflicts_with_all = ["dimension", "archived"])]
    pub(crate) id: Option<String>,
    /// The space.
    #[arg(long, short)]
    pub(crate) space: SpaceId,
    /// Only pages of this dimension: topic, figure, place, preference or event.
    #[arg(long, value_parser = dimension)]
    pub(crate) dimension: Option<&'static str>,
    /// List archived pages too.
    #[arg(long)]
    pub(crate) archived: bool,
    /// As they were at this moment, RFC 3339 or ISO 8601 in UTC.
    #[arg(long, value_name = "TIME")]
    pub(crate) as_of: Option<String>,
    /// Print the pages as the server has them, a line each.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

/// List the people, places and things that a space knows by name.
///
/// Those mentioned most come first: name, kind, number of mentions, other names and roles.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mnemic entities --space ann
  mnemic entities --space ann --name \"Ann's sister\" --json")]
pub(crate) struct Entities {
    /// The space.
    #[arg(long, short)]
    pub(crate) space: SpaceId,
    /// Only those with this name, alias or role, in any case.
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Only those named by this moment, RFC 3339 or ISO 8601 in UTC.
    #[arg(long, value_name = "TIME")]
    pub(crate) as_of: Option<String>,
    /// Print the entities as the server has them, a line each.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

/// List what people decided about a space: the audit log of corrections, retirements, pins, erasures and undone merges.
///
/// Oldest first: when, by which key, what, why.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mnemic curations --space ann
  mnemic curations --space ann --json")]
pub(crate) struct Curations {
    /// The space.
    #[arg(long, short)]
    pub(crate) space: SpaceId,
    /// Print the acts as the server has them, a line each.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

fn dimension(text: &str) -> Result<&'static str, String> {
    let known = Dimension::ALL.map(Dimension::name);
    let found = known.into_iter().find(|it| *it == text);
    found.ok_or_else(|| format!("is not one of {}", known.join(", ")))
}
