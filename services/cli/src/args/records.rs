use std::path::PathBuf;

use domain::id::SpaceId;

use super::Remote;

/// Put records from a JSONL file into a space.
///
/// One record a line, as POST /v1/spaces/{space}/records takes it and GET gives it back. `text` (or `image_caption`, or
/// `tool`) is what matters; everything else is optional.
///
/// A line that is wrong is named and left out, the others go in (exit code 3). Stopped halfway, the same command goes
/// on where it stopped; run again on a file that has grown, it sends the new lines. It remembers in FILE.SPACE.imported,
/// and of standard input nothing.
///
/// A line {"reading": {...}}, as `mnemic export` writes it, is a reading: what a language model said about records before it.
#[derive(Debug, clap::Args)]
#[command(after_help = r#"A line:
  {"id": "42", "session": "monday", "actor": "Ann",
   "text": "I moved to Oslo.", "observed_at": "2026-03-02T18:00:00Z"}

Examples:
  mnemic import talk.jsonl --space ann
  mnemic import talk.jsonl --space ann --batch 500 --url https://memory.example
  jq -c '.[]' talk.json | mnemic import - --space ann"#)]
pub(crate) struct Import {
    /// The file; `-` is standard input.
    pub(crate) file: PathBuf,
    /// The space; created if missing.
    #[arg(long, short)]
    pub(crate) space: SpaceId,
    /// Records sent at once.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) batch: u16,
    /// Send every line again; those the server has are left as they are.
    #[arg(long)]
    pub(crate) restart: bool,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

/// Write the records of a space as JSON lines, which `mnemic import` takes.
///
/// Word for word, in the order in which they were stored; after them what a language model said about them (readings), so
/// that nobody has to pay for it again. What was made of both is not written, it derives again; nor is what was decided
/// about them (GET /v1/spaces/{space}/curations).
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mnemic export --space ann --out ann.jsonl
  mnemic export --space ann | mnemic import - --space copy
  mnemic export --space ann --records-only --out ann.jsonl")]
pub(crate) struct Export {
    /// The space.
    #[arg(long, short)]
    pub(crate) space: SpaceId,
    /// File to write, must not exist; `-` is standard output.
    #[arg(long, value_name = "FILE", default_value = "-")]
    pub(crate) out: PathBuf,
    /// Leave out the readings.
    #[arg(long)]
    pub(crate) records_only: bool,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

/// Whose records or units are listed.
#[derive(Debug, clap::Args)]
pub(crate) struct Whose {
    /// Only of this session, by name or id.
    #[arg(long, value_name = "NAME")]
    pub(crate) session: Option<String>,
    /// Only what this one said or did, in any case.
    #[arg(long, value_name = "NAME")]
    pub(crate) actor: Option<String>,
}

/// List the records of a space, or show one.
///
/// In the order in which they were stored, a line each: id, when it was observed, who, what.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mnemic records --space ann
  mnemic records --space ann m1
  mnemic records --space ann --session monday --actor Ben
  mnemic records --space ann --from 2026-03-01 --until 2026-04-01")]
pub(crate) struct Records {
    /// Show this one whole: your id, or Mnemic's.
    #[arg(conflicts_with_all = ["session", "actor", "from", "until"])]
    pub(crate) id: Option<String>,
    /// The space.
    #[arg(long, short)]
    pub(crate) space: SpaceId,
    #[command(flatten)]
    pub(crate) whose: Whose,
    /// Only what was observed at this moment or later; RFC 3339, or ISO 8601 in UTC.
    #[arg(long, value_name = "TIME")]
    pub(crate) from: Option<String>,
    /// Only what was observed before this moment.
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

/// Erase a record, or a whole session, with all that derives only from it, for good.
///
/// Returns once it is gone; what was stopped halfway is finished by the same command. Needs a key with the right `admin`, if
/// the server has keys.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mnemic erase --space ann m1 --yes
  mnemic erase --space ann --session monday --yes")]
pub(crate) struct Erase {
    /// Your id of the record, or Mnemic's.
    #[arg(required_unless_present = "session", conflicts_with = "session")]
    pub(crate) id: Option<String>,
    /// Erase all records of this session, by name or id.
    #[arg(long, value_name = "NAME")]
    pub(crate) session: Option<String>,
    /// The space.
    #[arg(long, short)]
    pub(crate) space: SpaceId,
    /// Really do it.
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) remote: Remote,
}
