use std::path::PathBuf;

use domain::id::SpaceId;

use super::Remote;

/// What a file is that is imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// Decided by the content, for texts by the ending of the name
    Auto,
    /// JSON lines, a record each
    Records,
    /// conversations.json of ChatGPT
    Chatgpt,
    /// conversations.json of Claude
    Claude,
    /// Memories of mem0: a list, or {"results": [...]}
    Mem0,
    /// Memories of Hindsight: {"items": [...]} or {"memories": [...]}
    Hindsight,
    /// Plain text
    Text,
    /// Markdown
    Markdown,
}

/// Put records, conversations and documents into a space.
///
/// Takes JSON lines, a record each, as POST /v1/spaces/{space}/records takes it and GET gives it back; what ChatGPT, Claude, mem0 and
/// Hindsight export, one JSON file; and texts (.md, .txt), also all below a folder. The content says what a file is, and for texts
/// the ending of its name; --format says it where neither does. Archives are unpacked first: unzip export.zip conversations.json
///
/// What is wrong is named by its place and left out, the rest goes in (exit code 3). Stopped halfway, the same command goes
/// on where it stopped; run again on a file that has grown, it sends what is new. How far it came is kept in
/// $XDG_STATE_HOME/mnemic/imports, and of standard input nothing.
///
/// A conversation or a file becomes a session. Ids derive from those of the export, or from what a text says, so that what is
/// imported twice is stored once. Files may be larger than memory; a single conversation may have 64 MiB. A text is split at
/// headings, paragraphs, lists and blocks of code into parts of about 1,500 bytes.
///
/// A line {"reading": {...}}, as `mnemic export` writes it, is a reading: what a language model said about records before it.
#[derive(Debug, clap::Args)]
#[command(after_help = r#"A record:
  {"id": "42", "session": "monday", "actor": "Ann",
   "text": "I moved to Oslo.", "observed_at": "2026-03-02T18:00:00Z"}
  `text` (or `image_caption`, or `tool`) is what matters; everything else is optional.

Examples:
  mnemic import talk.jsonl --space ann
  mnemic import conversations.json --space ann --dry-run
  mnemic import notes/ --space ann --tag notes
  mnemic import talk.jsonl --space ann --batch 500 --url https://memory.example
  jq -c '.[]' talk.json | mnemic import - --space ann"#)]
pub(crate) struct Import {
    /// The file, or a folder with texts; `-` is standard input.
    pub(crate) file: PathBuf,
    /// The space; created if missing.
    #[arg(long, short)]
    pub(crate) space: SpaceId,
    /// What the file is.
    #[arg(long, value_enum, default_value_t = Format::Auto)]
    pub(crate) format: Format,
    /// Only say what the file holds: counts, and the first records. No server is asked.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Give every record this tag, beside its own; may be repeated.
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Vec<String>,
    /// Records sent at once.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) batch: u16,
    /// Send everything again; what the server has is left as it is.
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
    /// Only what was kept with this tag; repeated, with all of them.
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Vec<String>,
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
  mnemic records --space ann --tag work
  mnemic records --space ann --from 2026-03-01 --until 2026-04-01")]
pub(crate) struct Records {
    /// Show this one whole: your id, or Mnemic's.
    #[arg(conflicts_with_all = ["session", "actor", "tag", "from", "until"])]
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
